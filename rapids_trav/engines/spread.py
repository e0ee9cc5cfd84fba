"""Interfaces of an engine that spreads a graph over several devices of one process, and of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, Chunks, DeviceEngine, Search, View
from rapids_trav.tuning import Layout


class SpreadRows(Protocol):
    """The edges of a graph in one direction, spread over devices, which search them together."""

    @property
    def layout(self) -> Layout:
        """Return "both" if each device has its edges by both ends, "lean" if by destination alone."""

    def search(self, sources: Array, options: BfsOptions) -> Search:
        """Search from all `sources` jointly; the answer is on the current device."""

    def smallest_predecessors(self, distance: Array, order: Array) -> Array:
        """Return each vertex's neighbour one level nearer that is first in `order`, or -1."""

    def degrees(self) -> Array:
        """Return the number of edges that lead on from each vertex, int64 (n,), on the current device."""

    def held(self) -> Sequence[tuple[str, int, int]]:
        """Return the name, the bytes and the device of each structure."""

    def stop(self) -> None:
        """Stop the search that runs, if any."""


class Replica(View, Protocol):
    """A copy of all edges of a view on one device."""

    @property
    def device(self) -> int:
        """Return the number of the device."""


class SpreadView(View, Protocol):
    """A view of a graph that is spread over devices, unless it is filtered."""

    def spread(self) -> SpreadRows | None:
        """Return the edges as they are spread, which are built on first use; None if they are not."""

    def replicas(self) -> Sequence[Replica]:
        """Return the edges on each device, the current one first; none if they do not fit all of them."""


@runtime_checkable
class SpreadEngine(DeviceEngine, Protocol):
    """An engine whose searches may run on several devices together."""

    @property
    def devices(self) -> tuple[int, ...]:
        """Return the numbers of the devices, one for each rank."""

    def gains(self, n_vertices: int, n_entries: int) -> bool:
        """Return whether several devices search a graph faster than one that holds it."""

    def spread(
        self, chunks: Chunks, n_vertices: int, *, n_edges: int, symmetric: bool, transpose: bool
    ) -> SpreadRows:
        """Deal at most `n_edges` edges, whose vertices are numbered by descending degree, to the devices."""

    def replicated(self, view: View) -> Sequence[Replica]:
        """Return `view` and copies of it on the other devices; none if these lack the memory."""
