"""Edges as they were read, and readers of Parquet and other tables with names and types of columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset
import pyarrow.feather
import pyarrow.ipc
import pyarrow.orc

from rapids_trav.errors import NoEdgesError, TravError, first_line
from rapids_trav.frames.columns import Frame
from rapids_trav.io.dialect import Dialect
from rapids_trav.io.formats import check_columns, marked_encoding, open_bytes, reading_error
from rapids_trav.io.sniff import decoded


@dataclass(frozen=True)
class EdgeTable:
    """Edges of a file: a frame with one row for each, and what the file or the caller says about them."""

    frame: Frame
    src: list[str] = field(default_factory=lambda: ["src"])
    dst: list[str] = field(default_factory=lambda: ["dst"])
    weight: str | None = None
    directed: bool | None = None  # whether an edge leads one way, if the format says so
    vertices: np.ndarray | None = None  # that the file lists, with or without edges
    dialect: Dialect | None = None  # of text
    comments: int = 0  # that were skipped
    format: str = ""


def to_frame(table: pa.Table) -> pd.DataFrame:
    """Return a table, which must not be used afterwards, as a frame that can be changed."""
    shared = any(column.num_chunks == 1 for column in table.columns)  # which Arrow forbids to change
    frame = table.to_pandas(split_blocks=True, self_destruct=True)
    return frame.copy() if shared else frame


def read_json(path: Path, encoding: str | None = None) -> tuple[pa.Table, bool | None, np.ndarray | None]:
    """Read records; return them, whether edges lead one way, and the vertices, where the file says so."""
    directed = vertices = None
    try:
        with open_bytes(path) as stream:
            content = stream.read()
        text = decoded(path, content, encoding or marked_encoding(content) or "utf-8-sig", 1)
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            if "Extra data" not in str(error):
                raise
            found = _lines(path, text)
    except (OSError, json.JSONDecodeError) as error:
        raise reading_error(path, error) from error
    if isinstance(found, dict):
        if isinstance(found.get("elements"), dict):  # of Cytoscape
            found = {name: [one.get("data", one) for one in part] for name, part in found["elements"].items()}
        lists = [key for key in ("links", "edges") if isinstance(found.get(key), list)]
        if len(lists) == 2:
            raise TravError(f"{path} has both 'links' and 'edges': leave out those that are no edges.")
        if lists:
            directed = found.get("directed") if isinstance(found.get("directed"), bool) else None
            vertices = _nodes(found.get("nodes"))
        found = found[lists[0]] if lists else [None if any(map(_is_column, found.values())) else found]
    if not found:
        raise NoEdgesError(f"{path} holds no edges: give at least one.")
    if found and all(isinstance(row, list) and len(row) in (2, 3) for row in found):
        found = [dict(zip(("src", "dst", "weight"), row, strict=False)) for row in found]
    if not all(isinstance(row, dict) for row in found):
        raise TravError(
            f"{path} holds no records of edges: write each edge as an object with both ends, in a list."
        )
    names = list(dict.fromkeys(name for row in found for name in row))
    table = pa.table({name: _column(path, name, [row.get(name) for row in found]) for name in names})
    return table, directed, vertices


def _is_column(value: object) -> bool:
    """Return whether a value is a list, or what pandas writes for a column."""
    return isinstance(value, list) or (isinstance(value, dict) and all(map(str.isdigit, value)))


def _lines(path: Path, text: str) -> list:
    """Return the values of lines that each hold one."""
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            found += [json.loads(line)] if line.strip() else []
        except json.JSONDecodeError as error:
            raise TravError(
                f"Line {number} of {path} is {line.strip()[:60]!r}, which is no JSON ({error.msg}): correct "
                f"or delete it."
            ) from error
    return found


def _column(path: Path, name: str, values: list) -> pa.Array:
    try:
        try:
            return pa.array(values)
        except OverflowError:  # beyond int64
            return pa.array(values, pa.uint64())
    except OverflowError as error:
        raise TravError(
            f"Field {name!r} of {path} has an integer that 64 bits do not hold: write it as a string."
        ) from error
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        kinds = {type(value): value for value in reversed(values) if value is not None}
        raise TravError(
            f"Field {name!r} of {path} has values of different kinds, such as "
            f"{' and '.join(json.dumps(value)[:40] for value in kinds.values())}: write one kind."
        ) from error


def _nodes(nodes: object) -> np.ndarray | None:
    """Return the ids of a list of nodes of NetworkX or D3; None if they are of several kinds."""
    if not isinstance(nodes, list) or not all(isinstance(node, dict) and "id" in node for node in nodes):
        return None
    ids = [node["id"] for node in nodes]
    return np.array(ids) if {type(value) for value in ids} in ({int}, {str}) else None


def refuse_nested(path: Path, schema: pa.Schema, names: Sequence[str]) -> None:
    """Refuse columns of lists and structs, which cannot be ids."""
    for name in names:
        if name in schema.names and pa.types.is_nested(schema.field(name).type):
            raise TravError(
                f"Column {name!r} of {path} holds {schema.field(name).type}, which is not an id: give each "
                f"part a column of its own, or name a column of plain values with src= or dst=."
            )


def check_ends(path: Path, table: pa.Table, names: Sequence[str]) -> None:
    """Refuse ends without a value, whose other integers would be rounded to floats, and nested ones."""
    refuse_nested(path, table.schema, names)
    for name in names:
        if table[name].null_count:
            row = pc.index(pc.is_null(table[name]), True).as_py()
            raise TravError(
                f"Record {row + 1} of {path} has no value (null) in column {name!r}: leave the record out."
            )


def read_arrow(path: Path, format: str) -> pa.Table:
    """Read a file of ORC or Feather, or of Arrow's IPC formats."""
    try:
        with open_bytes(path) as stream:
            content = pa.py_buffer(stream.read())
        if format == "orc":
            return pa.orc.read_table(pa.BufferReader(content))
        if content[:4].to_pybytes() == b"\xff\xff\xff\xff":
            return pa.ipc.open_stream(content).read_all()
        return pa.feather.read_table(pa.BufferReader(content))
    except (OSError, pa.ArrowException) as error:
        raise reading_error(path, error) from error


def read_parquet(path: Path, library: str, columns: Sequence[str] | None) -> Frame:
    """Read a Parquet file or folder; only `columns` if given."""
    folder = path.is_dir()
    schema = _common_schema(path) if folder else read_schema(path)
    check_columns(path, schema.names, columns or ())
    wanted = None if columns is None else list(columns)
    try:
        if library == "cudf":
            return import_cudf().read_parquet(path, columns=wanted)
        # Without a schema, pandas would cast all files of a folder to the types of the first.
        return pd.read_parquet(path, columns=wanted, schema=schema if folder else None)
    except (OSError, pa.ArrowException, RuntimeError) as error:
        raise reading_error(path, error) from error


def read_schema(path: Path) -> pa.Schema:
    """Return names and types of the columns without reading data; of a folder, those of its first file."""
    try:
        schema = _dataset(path).schema
    except (OSError, pa.ArrowException) as error:
        raise reading_error(path, error) from error
    if not schema.names:
        raise TravError(f"{path} holds no Parquet data: name a Parquet file, or a folder that holds some.")
    return schema


def range_of(schema: pa.Schema) -> dict[str, range]:
    """Return the index of pandas that is stored as a range, by its name; empty if there is none."""
    indices = (schema.pandas_metadata or {}).get("index_columns", [])
    named = [one for one in indices if isinstance(one, dict) and one.get("name") is not None]
    return {str(one["name"]): range(one["start"], one["stop"], one["step"]) for one in named}


def _common_schema(folder: Path) -> pa.Schema:
    """Return the columns of all files, in types that hold the values of each."""
    schemas = [read_schema(folder)]
    try:
        schemas += [fragment.physical_schema for fragment in _dataset(folder).get_fragments()]
        return pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowTypeError as error:
        raise TravError(
            f"{folder} has files whose columns differ in kind ({first_line(error)}): write them with one "
            "type for each column."
        ) from error
    except (OSError, pa.ArrowException) as error:
        raise reading_error(folder, error) from error


def _dataset(path: Path) -> pyarrow.dataset.Dataset:
    return pyarrow.dataset.dataset(path, format="parquet", partitioning="hive")


def import_cudf() -> ModuleType:
    """Import `cudf`, or raise an error that says how to install it."""
    try:
        import cudf
    except ImportError as error:
        raise TravError(
            "cuDF is not installed: pip install 'rapids-trav[cu13]' (or cu12 for a CUDA 12 driver), "
            "or choose library='pandas'."
        ) from error
    return cudf
