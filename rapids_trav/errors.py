"""Errors that a caller can act on: one sentence with the column, the value and the remedy."""

from __future__ import annotations


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
