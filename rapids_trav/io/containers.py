"""Bytes of files, decompressed by their first bytes, whatever the extension."""

from __future__ import annotations

import codecs
import lzma
import zipfile
from io import BufferedIOBase
from pathlib import Path
from typing import cast

import pyarrow as pa

from rapids_trav.errors import TravError

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
