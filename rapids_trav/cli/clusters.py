"""Edges that the workers of a Dask cluster read."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import click
import dask
import dask.dataframe
import pandas as pd
import pyarrow as pa
from dask.bytes import read_bytes
from distributed import Client
from distributed.comm.addressing import get_address_host_port

from rapids_trav.engines import gpu_is_there
from rapids_trav.errors import TravError, first_line
from rapids_trav.frames.columns import Frame
from rapids_trav.io.dialect import Dialect, FileOptions
from rapids_trav.io.formats import TEXTS, compression_of
from rapids_trav.io.header import ends_of
from rapids_trav.io.rows import Stream, Tally, strict
from rapids_trav.io.sniff import find_dialect
from rapids_trav.io.text import checked, first_types, parse

BLOCK = "64MiB"  # text for each partition
SAMPLE = "256 KiB"  # text from which the types of the columns are found
NO_DASK = ("zip", "xz", "zstd", "lz4")  # compressions that Dask may not open
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
    """Return the engine of the workers: "cuda" if each has a GPU and its packages, else "cpu"."""
    if asked == "cpu":
        return asked
    found = client.run(gpu_is_there)
    if asked == "cuda" and not all(found.values()):
        raise click.UsageError(
            f"--engine cuda needs a GPU with cuDF and CuPy on every worker, and {sum(found.values())} of "
            f"{len(found)} have one: start all of them with dask-cuda, or leave it out."
        )
    return "cuda" if found and all(found.values()) else "cpu"


def read(path: Path, options: FileOptions, engine: str) -> tuple[Frame, tuple[list[str], list[str]]]:
    """Return the Dask frame of a file or folder that all workers can read, and the ends of its edges."""
    backend = "cudf" if engine == "cuda" else "pandas"
    with dask.config.set({"dataframe.backend": backend, "dataframe.convert-string": False}):
        if options.format == "parquet":
            frame = dask.dataframe.read_parquet(str(path), index=False)
            return frame, options.ends(list(frame.columns))
    if options.format not in TEXTS or path.is_dir():
        raise click.UsageError(
            f"--scheduler does not read {options.format}: save the edges as Parquet or CSV."
        )
    dialect = find_dialect(path, options)
    compressed = compression_of(path)
    if (
        dialect.multiline
        or dialect.line_end == "\r"
        or dialect.encoding != "utf-8-sig"
        or compressed in NO_DASK
    ):
        raise click.UsageError("--scheduler reads lines of UTF-8: save the edges as Parquet.")
    ends = ends_of(path, dialect, options)
    frame = _text(path, dialect, ends, options.string_ids, compressed)
    return (frame.to_backend("cudf") if engine == "cuda" else frame), ends


def _text(
    path: Path,
    dialect: Dialect,
    ends: tuple[list[str], list[str]],
    string_ids: bool,
    compressed: str | None,
) -> Frame:
    """Return the Dask frame of a text, with a partition for each block; compressed text is one block."""
    sample, [blocks] = read_bytes(
        str(path),
        delimiter=b"\n",
        blocksize=None if compressed else BLOCK,
        sample=SAMPLE,
        compression="infer",
    )
    ids = [*ends[0], *ends[1]]
    types = first_types(dialect, list(zip(*ends, strict=True)), string_ids)
    parse = partial(_block, path=path, dialect=dialect, ids=ids, types=types)
    meta = parse(sample, skip=dialect.skip).iloc[:0]
    parts = [dask.delayed(parse)(block, skip=0 if i else dialect.skip) for i, block in enumerate(blocks)]
    return dask.dataframe.from_delayed(parts, meta=meta, verify_meta=False)


def _block(
    block: bytes, path: Path, dialect: Dialect, ids: list[str], types: dict[str, pa.DataType], skip: int
) -> pd.DataFrame:
    """Parse a block of whole lines, whose ids have the same types as in every block."""
    tally = Tally()
    for _ in range(skip):
        block = block.partition(b"\n")[2]
    lines = block.removeprefix(codecs.BOM_UTF8).replace(b"\r\n", b"\n")
    try:
        stream = Stream(strict(path, dialect, tally, [lines if lines.endswith(b"\n") else lines + b"\n"]))
        table = parse(stream, dialect, types, marks=False)
    except pa.ArrowInvalid as error:
        found = re.search(r"column #(\d+)", str(error))
        if found and dialect.names[int(found[1])] in ids:
            raise _several_kinds(path, dialect.names[int(found[1])]) from error
        raise TravError(f"{path} is malformed ({first_line(error)}): correct it.") from error
    if tally.unusual and (whole := [name for name in ids if types[name] == pa.int64()]):
        raise _several_kinds(path, whole[0])
    return checked(path, dialect, table, ids, string_ids=True, tally=tally).to_pandas()


def _several_kinds(path: Path, name: str) -> TravError:
    return TravError(
        f"Column {name!r} of {path} holds ids of several kinds: add --string-ids to take them as words."
    )
