"""Errors that a caller can act on: one sentence with the column, the value and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EDGES_CHANGED = "The edges changed since the graph was built: build the graph again."
NOT_COLLECTED = "A LazyFrame of polars has no rows yet: collect it first, with frame.collect()."
LONGEST = 100  # characters of a value that a message shows


class TravError(ValueError):
    """A question that cannot be answered as it was put."""


class UnknownVertexError(TravError, KeyError):
    """Vertices that the graph does not have."""

    __str__ = ValueError.__str__


class UnknownColumnError(TravError, KeyError):
    """A column that the edges do not have."""

    __str__ = ValueError.__str__


class EdgeColumnsError(TravError, AttributeError):
    """Edges in which no source and destination columns were named or found."""


class TravMemoryError(TravError, MemoryError):
    """A structure that does not fit: says what was needed, what holds the rest, and what helps."""


class TravWarning(UserWarning):
    """Something works otherwise than the caller may expect: says what, and how to have it otherwise."""


def plain(value: object) -> Any:
    """Convert a NumPy scalar to a Python one."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def written(value: object) -> str:
    """Return a value as messages show it: its repr, cut if it is long."""
    try:
        text = " ".join(line.strip() for line in repr(plain(value)).splitlines())  # an array has several
    except ValueError:  # an integer of more digits than Python writes
        return f"an integer of {plain(value).bit_length()} bits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def first_line(error: Exception) -> str:
    """Return what a library says of an error, without what it adds in further lines."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def listed(values: Iterable[object]) -> str:
    """Names, or what may be chosen, one after another."""
    return ", ".join(map(written, values)) or "none"


def type_name(value: object) -> str:
    """Return the name of a value's type, with its module unless that is built in."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
