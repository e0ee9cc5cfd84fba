"""Breadth-first search over a structure, in NetworkX's order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from rapids_trav.backends.kernels.ordered_bfs import ordered_bfs
from rapids_trav.backends.structure import Arguments, Structure, Value
from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import aside


@dataclass(frozen=True)
class Discovery:
    """Result of a search: the vertices found, in the order in which it found them."""

    order: Array  # (k,), the vertices found
    parent: Array  # (k,), position in `order` of the vertex from which each was found; -1 for sources
    ends: Array  # (levels,), the end of each level in `order`
    place: Array  # (n,), position of each vertex in `order`, -1 if it was not found
    pulled: int  # levels that were searched bottom-up

    @property
    def sizes(self) -> Array:
        return np.diff(self.ends, prepend=0)

    @property
    def distance(self) -> Array:
        """The level of each vertex of `order`."""
        return np.repeat(np.arange(len(self.ends)), self.sizes)


def discover(
    structure: Structure, sources: Sequence[int], limit: int | None = None, reverse: bool = False
) -> Discovery:
    """Search from distinct sources along the edges, or against them with `reverse`."""
    may_pull = structure.knows_incoming
    if may_pull:
        rows, into = structure.read(reverse)
    else:
        rows = into = structure.incoming if reverse else structure.rows
    n, dtype = structure.n, rows.columns.dtype
    place = np.full(n, -1, np.int64 if n >= 2**31 - 2 else np.int32)
    order, parent = np.empty(n, dtype), np.empty(n, dtype)
    ends = np.empty(n + 1, np.int64)
    found, levels, pulled = aside(
        n + len(rows.columns), ordered_bfs, *rows, *into, np.array(sources, np.int64),
        n if limit is None else limit, place, order, parent, ends, may_pull,
    )  # fmt: skip
    return Discovery(order[:found], parent[:found], ends[:levels], place, pulled)


def levels_within(cutoff: Value, n: int) -> int:
    """Return the number of levels that a loop takes while the level is below `cutoff`.

    The result is at most n; None means that there is no bound.
    """
    if cutoff is None or cutoff > n:
        return n
    return max(math.ceil(cutoff), 0) if cutoff > 0 else 0


def bound_refusal(name: str) -> Value:
    """Return a refusal of calls whose argument `name` is neither None nor an integer or float of 64 bits."""

    def refuse(arguments: Arguments) -> str | None:
        value = arguments[name]
        if isinstance(value, Integral):
            return None if -(2**63) <= int(value) < 2**63 else f"{name} does not fit 64 bits"
        return None if value is None or isinstance(value, float) else f"{name} is no integer or float"

    return refuse
