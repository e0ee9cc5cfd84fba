"""Checks of the weights of a graph for the questions that use them.

The storage caches the smallest and largest weight, so only the first run reads all weights.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.engines.runs import GatherView
from rapids_trav.errors import TravError, written


def weight_range(graph: TraversableGraph, view: GatherView, why: str) -> tuple[float, float]:
    """Return the smallest and largest weight of the edges in a view; refuse negative weights.

    Both are 0 without edges.
    """
    smallest, largest = view.weight_range() or (0, 0)
    if smallest < 0:
        raise TravError(
            f"weight={graph.weight!r} holds {shown(graph, smallest)}, and {why}: leave out such edges with "
            f"where=."
        )
    return smallest, largest


def shown(graph: TraversableGraph, weight: float) -> str:
    """Return a weight as the caller gave it, for a message: integers may stand for decimals."""
    known = graph.rows.weight
    if known is None or not known.scale:
        return written(weight)
    return str(Decimal(int(weight)).scaleb(-known.scale))


def check_rank_weights(graph: TraversableGraph, view: GatherView, dtype: str, least: float) -> None:
    """Refuse weights whose sum at a vertex cannot divide ranks of `dtype` from `least` to 1.

    The quotients would overflow, or lose digits because they are too small.
    """
    smallest, largest = weight_range(graph, view, "ranks are for weights of 0 or more")
    if largest == float("inf"):
        raise TravError(
            f"weight={graph.weight!r} holds inf, and ranks are for finite weights: leave out such edges with "
            f"where=."
        )
    limits = np.finfo(dtype)
    low, high = 1 / float(limits.max), least / float(limits.tiny)
    if low <= smallest and largest * view.into.n_edges <= high:
        return
    positive = view.degrees[view.degrees > 0]
    if len(positive) == 0:
        return
    smallest, largest = float(positive.min()), float(positive.max())
    if smallest < low or largest > high:
        wider = "" if dtype == "float64" else ", or use dtype='float64'"
        raise TravError(
            f"weight={graph.weight!r} adds up to between {smallest:.3g} and {largest:.3g} at a vertex, by "
            f"which ranks of {dtype} cannot be divided: scale the weights towards 1, since only their "
            f"proportions matter{wider}."
        )
