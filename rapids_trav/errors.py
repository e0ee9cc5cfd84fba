"""Errors that a caller can act on: one sentence with the column, the value and the remedy."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

EDGES_CHANGED = "The edges changed since the graph was built: build the graph again."
CLOSED = "The graph is closed: build it again, and ask questions before close()."
NOT_COLLECTED = "A LazyFrame of polars has no rows yet: collect it first, with frame.collect()."
PACKAGE = str(Path(__file__).parent)
LONGEST = 100  # characters of a value that a message shows


class TravError(ValueError):
    """A query that cannot be answered as given.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.graph(weight="src").bfs(0, depth_limit=-1)
    Traceback (most recent call last):
        ...
    rapids_trav.errors.TravError: depth_limit=-1 ...
    """


class UnknownVertexError(TravError, KeyError):
    """The query names vertices that the graph does not have.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.bfs(9)
    Traceback (most recent call last):
        ...
    rapids_trav.errors.UnknownVertexError: sources ... 9...
    """

    __str__ = ValueError.__str__


class UnknownColumnError(TravError, KeyError):
    """A named column is not in the edges.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.bfs(0, weight="km")
    Traceback (most recent call last):
        ...
    rapids_trav.errors.UnknownColumnError: Column 'km' ...
    """

    __str__ = ValueError.__str__


class NoEdgesError(TravError):
    """A file holds no edges."""


class EdgeColumnsError(TravError, AttributeError):
    """No source and destination columns of the edges were named or found.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> pd.DataFrame({"a": [0], "b": [1]}).trav.bfs(0)
    Traceback (most recent call last):
        ...
    rapids_trav.errors.EdgeColumnsError: The edges have neither columns 'src' and 'dst' ...
    """


class TravMemoryError(TravError, MemoryError):
    """A structure does not fit in memory; the message names its bytes, other holders, and the remedy.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.graph(memory_limit="1B").bfs(0)
    Traceback (most recent call last):
        ...
    rapids_trav.errors.TravMemoryError: ... memory_limit ...
    """


class TravWarning(UserWarning):
    """A behaviour that may differ from the caller's expectation; the message says how to change it.

    Examples
    --------
    >>> import warnings, rapids_trav
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", rapids_trav.TravWarning)  # raise it, as an exception
    """


def plain(value: object) -> Any:
    """Convert a NumPy scalar to a Python one."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def written(value: object) -> str:
    """Return a value as messages show it: its repr, truncated if it is long."""
    try:
        text = " ".join(line.strip() for line in repr(plain(value)).splitlines())  # arrays have several lines
    except ValueError:  # an integer with more digits than Python prints
        return f"an integer of {plain(value).bit_length()} bits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def first_line(error: Exception) -> str:
    """Return the first line of a library's error message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def not_parquet(error: Exception) -> str | None:
    """Return the file that an error of pyarrow calls no Parquet, amid text about data sets; None if none."""
    found = re.search(r"Could not open Parquet input source '(.*?)': ", str(error))
    return found[1] if found else None


def listed(values: Iterable[object]) -> str:
    """Return names or choices, separated by commas."""
    return ", ".join(map(written, values)) or "none"


def a_type(value: object) -> str:
    """Return the short name of a value's type after its article, such as "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIO' or name == 'ndarray' else 'a'} {name}"


def type_name(value: object) -> str:
    """Return the name of a value's type, with its module unless that is built in."""
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def warn(message: str) -> None:
    """Issue a `TravWarning` that points to the caller's line, outside this package."""
    frame, level = sys._getframe(1), 2
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1  # type: ignore[assignment]
    warnings.warn(message, TravWarning, stacklevel=level)
