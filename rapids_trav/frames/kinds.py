"""Kinds of input, by what they have, for type checkers: no library need be installed to be told apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

FrameT = TypeVar("FrameT")  # of the answers


class DataFrame(Protocol):
    """A frame whose answers are of its own type: of pandas, polars, cuDF or Dask."""

    @property
    def columns(self) -> object:
        """The names of the columns."""

    @property
    def explode(self) -> Callable[..., object]:
        """A method that they share, and that neither columns nor tables nor relations have with `columns`."""


class ArrowStream(Protocol):
    """Anything with Arrow's stream, such as a DuckDB relation."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the capsule of the stream."""


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy."""

    def tocoo(self) -> object:
        """Return the entries."""


class Column(Protocol):
    """A flat array or a column of values."""

    def __len__(self) -> int:
        """Return how many values there are."""

    @property
    def dtype(self) -> object:
        """Their type."""


DataFrameT = TypeVar("DataFrameT", bound=DataFrame)
