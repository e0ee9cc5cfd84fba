"""Replacement contents for the files of a saved graph: bytes, arrays and tables."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

OTHER_TYPES = ("i1", "i2", "i4", "i8", "u4", "u8", "f2", "f4", "f8", "c16", "?", "S4", "U2", "M8[s]", "V4",
               ">i4", ">i8", ">f8", "i4,f4")  # fmt: skip


def npy(array: np.ndarray, version: tuple[int, int] = (1, 0)) -> bytes:
    """Return the bytes of an array file."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.lib.format.write_array(file, array, version, allow_pickle=True)
    return file.getvalue()


def with_header(header: str, data: bytes, length: int | None = None) -> bytes:
    """Return an array file with this header, padded as NumPy does or to a length."""
    text = header.encode("latin1")
    padded = text.ljust(length or -(-(len(text) + 11) // 64) * 64 - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + data


def broken(content: bytes, random: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of a file truncated, extended and flipped."""
    for length in (0, 1, 6, 10, len(content) // 2, len(content) - 8, len(content) - 1):
        yield f"cut to {length}", content[: max(length, 0)]
    yield "a byte more", content + b"\0"
    yield "eight bytes more", content + b"\0" * 8
    yield "zeros", bytes(len(content))
    for position in random.integers(0, len(content), 4):
        flipped = bytearray(content)
        flipped[position] ^= 1 << int(random.integers(8))
        yield f"bit flipped at {position}", bytes(flipped)


def arrays(content: bytes) -> Iterator[tuple[str, bytes, str | None]]:
    """Yield arrays of other types, shapes and headers, with the dtype that the head is to state."""
    array = np.load(io.BytesIO(content))
    for kind in OTHER_TYPES:
        other = np.resize(array, len(array)).astype(kind) if kind != "i4,f4" else np.zeros(len(array), kind)
        yield f"as {kind}", npy(other), other.dtype.str
        yield f"as {kind} untold", npy(other), None
    yield "objects", npy(array.astype(object)), None
    for name, shaped in (
        ("empty", array[:0]),
        ("one entry", array[:1]),
        ("an entry less", array[:-1]),
        ("an entry more", np.append(array, array[-1:])),
        ("twice", np.concatenate([array, array])),
        ("two dimensions", array[None, :]),
        ("no dimension", array[0]),
        ("Fortran", np.asfortranarray(np.stack([array, array]))),
    ):
        yield name, npy(np.asarray(shaped)), None
    yield "version 2", npy(array, (2, 0)), None
    yield "version 3", npy(array, (3, 0)), None
    kind, data, n = array.dtype.str, array.tobytes(), len(array)
    form = "{'descr': %r, 'fortran_order': %s, 'shape': %s, }"
    for name, header in (
        ("huge shape", form % (kind, False, (10**18,))),
        ("shape past 64 bits", form % (kind, False, (10**30,))),
        ("negative shape", form % (kind, False, (-n,))),
        ("shape of no entries of no bytes", form % ("V0", False, (10**18,))),
        ("Fortran order told", form % (kind, True, (n,))),
        ("no shape", f"{{'descr': {kind!r}, 'fortran_order': False, }}"),
        ("shape of text", form % (kind, False, "('a',)")),
        ("deep header", "(" * 9000),
        ("code in the header", "__import__('os').abort()"),
    ):
        yield name, with_header(header, data), None
    yield "unaligned", with_header(form % (kind, False, (n,)), data, 118), None
    big, low = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    for name, values in _values(array, big, low):
        yield name, npy(np.asarray(values).astype(array.dtype)), None


def _values(array: np.ndarray, big: int, low: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield arrays of the same type and length with other values."""
    random, n, limits = np.random.default_rng(1), len(array), (-1, 0, 1, 2)
    yield "reversed", array[::-1]
    yield "shuffled", random.permutation(array)
    yield "sorted", np.sort(array)
    yield "rolled", np.roll(array, 1)
    yield "halves swapped", np.roll(array, n // 2)
    yield "swapped at the end", np.concatenate([array[:-2], array[:-3:-1]])
    yield "first repeated", np.concatenate([array[:1], array[:-1]])
    for value in limits:
        yield f"all {value}", np.full(n, value)
    for place in (0, n // 2, n - 1):
        for value in (-1, n, int(array.max()) + 1, big, low, 2**31 - 1, -(2**31)):
            changed = array.astype(np.int64) if array.dtype.kind == "i" else array.astype(np.float64)
            changed[place] = value
            yield f"{value} at {place}", changed
    if array.dtype.kind == "f":
        for value in (np.nan, np.inf, -np.inf, -1.0, 0.0):
            yield f"{value} among them", np.where(np.arange(n) == n // 2, value, array)
        yield "all NaN", np.full(n, np.nan)
    else:
        wide = np.full(n, array[-1], np.int64)  # no 64-bit difference of neighbours is negative
        wide[:4] = 0, 1 << 62, big, -(1 << 62)
        yield "differences that overflow", wide


def tables(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield Parquet tables to replace one."""
    table = pa.parquet.read_table(pa.BufferReader(content))
    frame = table.to_pandas()
    first, n = frame.columns[0], len(frame)
    for name, other in (
        ("rows reversed", frame[::-1]),
        ("rows rotated", frame.iloc[[*range(1, n), 0]]),
        ("a row less", frame[:-1]),
        ("a row more", pd.concat([frame, frame[-1:]])),
        ("no rows", frame[:0]),
        ("one value", frame.iloc[[0] * n]),
        ("a column more", frame.assign(vertex_9=1)),
        ("a column renamed", frame.rename(columns={first: "other"})),
        ("columns reversed", frame[frame.columns[::-1]]),
        ("nulls", frame.assign(**{first: [None] * n})),
        ("one null", frame.assign(**{first: [None, *frame[first][1:]]})),
        ("booleans", frame.assign(**{first: [i % 2 == 0 for i in range(n)]})),
        ("fractions", frame.assign(**{first: np.arange(n) + 0.5})),
        ("strings", frame.assign(**{first: [f"{i:09}" for i in range(n)]})),
        ("integers", frame.assign(**{first: np.arange(n)})),
        ("large integers", frame.assign(**{first: np.arange(n, dtype=np.uint64) + np.uint64(2**63)})),
        ("negative", frame.assign(**{first: -np.arange(n) - 1})),
        ("dates", frame.assign(**{first: pd.date_range("2020", periods=n)})),
        ("lists", frame.assign(**{first: [[i] for i in range(n)]})),
        ("structs", frame.assign(**{first: [{"a": i} for i in range(n)]})),
        ("bytes", frame.assign(**{first: [b"\xff%d" % i for i in range(n)]})),
        ("NaN", frame.assign(**{first: np.nan})),
    ):
        yield name, _parquet(pa.Table.from_pandas(other, preserve_index=False))
    metadata = table.schema.metadata[b"pandas"]
    for name, told in (
        ("garbage", b"{"),
        ("index", metadata.replace(b'"index_columns": []', b'"index_columns": ["%s"]' % first.encode())),
        ("range index", metadata.replace(
            b'"index_columns": []',
            b'"index_columns": [{"kind":"range","name":null,"start":0,"stop":3,"step":1}]')),
        ("other types", metadata.replace(b'"numpy_type": "', b'"numpy_type": "object_')),
        ("deep", b"[" * 100_000),
        ("a number", b"3"),
    ):  # fmt: skip
        yield f"metadata: {name}", _parquet(table.replace_schema_metadata({b"pandas": told}))
    yield "no metadata", _parquet(table.replace_schema_metadata(None))


def _parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink)
    return sink.getvalue()
