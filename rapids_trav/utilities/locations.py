"""Checks of options that name files or folders."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from rapids_trav.errors import TravError, written


def location(what: str, value: object, of: str = "folder") -> Path:
    """Return the path, if `reachable`, of what the option called `what` names: a folder, or as `of` says."""
    try:
        path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    except TypeError:  # an object whose class claims to be a path but is not
        path = None
    if not path or not isinstance(path, str):
        raise TravError(f"{what}={written(value)} is not a path: give the name of a {of}.")
    return reachable(Path(path))


def file_location(what: str, value: object, of: str = "file") -> Path:
    """Return the path, if `reachable`, of a file that Arrow can open."""
    place = location(what, value, of)
    try:
        str(place).encode()
    except UnicodeEncodeError:
        raise TravError(
            f"{written(str(place))} has a name that is not valid Unicode, which Arrow cannot open: rename it."
        ) from None
    return place


def reachable(path: Path) -> Path:
    """Return the path if the system can tell whether it exists: names may be too long, or folders closed."""
    try:
        path.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise TravError(
                f"{written(str(path))} cannot be reached ({error.strerror or error}): use another path."
            ) from error
    except ValueError as error:  # a null character, or one that cannot be encoded
        raise TravError(
            f"{written(str(path))} has a character that no file name can have: use another path."
        ) from error
    return path


def folder(what: str, value: object) -> Path:
    """Return the path of an existing folder that the option called `what` names."""
    path = location(what, value)
    if not path.is_dir():
        problem = "is a file" if path.exists() else "does not exist"
        raise TravError(f"{what}={written(str(path))} {problem}: name an existing folder.")
    return path
