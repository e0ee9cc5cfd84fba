"""Detection of a file's format, and decompression."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from rapids_trav.errors import TravError, first_line, not_parquet

FORMATS = ("parquet", "csv", "tsv", "text", "mtx")
COMPRESSIONS = (".gz", ".bz2", ".zst", ".lz4")
EXTENSIONS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "text",
    ".edges": "text",
    ".el": "text",
    ".snap": "text",
    ".mtx": "mtx",
}


def guess_format(path: Path) -> str:
    """Return the format by extension, below any compression extension; a folder holds Parquet."""
    if path.is_dir():
        return "parquet"
    extension = inner_extension(path)
    if extension not in EXTENSIONS:
        raise TravError(
            f"{path.name} has none of the known extensions ({', '.join(EXTENSIONS)}): "
            f"name the format, one of {', '.join(FORMATS)}."
        )
    return EXTENSIONS[extension]


def inner_extension(path: Path) -> str:
    """Return the last extension that is not that of a compression, in lower case."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def open_bytes(path: Path) -> pa.NativeFile:
    """Open the file as a binary stream, decompressed by its extension."""
    return pa.input_stream(str(path), compression="detect")


def reading_error(path: Path, error: Exception) -> TravError:
    """Return a one-sentence error for a library's error about reading `path`."""
    if file := not_parquet(error):
        return TravError(
            f"{file} is not a complete Parquet file: check it, or name another format with format=."
        )
    return TravError(
        f"{path} cannot be read: {first_line(error)}; check that it is complete and that its extension "
        f"matches its format."
    )


def check_columns(path: Path, names: Iterable[str], wanted: Iterable[str]) -> None:
    """Raise an error if the file lacks a wanted column."""
    for name in wanted:
        if name not in names:
            raise TravError(f"{path.name} has no column {name!r}: choose one of {', '.join(names)}.")
