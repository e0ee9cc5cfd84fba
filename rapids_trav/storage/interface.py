"""Interface of a storage, and what it needs of the edges."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeGuard

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.interface import Chunks, DeviceEngine, Engine, View
from rapids_trav.engines.runs import GatherView, LinkView
from rapids_trav.memory.budget import Beside, Budget
from rapids_trav.memory.model.search import Searches


class SearchView(View, Protocol):
    """A view of a graph that searches take room in."""

    @property
    def limited(self) -> bool:
        """Whether a budget counts what searches take, so that nothing may stay when they have ended."""

    def degrees(self) -> Array:
        """Return the edges that lead on from each vertex, int64."""

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

    def link_view(self, where: Hashable | None = None) -> LinkView:
        """Return the edges to find components by, with what is there already; nothing more is built."""

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


def is_device(engine: Engine) -> TypeGuard[DeviceEngine]:
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
