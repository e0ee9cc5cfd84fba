"""What a storage offers, and what it needs: of an engine, and of the edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import ModuleType
from typing import Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.interface import Place, View
from rapids_trav.engines.runs import GatherView
from rapids_trav.memory.budget import Beside, Budget
from rapids_trav.memory.model.search import Searches

Chunks = Callable[[], Iterator[tuple[Array, ...]]]


class SearchView(View, Protocol):
    """A view of a graph that searches take room in."""

    @property
    def limited(self) -> bool:
        """Whether a budget counts what searches take, so that nothing may stay when they have ended."""

    def searching(self, asked: Searches) -> AbstractContextManager[None]:
        """Hold room for searches in this view, until their answer stands."""

    def searches_at_once(self, most: int, asked: Searches) -> int:
        """Return how many independent searches there is room for, up to `most`."""


class Storage(Protocol):
    """Where the edges of a graph lie, and how searches and vertex programs read them."""

    @property
    def budget(self) -> Budget | None:
        """The limit of the engine's memory; None without one."""

    def view(self, direction: str = "out", where: Hashable | None = None) -> SearchView:
        """Return the graph read along its edges ("out"), against them ("in") or both ways ("both").

        With `where`, only the edges where that column is true; those of the most recent one are kept.
        """

    def gather_view(
        self,
        direction: str = "out",
        where: Hashable | None = None,
        weighted: bool = False,
        pushed: bool = False,
    ) -> GatherView:
        """Return the same for a vertex program.

        It has the weights of the edges if `weighted`, and by their sources as well if they may be `pushed`.
        """

    def room(self, n_bytes: int, what: str, beside: Beside = 0) -> AbstractContextManager[None]:
        """Hold so many bytes of the limit, if there is one, for the time of a block; see `Budget.hold`."""

    def outlook(self, n_bytes: Beside) -> AbstractContextManager[None]:
        """Let refusals in a block name a limit that is enough for so many bytes; see `Budget.outlook`."""

    def weight_range(self, where: Hashable | None = None) -> tuple[float, float] | None:
        """Return the smallest and largest weight of a view gathered from before; None without edges."""

    def forward(self, weighted: bool) -> Adjacency:
        """Return the edges by source (undirected ones both ways), with their weights if `weighted`."""

    def memory(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each structure that exists."""


class OutsideArrays(Protocol):
    """What an engine builds in that has no room for the result."""

    budget: Budget

    def allocate(self, n: int, dtype: npt.DTypeLike, what: str) -> np.ndarray:
        """Return a host array for a part of the result."""

    def cut(self, row_offsets: np.ndarray, page_bytes: int, edge_bytes: int, row_bytes: int) -> np.ndarray:
        """Return the first rows of pages that fit, and the number of rows."""


class AdjacencyBuilder(Protocol):
    """Builds the adjacencies of one place."""

    @property
    def xp(self) -> ModuleType:
        """The library of the arrays that an engine has of them."""

    def build_adjacency(
        self, chunks: Chunks, n_vertices: int, *, symmetric: bool = False, transpose: bool = False
    ) -> Adjacency:
        """Return ascending compressed rows of the edges that `chunks()` yields."""

    def take_over(self, adjacency: Adjacency) -> Adjacency:
        """Return an adjacency of NumPy arrays as one of its own."""

    def expand_rows(self, adjacency: Adjacency) -> EdgeList:
        """Return the edges one by one, in row order."""


class StorageEngine(AdjacencyBuilder, Protocol):
    """What a storage needs of an engine."""

    @property
    def place(self) -> Place:
        """Where its arrays lie."""

    def free_bytes(self) -> int:
        """Return the bytes of its memory that can be had."""

    def build_outside(
        self,
        chunks: Chunks,
        n_vertices: int,
        outside: OutsideArrays,
        *,
        symmetric: bool = False,
        transpose: bool = False,
    ) -> Adjacency:
        """Return what `build_adjacency` does, in arrays that `outside` makes."""


class DeviceEngine(StorageEngine, Protocol):
    """An engine that reads rows which lie outside its memory."""

    def reach_outside(self, adjacency: Adjacency, first_resident: int) -> Adjacency:
        """Return an adjacency of host arrays as searches read it, with its edges from there on copied."""

    def empty_pinned(self, n: int, dtype: npt.DTypeLike) -> Array:
        """Return an array of host memory that the device reaches."""


def is_device(engine: StorageEngine) -> TypeGuard[DeviceEngine]:
    """Return whether the engine's memory is not the host's."""
    return engine.place == "device"


@dataclass(frozen=True)
class GraphEdges:
    """The edges of a graph, as its storage reads them.

    Attributes
    ----------
    directed : bool
    chunks : callable
        Gives a fresh iterator over the edges as pairs of internal ids, for the build alone.
    filtered : callable
        The same for the edges whose boolean column, named by the argument, is true.
    weighted : callable or None
        Gives the edges, of a filter or (None) all, as triples with their weights.
    forward : Adjacency or None
        What the chunks would make, with its weights if the graph has any.
    """

    directed: bool
    chunks: Chunks
    filtered: Callable[[Hashable], Iterator[tuple[Array, Array]]]
    weighted: Callable[[Hashable | None], Iterator[tuple[Array, Array, Array]]] | None = None
    forward: Adjacency | None = None
