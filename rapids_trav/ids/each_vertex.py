"""The vertices that a caller names, one after another."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from rapids_trav.errors import TravError
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Series, Values, library_of
from rapids_trav.ids.given import split

AT_ONCE = 1 << 16  # values of a column that are converted at once


def each_vertex(what: str, given: Values, width: int, on_gpu: bool) -> Iterator[Hashable]:
    """Return an iterator over the vertices that the argument called `what` names, for `lookup` to look up.

    An iterable is read as the iterator advances.  Values of columns become Python's own.

    Parameters
    ----------
    width : int
        Number of columns of an id.
    on_gpu : bool
        Whether the caller's frames are those of cuDF.
    """
    given = forms.opened(proxies.opened(given, on_gpu=on_gpu))
    if given is None or library_of(given):
        columns = split(what, given, width)  # refuses None
        return (row[0] for row in _rows(columns)) if width == 1 else _rows(columns)
    n_dimensions = getattr(given, "ndim", 1)
    if n_dimensions > 1:
        raise TravError(f"{what} has {n_dimensions} dimensions: give a flat sequence of ids.")
    if n_dimensions == 0 or not isinstance(given, Iterable) or isinstance(given, (str, bytes)):
        return iter([given])
    if width > 1 and isinstance(given, tuple) and not (given and isinstance(given[0], (tuple, list))):
        return iter([given])
    return _values(given) if hasattr(given, "dtype") else iter(given)


def _rows(columns: list[Series]) -> Iterator[tuple[Hashable, ...]]:
    return zip(*map(_values, columns), strict=True)


def _values(column: Series) -> Iterator[Hashable]:
    """Yield the values of a column or an array of one dimension, a part of which is in host memory."""
    for first in range(0, len(column), AT_ONCE):
        part = (column.iloc if hasattr(column, "iloc") else column)[first : first + AT_ONCE]
        # cuDF converts a column to a list only through Arrow.
        yield from part.to_arrow().to_pylist() if hasattr(part, "to_arrow") else part.tolist()
