"""When a direction-optimising search turns from push to pull and back: plain arithmetic, no GPU.

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012, and the GAP
Benchmark Suite, arXiv:1508.03619, whose reference code counts a little differently.

A policy is asked once a level, with what the level before reached: `frontier` vertices, which have `scout`
out-edges together.  It answers "push" or "pull", and takes its own answer as what then happens.
"""

from __future__ import annotations

from typing import Protocol

from rapids_trav.errors import TravError


class Policy(Protocol):
    """Chooses the direction of each level."""

    def choose(self, frontier: int, scout: int) -> str:
        """Choose the direction for a frontier of that many vertices with that many out-edges."""


class Forced:
    """Always the same direction."""

    def __init__(self, direction: str) -> None:
        self._direction = direction

    def choose(self, frontier: int, scout: int) -> str:
        return self._direction


class Beamer:
    """Pull from 1/alpha of the unexplored edges in the frontier on, until it falls below n/beta vertices."""

    alpha = 14
    beta = 24

    def __init__(self, n_vertices: int, n_edges: int) -> None:
        self._n_vertices = n_vertices
        self._unexplored = n_edges
        self._pulling = False

    def choose(self, frontier: int, scout: int) -> str:
        self._unexplored -= scout
        if self._pulling:
            self._pulling = frontier * self.beta >= self._n_vertices
        else:
            self._pulling = scout * self.alpha > self._unexplored
        return "pull" if self._pulling else "push"


class Gap:
    """As Beamer, with integer division, and two habits of GAP's code.

    Only pushed levels take their edges off `edges_to_check`, so the estimate stays high after a pull; and
    pulling goes on while the frontier grows, however small it is.
    """

    alpha = 15
    beta = 18

    def __init__(self, n_vertices: int, n_edges: int) -> None:
        self._n_vertices = n_vertices
        self._edges_to_check = n_edges
        self._previous = 0
        self._pulling = False

    def choose(self, frontier: int, scout: int) -> str:
        if self._pulling:
            if frontier >= self._previous or frontier > self._n_vertices // self.beta:
                self._previous = frontier
                return "pull"
            self._pulling = False
            scout = 1
        if scout > max(self._edges_to_check, 0) // self.alpha:
            self._pulling = True
            self._previous = frontier
            return "pull"
        self._edges_to_check -= scout
        return "push"


def make_policy(name: str, n_vertices: int, n_edges: int) -> Policy:
    """Return the policy of that name: "gap", "beamer", or the forced "push" and "pull"."""
    if name in ("push", "pull"):
        return Forced(name)
    policies: dict[str, type[Gap] | type[Beamer]] = {"gap": Gap, "beamer": Beamer}
    if name not in policies:
        raise TravError(f"policy {name!r} is unknown: choose one of {', '.join([*policies, 'push', 'pull'])}")
    return policies[name](n_vertices, n_edges)
