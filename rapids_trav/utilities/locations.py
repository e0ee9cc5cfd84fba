"""Checks of options that name files or folders."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from rapids_trav.errors import TravError, written


def location(what: str, value: object) -> Path:
    """Return the path given by the option called `what`, or refuse what cannot be one on this system."""
    path = _text(value)
    if not path or "\0" in path or not _is_text(path):
        raise _not_a_path(what, value, "folder")
    return reachable(Path(path))


def file_location(what: str, value: object, of: str = "file") -> Path:
    """Return the path, if `reachable`, of what the argument called `what` names: a file, or as `of` says."""
    path = _text(value)
    if not path:
        raise _not_a_path(what, value, of)
    place = reachable(Path(path))
    try:
        path.encode()
    except UnicodeEncodeError:
        raise TravError(
            f"{written(path)} has a name that is not valid Unicode, which Arrow cannot open: rename it."
        ) from None
    return place


def _text(value: object) -> str | None:
    """Return a path as text; None if it is not a path, or is one of bytes."""
    try:
        path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    except TypeError:  # an object whose class claims to be a path but is not
        return None
    return path if isinstance(path, str) else None


def _not_a_path(what: str, value: object, of: str) -> TravError:
    return TravError(f"{what}={written(value)} is not a path: give the name of a {of}.")


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


def _is_text(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def folder(what: str, value: object) -> Path:
    """Return the path of an existing folder that the option called `what` names."""
    path = location(what, value)
    if not path.is_dir():
        problem = "is a file" if path.exists() else "does not exist"
        raise TravError(f"{what}={written(str(path))} {problem}: name an existing folder.")
    return path
