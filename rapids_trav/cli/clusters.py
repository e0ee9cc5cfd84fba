"""Edges that the workers of a Dask cluster read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import click
import dask
import dask.dataframe
import pandas as pd
from dask.bytes import read_bytes
from distributed import Client
from distributed.comm.addressing import get_address_host_port

from rapids_trav.engines import gpu_is_there
from rapids_trav.errors import TravError, first_line
from rapids_trav.frames.columns import Frame
from rapids_trav.io.formats import COMPRESSIONS, guess_format
from rapids_trav.io.text import TextLayout, find_layout, id_columns_of, parse_rows

BLOCK = "64MiB"  # text for each partition
SAMPLE = "256 KiB"  # text from which the types of the columns are found
WAIT = 10.0  # seconds to wait for the scheduler


@contextmanager
def connected(scheduler: str) -> Iterator[Client]:
    """Connect to a scheduler; within the block, its cluster computes Dask frames."""
    try:
        with suppress(NotImplementedError):  # addresses within a process have no port
            get_address_host_port(scheduler)  # a client of an invalid address would wait for a long time
        client = Client(scheduler, timeout=WAIT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise TravError(
            f"--scheduler {scheduler or repr(scheduler)} cannot be reached ({first_line(error)}): give its "
            f"address, such as tcp://127.0.0.1:8786."
        ) from error
    with client, client.as_current():
        yield client


def engine_of(client: Client, asked: str = "auto") -> str:
    """Return the engine of the workers: "cuda" if each has a GPU and its packages, else "cpu".

    Raises
    ------
    click.UsageError
        If "cuda" is requested and not every worker has a GPU and its packages.
    """
    if asked == "cpu":
        return asked
    found = client.run(gpu_is_there)
    if asked == "cuda" and not all(found.values()):
        raise click.UsageError(
            f"--engine cuda needs a GPU with cuDF and CuPy on every worker, and {sum(found.values())} of "
            f"{len(found)} have one: start all of them with dask-cuda, or leave it out."
        )
    return "cuda" if found and all(found.values()) else "cpu"


def read(
    path: Path,
    format_: str,
    engine: str,
    id_columns: Sequence[str],
    delimiter: str | None,
    header: bool | None,
    string_ids: bool,
) -> Frame:
    """Return the Dask frame of a file or Parquet folder that all workers can read."""
    backend = "cudf" if engine == "cuda" else "pandas"
    with dask.config.set({"dataframe.backend": backend, "dataframe.convert-string": False}):
        if format_ == "parquet":
            return dask.dataframe.read_parquet(str(path), index=False)
    if format_ not in ("csv", "tsv", "text") or guess_format(path) == "mtx":
        raise click.UsageError(f"--scheduler does not read {format_}: save the edges as Parquet or CSV.")
    layout = find_layout(path, format_, delimiter, header, id_columns)
    ids = id_columns_of(path, layout, id_columns)
    frame = _text(path, layout, ids, string_ids)
    return frame.to_backend("cudf") if engine == "cuda" else frame


def _text(path: Path, layout: TextLayout, ids: list[str], string_ids: bool) -> Frame:
    """Return the Dask frame of a text, with a partition for each block; compressed text is one block."""
    size = None if path.suffix in COMPRESSIONS else BLOCK
    sample, [blocks] = read_bytes(
        str(path), delimiter=b"\n", blocksize=size, sample=SAMPLE, compression="infer"
    )
    parse = partial(_block, path=path, layout=layout, ids=ids, string_ids=string_ids)
    meta = parse(sample, skip=layout.skip, kinds=None).iloc[:0]
    kinds = {name: meta[name].dtype.kind for name in ids}
    parts = [
        dask.delayed(parse)(block, skip=0 if i else layout.skip, kinds=kinds)
        for i, block in enumerate(blocks)
    ]
    return dask.dataframe.from_delayed(parts, meta=meta, verify_meta=False)


def _block(
    block: bytes,
    path: Path,
    layout: TextLayout,
    ids: list[str],
    string_ids: bool,
    skip: int,
    kinds: dict[str, str] | None,
) -> pd.DataFrame:
    """Parse a block of whole lines, and check that its ids have the same kinds as in every block."""
    try:
        frame = parse_rows(io.BytesIO(block), layout, skip, ids, string_ids)
    except (ValueError, Warning) as error:
        raise TravError(f"{path} is malformed ({first_line(error)}): correct it.") from error
    for name in ids:
        if frame[name].isna().any():
            raise TravError(f"{path} has a row without an id in column {name!r}: leave it out.")
        if kinds is not None and len(frame) and frame[name].dtype.kind != kinds[name]:
            raise TravError(
                f"Column {name!r} of {path} holds ids of several kinds: add --string-ids to take them as "
                f"words."
            )
    return frame
