"""Checks of a caller's options."""

from __future__ import annotations

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
