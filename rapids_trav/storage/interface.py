"""Interfaces of storages and their views, and the description of the edges that storages read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines.interface import Chunks, DeviceEngine, Engine, View
from rapids_trav.engines.runs import GatherView, LinkView
from rapids_trav.memory.budget import Beside, Budget
from rapids_trav.memory.model.search import Searches


class SearchView(View, Protocol):
    """A view of a graph that can hold memory for searches."""

    @property
    def limited(self) -> bool:
        """Whether a budget counts the memory of searches, so that they must free all of it when they end."""

    def degrees(self) -> Array:
        """Return the number of edges that lead on from each vertex, int64 (n,)."""

    def searching(self, asked: Searches) -> AbstractContextManager[None]:
        """Hold memory for searches in this view until their answer is complete."""

    def searches_at_once(self, most: int, asked: Searches) -> int:
        """Return the number of independent searches that there is room for, up to `most`."""

    def searching_ahead(self, most: int, asked: Searches) -> AbstractContextManager[int]:
        """Hold memory for searches ahead of the one whose answer is made; give their number, up to `most`.

        `asked` is what each answer takes while it is made.  The memory is held between questions, which do
        not wait for it.
        """


class Storage(Protocol):
    """Storage of the edges of a graph, with the views that searches and vertex programs read."""

    @property
    def budget(self) -> Budget | None:
        """The limit of the engine's memory; None without one."""

    def view(self, direction: str = "out", where: Hashable | None = None) -> SearchView:
        """Return the graph read along its edges ("out"), against them ("in") or both ways ("both").

        With `where`, the view has only the edges that this filter keeps; those of the most recent filter are
        cached.
        """

    def gather_view(
        self,
        direction: str = "out",
        where: Hashable | None = None,
        weighted: bool = False,
        pushed: bool = False,
    ) -> GatherView:
        """Return the view for a vertex program.

        It has the weights of the edges if `weighted`, in the order of their sources as well if they may be
        `pushed`.
        """

    def link_view(self, where: Hashable | None = None) -> LinkView:
        """Return the edges in a form for finding components, from existing adjacencies; none is built."""

    def room(self, n_bytes: int, what: str, beside: Beside = 0) -> AbstractContextManager[None]:
        """Hold `n_bytes` of the limit, if there is one, for the duration of a block; see `Budget.hold`."""

    def outlook(self, n_bytes: Beside) -> AbstractContextManager[None]:
        """Make refusals in a block name a limit that suffices for `n_bytes`; see `Budget.outlook`."""

    def forward(self, weighted: bool) -> Adjacency:
        """Return the edges by source (undirected ones both ways), with their weights if `weighted`."""

    @property
    def layouts(self) -> Mapping[int, PathLayout]:
        """Path layouts of all edges that exist already, by the most edges of their relaxed paths."""

    def keep_layout(self, layout: PathLayout) -> PathLayout:
        """Keep a path layout of all edges; return it as it is kept, with read-only arrays."""

    def memory(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each existing structure."""


def is_device(engine: Engine) -> TypeGuard[DeviceEngine]:
    """Return whether the engine computes in the memory of a device, not of the host."""
    return engine.place == "device"


@dataclass(frozen=True)
class GraphEdges:
    """The edges of a graph in the form that its storage reads.

    Attributes
    ----------
    directed : bool
    chunks : callable
        Returns a new iterator over the edges as pairs of internal ids; used by the build only.
    filtered : callable
        Takes a filter and returns an iterator over the edges that it keeps.
    weighted : callable or None
        Takes a filter, or None for all edges, and returns an iterator over triples: both ends and weight.
    forward : Adjacency or None
        The adjacency that a build from `chunks` would give, if it exists already; with weights if the graph
        has any.
    layouts : mapping of int to PathLayout
        Path layouts of `forward` that exist already, by the most edges of their relaxed paths.
    """

    directed: bool
    chunks: Chunks
    filtered: Callable[[Hashable], Iterator[tuple[Array, Array]]]
    weighted: Callable[[Hashable | None], Iterator[tuple[Array, Array, Array]]] | None = None
    forward: Adjacency | None = None
    layouts: Mapping[int, PathLayout] = field(default_factory=dict)
