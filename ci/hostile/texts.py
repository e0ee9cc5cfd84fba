"""Edge files of random pieces, with changed bytes, or read with odd options: text, Matrix Market, Parquet."""

from __future__ import annotations

import functools
import gzip
import lzma
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from rapids_trav import Graph
from rapids_trav.io import read_edges

from .cases import Case
from .oracle import answered, distances, expect

PATTERN = b"%%MatrixMarket matrix coordinate pattern general\n"
# Files that hold the path 1-2-3.
READ: dict[str, tuple[str, bytes]] = {
    "commas": ("a.csv", b"src,dst\n1,2\n2,3\n"), "no header": ("a.csv", b"1,2\n2,3\n"),
    "no last line feed": ("a.csv", b"1,2\n2,3"), "Windows": ("a.csv", b"src,dst\r\n1,2\r\n2,3\r\n"),
    "an old Mac": ("a.csv", b"src,dst\r1,2\r2,3\r"),
    "a byte order mark": ("a.csv", b"\xef\xbb\xbfsrc,dst\n1,2\n2,3\n"),
    "quotes": ("a.csv", b'"src","dst"\n"1","2"\n"2","3"\n'), "blanks": ("a.csv", b"src, dst\n 1, 2\n2 ,3\n"),
    "empty lines": ("a.csv", b"\nsrc,dst\n\n1,2\n\n\n2,3\n\n"),
    "semicolons": ("a.csv", b"src;dst\n1;2\n2;3\n"),
    "tabs": ("a.tsv", b"1\t2\n2\t3\n"), "many blanks": ("a.txt", b"  1   2\n2 \t 3  \n"),
    "comments": ("a.txt", b"# x\n% y\n1 2 # one\n2 3\n"),
    "usual names": ("a.csv", b"w,from,to\n9,1,2\n9,2,3\n"),
    "capitals": ("A.CSV", b"SRC,DST\n1,2\n2,3\n"), "whole floats": ("a.csv", b"1.0,2\n2,3.0\n"),
    "GZIP": ("a.csv", gzip.compress(b"1,2\n2,3\n")),
    "XZ": ("a.csv", lzma.compress(b"1,2\n2,3\n")), "no extension": ("edges", b"1 2\n2 3\n"),
    "UTF-16": ("a.csv", "1,2\n2,3\n".encode("utf-16")),
    "JSON": ("a", b'{"u": 1, "v": 2}\n{"u": 2, "v": 3}\n'),
    "METIS": ("a.graph", b"3 2\n2\n1 3\n2\n"),
    "DIMACS": ("a.gr", b"p sp 3 2\na 1 2 7\na 2 3 7\n"),
    "a null": ("a.csv", b"src,dst,w\n1,2,\n2,3,NA\n"),
    "a matrix": ("a.mtx", PATTERN + b"3 3 2\n1 2\n2 3\n"),
    "a symmetric matrix": ("a.mtx", b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 2\n"),
}  # fmt: skip
BYTES = b'0123456789,,.;# \t\n\n"x\xff\0'
PIECES = [
    *(b"1", b"2", b"3", b"x", b",", b" ", b"\t", b"\n", b"\r\n", b'"', b";", b"#", b"-", b".5", b"1e400"),
    *(b"\0", b"\xff", "é".encode(), b"src,dst\n", b"1,2\n", b"1 2\n", b"9" * 30, b"%%MatrixMarket ", b"NA"),
]  # fmt: skip


def cases(seed: int) -> Iterator[Case]:
    """Yield fixed files, then files of random pieces, and valid files with random bytes changed."""
    for name, (file, content) in READ.items():
        yield Case(f"files: {name}", functools.partial(answered, functools.partial(_read, file, content)))
    for name, make in PARQUET.items():
        run = functools.partial(_parquet, make)
        yield Case(f"Parquet: {name}", functools.partial(answered, run) if name in WHOLE else run)
    for value in (None, 3, "xml", "", [], b"csv", True):
        yield Case(f"files: format={value!r}", functools.partial(_option, format=value))
        yield Case(f"files: library={value!r}", functools.partial(_option, library=value))
        yield Case(f"files: delimiter={value!r}", functools.partial(_option, delimiter=value))
        yield Case(f"files: columns={value!r}", functools.partial(_option, columns=value))
        yield Case(f"files: src={value!r}", functools.partial(_option, src=value, dst="dst"))
        yield Case(f"files: header={value!r}", functools.partial(_option, header=value))
    generator = random.Random(seed)
    for i in range(150):
        file = generator.choice(["a.csv", "a.tsv", "a.txt", "a.mtx", "a.parquet", "a.csv.gz"])
        content = b"".join(generator.choice(PIECES) for _ in range(generator.randint(1, 40)))
        yield Case(f"random files: {i} of seed {seed}, {file}", functools.partial(_any, file, content))
    for i in range(100):
        file, content = generator.choice([*READ.values(), ("a.parquet", _small_parquet())])
        changed = bytearray(content)
        for _ in range(generator.randint(1, 4)):
            changed[generator.randrange(len(changed))] = generator.choice(BYTES)
        yield Case(
            f"changed files: {i} of seed {seed}, {file}", functools.partial(_any, file, bytes(changed))
        )


def _edges(file: str, content: bytes) -> pd.DataFrame:
    Path(file).write_bytes(content)
    return read_edges(Path(file))


def _read(file: str, content: bytes) -> None:
    frame = _edges(file, content)
    graph = frame.trav.graph(*_ends(frame))
    expect(graph.bfs(1)["distance"].tolist() == [0, 1, 2], frame)


def _ends(frame: pd.DataFrame) -> tuple[str, str]:
    return ("from", "to") if "from" in frame else tuple(frame.columns[:2])


def _any(file: str, content: bytes) -> None:
    """Check that a file that can be read has edges and, if they form a graph, that distances are correct."""
    frame = _edges(file, content)
    expect(len(frame) > 0, frame)
    src, dst = list(frame.columns)[:2]
    graph = frame.trav.graph(src, dst)
    first = frame[src].iloc[:1]
    found = distances(zip(frame[src], frame[dst], strict=True), first.tolist())
    expect(sorted(graph.bfs(first)["distance"].dropna()) == sorted(found.values()), frame)


def _option(**option: object) -> None:
    Path("a.csv").write_bytes(READ["commas"][1])
    expect(read_edges("a.csv", **option).shape == (2, 2))


def _small_parquet() -> bytes:
    sink = pa.BufferOutputStream()
    pa.parquet.write_table(pa.table({"src": [1, 2], "dst": [2, 3]}), sink)
    return sink.getvalue().to_pybytes()


def _write(folder: Path, **tables: pa.Table) -> Path:
    for name, table in tables.items():
        pa.parquet.write_table(table, folder / f"{name}.parquet")
    return folder


EDGES = pa.table({"src": [1, 2], "dst": [2, 3]})
PARQUET: dict[str, Callable[[Path], Path]] = {
    "a file": lambda folder: _write(folder, a=EDGES) / "a.parquet",
    "a folder": lambda folder: _write(folder, a=EDGES[:1], b=EDGES[1:]),
    "an empty folder": lambda folder: folder,
    "other columns": lambda folder: _write(folder, a=EDGES, b=EDGES.rename_columns(["u", "v"])),
    "other types": lambda folder: _write(folder, a=EDGES[:1], b=EDGES[1:].cast(
        pa.schema([("src", pa.int32()), ("dst", pa.float64())])
    )),
    "words and numbers": lambda folder: _write(folder, a=EDGES, b=pa.table({"src": ["a"], "dst": ["b"]})),
    "no rows": lambda folder: _write(folder, a=EDGES[:0]) / "a.parquet",
    "no columns": lambda folder: _write(folder, a=pa.table({})) / "a.parquet",
    "columns of one name": lambda folder: _write(
        folder, a=pa.table([[1], [2], [3]], names=["src", "src", "dst"])
    ) / "a.parquet",
    "lists": lambda folder: _write(folder, a=pa.table({"src": [[1]], "dst": [[2]]})) / "a.parquet",
    "structs": lambda folder: _write(
        folder, a=pa.table({"src": [{"a": 1}], "dst": [{"a": 2}]})
    ) / "a.parquet",
    "dictionaries": lambda folder: _write(folder, a=pa.table({
        "src": pa.array([1, 2]).dictionary_encode(), "dst": pa.array([2, 3]).dictionary_encode()
    })) / "a.parquet",
    "nulls": lambda folder: _write(folder, a=pa.table({"src": [1, None], "dst": [2, 3]})) / "a.parquet",
    "nothing but nulls": lambda folder: _write(folder, a=pa.table({"src": pa.nulls(2),
    "dst": [2, 3]})) / "a.parquet",
    "a stray file": lambda folder: (folder / "readme.txt").write_text("x") and _write(folder, a=EDGES),
    "a folder for a file": lambda folder: (folder / "a.parquet").mkdir() or folder / "a.parquet",
}  # fmt: skip


WHOLE = ("a file", "a folder", "other types", "dictionaries", "no rows")


def _parquet(make: Callable[[Path], Path]) -> None:
    """Read as a frame and as a graph, one after the other."""
    path = make(Path())
    graph = Graph.from_edges(path)
    if graph.n_edges:
        expect(graph.bfs(1)["distance"].tolist() == [0, 1, 2])
        expect(len(read_edges(path)) == graph.n_edges)
