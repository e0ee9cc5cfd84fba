"""Parser of the head of a saved graph, `graph.json`, into checked types.

The checksum of the head detects damage, not malice, since whoever edits the file can compute it again.
Therefore the type and range of every field are checked before it is used, and files have the names that
`write.py` gives them, never a path from the head.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rapids_trav.errors import TravError, listed, written
from rapids_trav.frames.decimals import DIGITS
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.saved.write import FORMAT, VERSION, VERSION_WITH_PATHS, head_bytes, paths_array

MOST = 1 << 62  # upper bound of the vertices, edges or bytes that any file could hold
INTEGERS = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
FLOATS = tuple(np.dtype(kind).name for kind in (np.float16, np.float32, np.float64, np.longdouble))
OFFSETS, WEIGHTS = ("<i4", "<i8"), ("<i4", "<i8", "<f4", "<f8")
SURROGATE = re.compile("[\ud800-\udfff]")
CHECKSUM = re.compile("[0-9a-f]{8}")
HEAD_FIELDS = ("format", "version", "directed", "n_vertices", "n_edges", "columns", "ids", "files")
PATH_FIELDS = (*HEAD_FIELDS, "path_layouts")  # of a graph with path layouts
Name = str | int


@dataclass(frozen=True)
class SavedFile:
    """Entry of the head for one of the other files.

    `dtype` is the type of an array; None for tables, and if the head does not have it.
    """

    n_bytes: int
    crc32: str
    dtype: str | None = None


@dataclass(frozen=True)
class RangeEntry:
    """Ids that are consecutive integers from `first` on, stored as `integers` and returned as `dtype`."""

    first: int
    dtype: np.dtype
    integers: np.dtype


@dataclass(frozen=True)
class TableEntry:
    """Ids in `ids.parquet`: the dtype of each column, and whether each categorical column is ordered."""

    dtypes: tuple[str, ...]
    ordered: Mapping[int, bool]


@dataclass(frozen=True)
class Head:
    """Contents of `graph.json`, each field of the right type and all of them consistent."""

    directed: bool
    n_vertices: int
    n_edges: int
    src: tuple[Name, ...]
    dst: tuple[Name, ...]
    weight: Name | None
    weight_scale: int | None
    ids: RangeEntry | TableEntry
    files: Mapping[str, SavedFile]
    path_layouts: tuple[int, ...] = ()


class _WrongError(ValueError):
    """A wrong field; the message is a predicate, to which the path of the file is the subject."""


def damaged(path: Path, why: str) -> TravError:
    """Return the error for a file of a saved graph that cannot be used."""
    return TravError(f"{path} {why}: restore it from a copy, or save the graph again.")


def parse_head(path: Path, content: bytes) -> Head:
    """Return the head in the content of a file; refuse what `write.head_bytes` would not write."""
    try:
        head = json.loads(content)
        saved = isinstance(head, dict) and head.get("format") == FORMAT and head.pop("crc32", None)
        whole = saved and head_bytes(head) == content  # differs if a key is repeated
    except (ValueError, RecursionError):
        whole = False
    if not whole:
        raise damaged(path, "is no longer what was saved")
    version = head.get("version")
    if type(version) is int and version not in (VERSION, VERSION_WITH_PATHS):
        raise TravError(
            f"{path} has format version {written(version)}, but this release reads {VERSION} and "
            f"{VERSION_WITH_PATHS}: save the graph again with this release."
        )
    try:
        return _head(head)
    except _WrongError as error:
        raise damaged(path, str(error)) from None


def _head(head: Any) -> Head:
    with_paths = isinstance(head, dict) and head.get("version") == VERSION_WITH_PATHS
    _require_fields("the head", head, PATH_FIELDS if with_paths else HEAD_FIELDS)
    if type(head["version"]) is not int:
        raise _wrong("version", head["version"], "an integer")
    n, columns = _count("n_vertices", head["n_vertices"]), head["columns"]
    decimals = ("weight_scale",) if isinstance(columns, dict) and "weight_scale" in columns else ()
    _require_fields("columns", columns, ("src", "dst", "weight", *decimals))
    src, dst = (_names(f"columns.{end}", columns[end]) for end in ("src", "dst"))
    if len(src) != len(dst):
        raise _wrong("columns.dst", columns["dst"], f"as many columns as src, which has {len(src)}")
    weight = columns["weight"]
    if weight is not None and not is_name(weight):
        raise _wrong("columns.weight", weight, "the name of a column")
    scale = columns.get("weight_scale")
    if scale is not None and (type(scale) is not int or not 0 <= scale <= DIGITS or weight is None):
        raise _wrong("columns.weight_scale", scale, f"a number of digits, up to {DIGITS}")
    ids = _ids(head["ids"], n, len(src))
    layouts = _path_layouts(head["path_layouts"]) if with_paths else ()
    return Head(
        directed=_flag("directed", head["directed"]),
        n_vertices=n,
        n_edges=_count("n_edges", head["n_edges"]),
        src=src,
        dst=dst,
        weight=weight,
        weight_scale=scale,
        ids=ids,
        files=_files(head["files"], n, ids, layouts, weighted=weight is not None),
        path_layouts=layouts,
    )


def _ids(entry: Any, n: int, width: int) -> RangeEntry | TableEntry:
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if kind == "range":
        _require_fields("ids", entry, ("kind", "first", "dtype", "integers"))
        return _range(entry, n, width)
    if kind != "table":
        raise _wrong("ids.kind", kind, "'range' or 'table'")
    _require_fields("ids", entry, ("kind", "columns", "ordered", "library", "dtypes"))
    dtypes, ordered = entry["dtypes"], entry["ordered"]
    if not isinstance(dtypes, list) or not all(isinstance(dtype, str) for dtype in dtypes):
        raise _wrong("ids.dtypes", dtypes, "a list of types")
    if type(entry["columns"]) is not int or not entry["columns"] == len(dtypes) == width:
        raise _wrong("ids.columns", entry["columns"], f"{width}, one for each column and type of an id")
    if entry["library"] not in ("pandas", "cudf"):
        raise _wrong("ids.library", entry["library"], "'pandas' or 'cudf'")
    categorical = [str(i) for i, dtype in enumerate(dtypes) if dtype == "category"]
    if not isinstance(ordered, dict) or sorted(ordered) != sorted(categorical):
        raise _wrong("ids.ordered", ordered, "about the categorical columns")
    return TableEntry(tuple(dtypes), {int(i): _flag(f"ids.ordered.{i}", flag) for i, flag in ordered.items()})


def _range(entry: Mapping[str, Any], n: int, width: int) -> RangeEntry:
    if width != 1:
        raise _wrong("ids.kind", "range", f"'table', since ids have {width} columns")
    if entry["integers"] not in INTEGERS:
        raise _wrong("ids.integers", entry["integers"], f"one of {listed(INTEGERS)}")
    if entry["dtype"] not in (*INTEGERS, *FLOATS):
        raise _wrong("ids.dtype", entry["dtype"], f"one of {listed((*INTEGERS, *FLOATS))}")
    first, integers, dtype = entry["first"], np.dtype(entry["integers"]), np.dtype(entry["dtype"])
    if type(first) is not int or not all(_holds(kind, first, n) for kind in (integers, dtype)):
        raise _wrong("ids.first", first, f"an integer from which {n:,} ids fit {integers} and {dtype}")
    return RangeEntry(first, dtype, integers)


def _holds(dtype: np.dtype, first: int, n: int) -> bool:
    """Return whether a dtype can represent the n integers from `first` on exactly."""
    last = first + max(n - 1, 0)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return bool(limits.min <= first and last <= limits.max)
    if not -(2**63) <= first <= last < 2**63:
        return False
    exact = 2 ** (int(np.finfo(dtype).nmant) + 1)  # all integers up to this are exact
    with np.errstate(over="ignore"):
        kept = np.isfinite(dtype.type(first)) and int(dtype.type(first)) == first
    return bool(kept) and (n <= 1 or -exact <= first <= last <= exact)


def _path_layouts(entry: object) -> tuple[int, ...]:
    numbers = [i for i in entry if type(i) is int and 0 <= i < MOST] if isinstance(entry, list) else []
    if not numbers or numbers != entry or any(i >= j for i, j in pairwise(numbers)):
        raise _wrong("path_layouts", entry, "an ascending list of numbers of edges")
    return tuple(numbers)


def _files(
    entries: Any, n: int, ids: RangeEntry | TableEntry, layouts: tuple[int, ...], *, weighted: bool
) -> dict[str, SavedFile]:
    """Return the entries of the files that such a graph must have; names are never taken from the head."""
    vertex = (vertex_dtype(n).newbyteorder("<").str,)
    types: dict[str, tuple[str, ...]] = {"row_offsets.npy": OFFSETS, "column_indices.npy": vertex}
    if weighted:
        types["weights.npy"] = WEIGHTS
    for relaxed in layouts:
        types[f"{paths_array(relaxed, 'vertices')}.npy"] = vertex
        types[f"{paths_array(relaxed, 'starts')}.npy"] = OFFSETS
        if weighted:
            types[f"{paths_array(relaxed, 'weights')}.npy"] = WEIGHTS
    if isinstance(entries, dict) and "order.npy" in entries:
        types["order.npy"] = vertex
    if isinstance(ids, TableEntry):
        types |= {"ids.parquet": ()} | {f"categories_{i}.parquet": () for i in ids.ordered}
    _require_fields("files", entries, tuple(types))
    return {name: _file(name, entries[name], types[name]) for name in types}


def _file(name: str, entry: Any, types: tuple[str, ...]) -> SavedFile:
    typed = isinstance(entry, dict) and "dtype" in entry and bool(types)
    _require_fields(f"files.{name}", entry, ("bytes", "crc32", "dtype") if typed else ("bytes", "crc32"))
    crc32, dtype = entry["crc32"], entry["dtype"] if typed else None
    if not isinstance(crc32, str) or not CHECKSUM.fullmatch(crc32):
        raise _wrong(f"files.{name}.crc32", crc32, "a checksum of eight digits")
    if typed and dtype not in types:
        raise _wrong(f"files.{name}.dtype", dtype, f"one of {listed(types)}")
    return SavedFile(_count(f"files.{name}.bytes", entry["bytes"]), crc32, dtype)


def _require_fields(what: str, entry: Any, names: tuple[str, ...]) -> None:
    if not isinstance(entry, dict):
        raise _wrong(what, entry, "an object")
    for name in names:
        if name not in entry:
            raise _WrongError(f"lacks {name!r} in {what}")
    for name in entry:
        if name not in names:
            raise _WrongError(f"holds {written(name)} in {what}, which such a graph does not have")


def _count(what: str, value: object) -> int:
    if type(value) is not int or not 0 <= value < MOST:
        raise _wrong(what, value, "a number of 0 or more")
    return value


def _flag(what: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(what, value, "true or false")
    return value


def is_name(value: object) -> bool:
    """Return whether a value can name a column: an integer, or text without lone surrogates."""
    return isinstance(value, int) or (isinstance(value, str) and not SURROGATE.search(value))


def _names(what: str, value: object) -> tuple[Name, ...]:
    if not isinstance(value, list) or not value or not all(map(is_name, value)):
        raise _wrong(what, value, "a list of names of columns")
    return tuple(value)


def _wrong(what: str, value: object, wanted: str) -> _WrongError:
    return _WrongError(f"has {what}={written(value)}, which should be {wanted}")
