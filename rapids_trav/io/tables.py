"""Edges as they were read, and readers of tables that carry the names and types of their columns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.orc

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.io.containers import open_bytes
from rapids_trav.io.dialect import Dialect
from rapids_trav.io.formats import reading_error


@dataclass(frozen=True)
class EdgeTable:
    """Edges of a file.

    Attributes
    ----------
    frame : DataFrame
        One row for each edge.
    src, dst : list of str
        Columns of both ends.
    weight : str or None
        Column of weights, if the file says which it is or the caller has named one.
    directed : bool or None
        Whether an edge leads one way, if the format says so.
    vertices : array or None
        Vertices that the file lists, with or without edges.
    dialect : Dialect or None
        How a text file writes its rows.
    comments : int
        Comments that were skipped.
    """

    frame: Frame
    src: list[str] = field(default_factory=lambda: ["src"])
    dst: list[str] = field(default_factory=lambda: ["dst"])
    weight: str | None = None
    directed: bool | None = None
    vertices: np.ndarray | None = None
    dialect: Dialect | None = None
    comments: int = 0
    format: str = ""


def read_json(path: Path) -> pa.Table:
    """Read records: one on each line, a list of them, or those under "links" or "edges" of one object."""
    try:
        with open_bytes(path) as stream:
            text = stream.read().decode("utf-8-sig")
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            if "Extra data" not in str(error):
                raise
            found = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise reading_error(path, error) from error
    if isinstance(found, dict):
        found = next((found[key] for key in ("links", "edges") if isinstance(found.get(key), list)), [found])
    if found and all(isinstance(row, list) and len(row) in (2, 3) for row in found):
        found = [dict(zip(("src", "dst", "weight"), row, strict=False)) for row in found]
    if not all(isinstance(row, dict) for row in found):
        raise TravError(
            f"{path} holds no records of edges: write each edge as an object with both ends, in a list."
        )
    names = list(dict.fromkeys(name for row in found for name in row))
    try:
        return pa.table({name: [row.get(name) for row in found] for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise reading_error(path, error) from error


def read_feather(path: Path) -> pa.Table:
    """Read a file of Feather or of Arrow's IPC formats."""
    try:
        with open_bytes(path) as stream:
            content = pa.py_buffer(stream.read())
        if content[:4].to_pybytes() == b"\xff\xff\xff\xff":
            return pa.ipc.open_stream(content).read_all()
        return pa.feather.read_table(pa.BufferReader(content))
    except (OSError, pa.ArrowException) as error:
        raise reading_error(path, error) from error


def read_orc(path: Path) -> pa.Table:
    """Read a file of ORC."""
    try:
        with open_bytes(path) as stream:
            return pa.orc.read_table(pa.BufferReader(stream.read()))
    except (OSError, pa.ArrowException) as error:
        raise reading_error(path, error) from error
