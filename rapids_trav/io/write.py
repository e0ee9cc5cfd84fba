"""Writer of results to Parquet or CSV, by the extension of the file."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pandas as pd

from rapids_trav.errors import TravError
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame
from rapids_trav.utilities.atomic_files import folder_in_the_making
from rapids_trav.utilities.locations import file_location

WRITABLE = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": ",",
    ".tsv": "\t",
    ".csv.gz": ",",
    ".tsv.gz": "\t",
}


def check_output(path: str | Path) -> Path:
    """Return the path if a frame can be written there; called before the work starts."""
    path = file_location("path", path)
    if _kind(path) is None:
        raise TravError(f"{path} has no extension of a result: use one of {', '.join(WRITABLE)}.")
    return check_writable(path)


def check_writable(path: str | Path) -> Path:
    """Return the path if a file can be created there; called before the work starts."""
    path = file_location("path", path)
    if path.is_dir():
        raise TravError(f"{path} is a folder: name a file in it.")
    if not path.parent.is_dir():
        raise TravError(f"There is no folder {path.parent} to write {path.name} to: create it first.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise TravError(
            f"{path} cannot be written: you have no permission to write there; choose another path."
        )
    return path


def write_frame(frame: Frame, path: str | Path) -> None:
    """Write a pandas or cuDF frame to .parquet, .csv or .tsv; the last two also with .gz.

    Nulls are empty fields in CSV and TSV.  The file is either written completely or left unchanged.
    """
    path = check_output(path)
    frame = proxies.opened(frame, on_gpu=False)
    try:
        if _may_replace(path):
            _replace(frame, path, _kind(path))
        else:
            _write(frame, path, _kind(path))
    except OSError as error:
        raise TravError(
            f"{path} cannot be written: {error.strerror or error}; choose another path or free space there."
        ) from error


def _may_replace(path: Path) -> bool:
    """Return whether a new file may replace it: never a pipe or device, nor in a read-only folder."""
    folder = Path(os.path.realpath(path)).parent
    return not path.exists() or (path.is_file() and os.access(folder, os.W_OK))


def _replace(frame: Frame, path: Path, kind: str | None) -> None:
    """Write the frame beside the file, and rename it once it is complete and on the disk."""
    target = Path(os.path.realpath(path))  # the target of a link; the link itself stays
    with folder_in_the_making(target) as folder:
        made = folder / path.name  # its extension selects the compression
        _write(frame, made, kind)
        with made.open("rb") as file:
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, made)
        made.replace(target)
        folder.rmdir()


def _write(frame: Frame, path: Path, kind: str | None) -> None:
    if kind == "parquet":
        frame.to_parquet(path, index=False)
    else:
        printable(to_pandas(frame)).to_csv(path, sep=kind, index=False)


def to_pandas(frame: Frame) -> pd.DataFrame:
    """Convert a frame to pandas, with nullable types for numbers; cuDF has none for the other types."""
    frame = proxies.opened(frame, on_gpu=False)
    if not hasattr(frame, "to_pandas"):
        return frame
    columns = {name: frame[name] for name in frame.columns}
    return pd.DataFrame(
        {name: column.to_pandas(nullable=column.dtype.kind in "biuf") for name, column in columns.items()}
    )


def printable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose bytes are text or, where they are none, hexadecimal numbers such as 0xff00."""
    columns = {
        name: frame[name].map(_text, na_action="ignore") for name in frame if _holds_bytes(frame[name])
    }
    return frame.assign(**columns) if columns else frame


def _holds_bytes(column: pd.Series) -> bool:
    return column.dtype == object and column.map(lambda value: isinstance(value, bytes)).any()


def _text(value: object) -> object:
    if not isinstance(value, bytes):
        return value
    text = value.decode(errors="replace")
    plain = text.isprintable() and "\ufffd" not in text and not text.startswith("0x")
    return text if plain else f"0x{value.hex()}"


def _kind(path: Path) -> str | None:
    """Return the format by the longest extension that fits: "parquet", or the delimiter."""
    name = path.name.lower()
    return next((WRITABLE[end] for end in reversed(WRITABLE) if name.endswith(end)), None)
