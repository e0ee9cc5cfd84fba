"""Checks of a caller's options."""

from __future__ import annotations

import operator

import numpy as np

from rapids_trav.errors import TravError, listed, written


def one_of(what: str, value: object, allowed: tuple[str, ...], of: str = "") -> None:
    """Refuse a value that is not among those allowed."""
    if not isinstance(value, str) or value not in allowed:
        raise TravError(f"{what}={written(value)} is not known: choose one of {listed(allowed)}{of}.")


def flag(what: str, value: object) -> None:
    """Refuse a value that is neither True nor False; a string, for example, would count as true."""
    if not isinstance(value, (bool, np.bool_)):
        raise TravError(f"{what}={written(value)} is neither True nor False: give one of them.")


def flags(options: object, *names: str) -> None:
    """Refuse options of these names that are neither True nor False."""
    for name in names:
        if (value := getattr(options, name)) is not True and value is not False:
            flag(name, value)


def integer(value: object) -> int | None:
    """Return an integer of Python or NumPy as one of Python; None for anything else, booleans included."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
