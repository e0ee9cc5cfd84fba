"""Policies for switching between push and pull: plain arithmetic, no GPU.

S. Beamer, K. Asanovic, D. Patterson, "Direction-Optimizing Breadth-First Search", SC 2012, and the GAP
Benchmark Suite, arXiv:1508.03619, whose reference code counts a little differently.

A policy is asked once per level, with the outcome of the level before: `frontier` vertices with `scout`
out-edges in total.  It answers "push" or "pull", and assumes that its answer is carried out.
"""

from __future__ import annotations

from typing import Protocol

from rapids_trav.errors import TravError, listed


class Policy(Protocol):
    """A rule that chooses the direction of each level."""

    def choose(self, frontier: int, scout: int) -> str:
        """Return the direction for a frontier of that many vertices with that many out-edges."""


class Forced:
    """A policy that always gives the same direction."""

    def __init__(self, direction: str) -> None:
        self._direction = direction

    def choose(self, frontier: int, scout: int) -> str:
        return self._direction


class Beamer:
    """Pull once the frontier has 1/alpha of the unexplored edges, until it has fewer than n/beta vertices."""

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
    """Beamer's rule with integer division and two peculiarities of GAP's code.

    Only pushed levels subtract their edges from `edges_to_check`, so the estimate stays high after a pull;
    and pulling continues while the frontier grows, however small it is.
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
        raise TravError(f"policy={name!r} is not known: choose one of {listed([*policies, 'push', 'pull'])}.")
    return policies[name](n_vertices, n_edges)
