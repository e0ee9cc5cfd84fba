"""Protocols for the kinds of input, for type checkers; none of the libraries needs to be installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:  # Python's own TypeVar takes a default from 3.13 on
    import typing_extensions

    from rapids_trav.frames.columns import Frame

    FrameT = typing_extensions.TypeVar("FrameT", default=Frame)
else:
    FrameT = TypeVar("FrameT")  # the type of the answers


class DataFrame(Protocol):
    """A frame whose answers have its own type: a pandas, polars, cuDF or Dask frame."""

    @property
    def columns(self) -> object:
        """Names of the columns."""

    @property
    def explode(self) -> Callable[..., object]:
        """A method common to all of them; no column, table or relation has both `explode` and `columns`."""


class ArrowStream(Protocol):
    """Any object with an Arrow stream, such as a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of the stream."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocoo(self) -> object:
        """Return the entries in coordinate format."""


class Column(Protocol):
    """A flat array or a column of values."""

    def __len__(self) -> int:
        """Return the number of values."""

    @property
    def dtype(self) -> object:
        """Type of the values."""


DataFrameT = TypeVar("DataFrameT", bound=DataFrame)
