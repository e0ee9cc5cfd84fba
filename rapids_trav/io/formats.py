"""The format of a file and its decompressed bytes, found from its first bytes, else the extension."""

from __future__ import annotations

import codecs
import lzma
import re
import zipfile
from collections.abc import Iterable
from io import BufferedIOBase
from pathlib import Path
from typing import cast

import pyarrow as pa

from rapids_trav.errors import TravError, first_line, not_parquet

MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xfd7zXZ\0": "xz",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins like that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
BROKEN = (OSError, EOFError, zipfile.BadZipFile, lzma.LZMAError)  # errors about files that are cut
COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4", ".xz", ".zip")


def compression_of(path: Path) -> str | None:
    """Return the name of a file's compression, by its first bytes."""
    with path.open("rb") as file:
        start = file.read(8)
    return next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)


def marked_encoding(start: bytes) -> str | None:
    """Return the encoding that the mark at the start of a text tells, if it is a wide one."""
    return next((name for mark, name in MARKS.items() if start.startswith(mark)), None)


def open_bytes(path: Path) -> BufferedIOBase | pa.NativeFile:
    """Open a file as a binary stream, decompressed."""
    kind = compression_of(path)
    if kind == "xz":
        return lzma.open(path)
    if kind == "zip":
        return _member(path)
    return pa.input_stream(str(path), compression=kind)


def _member(path: Path) -> BufferedIOBase:
    archive = zipfile.ZipFile(path)
    names = [
        name
        for name in archive.namelist()
        if not name.endswith("/") and not name.startswith("__MACOSX/") and not Path(name).name.startswith(".")
    ]
    if any(name.startswith("xl/") for name in names):
        raise TravError(f"{path} is a workbook of Excel: save its sheet as CSV.")
    if len(names) != 1:
        raise TravError(
            f"{path} holds {len(names)} files ({', '.join(names[:5])}): extract the one with the edges."
        )
    return cast(BufferedIOBase, archive.open(names[0]))


def inner_extension(path: Path) -> str:
    """Return the last extension that is not that of a compression, in lower case."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


FORMATS = (
    "parquet", "csv", "tsv", "text", "mtx", "json", "dimacs", "metis", "feather", "orc", "gml", "graphml",
    "gexf", "pajek", "edgelist",
)  # fmt: skip
TEXTS = ("csv", "tsv", "text")
BINARY = {
    b"PAR1": "parquet",
    b"ARROW1": "feather",
    b"FEA1": "feather",
    b"\xff\xff\xff\xff": "feather",
    b"ORC": "orc",
}
# Files that hold no edges in any format that is read, and what to do.
OTHERS = {
    b"SQLite format 3": "is a database of SQLite: export the table of edges as CSV",
    b"\x89HDF": "is a file of HDF5: save the edges as Parquet or CSV",
    b"\x93NUMPY": "is an array of NumPy: give it to Graph.from_edges from Python",
    b"version https://git-lfs": "is a pointer of Git LFS: fetch the file itself, with git lfs pull",
    b"%PDF": "is a PDF: give a file of edges",
    **{
        bytes([0x80, version]): "is a pickle of Python: save the edges as Parquet or CSV"
        for version in range(2, 6)
    },
}
TEXT = (
    ("mtx", r"(?i)%%MatrixMarket"),
    ("json", r"[\[{]\s*(?:[\[{\]}\"]|$)"),
    ("dimacs", r"(?:c(?:[ \t].*)?\n)*p[ \t]+(?:sp|aux|edge|col|max|min|asn)\b.*\d"),
    ("pajek", r"(?i)(?:[%#].*\n|\s)*\*(?:network|vertices)\b"),
    ("gml", r"(?:#.*\n|(?:Creator|Version|comment)\b.*\n|\s)*graph\s*\["),
    ("graphml", r"(?:<\?xml[^>]*>\s*|<!--.*?-->\s*|<!DOCTYPE graphml[^>]*>\s*)*<graphml\b"),
    ("gexf", r"(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<gexf\b"),
    ("another kind of XML", r"<\?xml"),
    ("a graph of Graphviz", r"(?i)(?://.*\n|\s)*(?:strict\s+)?(?:di)?graph\b[^\n\[,;]*\{"),
    ("edgelist", r"(?:#.*\n|\s)*[^\s,;]+[ \t]+[^\s,;]+[ \t]+\{.*\}[ \t]*(?:\n|$)"),
    ("a web page", r"(?is)(?:<!doctype html|<html)\b"),
)  # fmt: skip
REFUSED = {
    "a graph of Graphviz": "is a graph of Graphviz (DOT): write each edge as a row of CSV",
    "a web page": "is a web page: download the file itself",
    "another kind of XML": "is XML, but neither GraphML nor GEXF: save the edges as CSV",
}


def find_format(path: Path) -> str:
    """Return the format of a file, by its content."""
    with open_bytes(path) as stream:
        start = stream.read(1 << 16)
    for magic, name in BINARY.items():
        if start.startswith(magic):
            return name
    for magic, advice in OTHERS.items():
        if start.startswith(magic):
            raise TravError(f"{path} {advice}.")
    if start[257:262] == b"ustar":
        raise TravError(f"{path} is an archive of tar: extract the file with the edges.")
    text = start.removeprefix(codecs.BOM_UTF8).decode(marked_encoding(start) or "latin-1", "replace")
    text = text.replace("\r\n", "\n").lstrip()
    for name, pattern in TEXT:
        if re.match(pattern, text, re.DOTALL if "<" in pattern else 0):
            if name in REFUSED:
                raise TravError(f"{path} {REFUSED[name]}.")
            return name
    extension = inner_extension(path)
    if extension in (".graph", ".metis") and _is_metis(text):
        return "metis"
    if extension in (".parquet", ".pq") and "\0" in text:
        return "parquet"
    return "mtx" if extension == ".mtx" else "text"


def _is_metis(text: str) -> bool:
    """Return whether a text begins with the numbers of vertices and edges, as METIS writes."""
    lines = [line.split() for line in text.splitlines() if not line.startswith("%")]
    return (
        bool(lines)
        and len(lines[0]) in (2, 3, 4)
        and all(field.isdigit() for line in lines[:100] for field in line)
    )


def reading_error(path: Path, error: Exception) -> TravError:
    """Return a one-sentence error for a library's error about reading `path`."""
    if file := not_parquet(error):
        return TravError(
            f"{file} is not a complete Parquet file: check it, or name another format with format=."
        )
    return TravError(
        f"{path} cannot be read: {first_line(error)}; check that it is complete, or name its format with "
        f"format=."
    )


def check_columns(path: Path, names: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise an error if the file lacks a wanted column."""
    for name in wanted:
        if name not in names:
            raise TravError(f"{path.name} has no column {name!r}: choose one of {', '.join(names)}.")
