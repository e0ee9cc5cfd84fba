"""Graphs of the shapes that searches must handle, and questions for each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from random_graphs import line, loops, star, two_components

from rapids_trav import Graph, generators

HUGE = np.array([-(2**63), 2**63 - 1, 0, 2**62 + 1, -1, 2**32])


@dataclass(frozen=True)
class Case:
    """Graph, and source vertices for searches."""

    edges: pd.DataFrame
    sources: list[Any]
    options: dict[str, Any] = field(default_factory=dict)


def _case(pairs: Any, sources: list[Any], dtype: Any = np.int64, **options: Any) -> Case:
    src, dst = (pd.Series([pair[end] for pair in pairs], dtype=dtype) for end in (0, 1))
    edges = pd.DataFrame({"src": src, "dst": dst})
    edges["open"] = np.arange(len(edges)) % 5 != 1
    return Case(edges, sources, options)


def _rmat(directed: bool) -> Case:
    edges = generators.rmat(9, 6)[["src", "dst"]].to_numpy().tolist()
    return _case(edges, [edges[0][0], edges[1][1]], directed=directed)


def _huge() -> Case:
    pairs = [(int(HUGE[u]), int(HUGE[v])) for u, v in [(0, 1), (1, 2), (3, 2), (4, 5), (5, 0), (3, 3)]]
    return _case(pairs, [int(HUGE[0]), int(HUGE[3])], directed=True)


def _strings() -> Case:
    names = ["", "a", "ä", "aa", "0", "vertex with a long name" * 3, "\n", "Z", "猫", "z"]
    rng = np.random.default_rng(4)
    pairs = [(names[u], names[v]) for u, v in rng.integers(0, len(names), (25, 2))]
    return _case(pairs, [pairs[0][0], pairs[3][1]], "str")


CASES: dict[str, Callable[[], Case]] = {
    "empty": lambda: _case([], []),
    "no edges": lambda: _case([], [5, 9], vertices=[9, 5, 7]),
    "one vertex": lambda: _case([(8, 8)], [8]),
    "self-loops": lambda: _case([*loops(40), (3, 4), (4, 5)], [3, 20]),
    "repeated edges": lambda: _case([(1, 2)] * 9 + [(2, 3), (3, 2)] * 5 + [(7, 7)] * 4, [1, 7]),
    "disconnected": lambda: _case([*two_components(40), (100, 101)], [0, 101]),
    "star": lambda: _case(star(300), [17, 0]),
    "long path": lambda: _case(line(70), [69, 30]),
    "R-MAT": lambda: _rmat(False),
    "directed R-MAT": lambda: _rmat(True),
    "directed star": lambda: _case([(v, u) for u, v in star(70)] + [(0, 99)], [5, 0], directed=True),
    "huge ids": _huge,
    "strings": _strings,
}
FEW_LEVELS = [
    "one vertex",
    "self-loops",
    "repeated edges",
    "star",
    "directed star",
    "R-MAT",
]  # ids below 1,000


def asked(case: Case) -> dict[str, Callable[[Graph], Any]]:
    """Return named questions, as functions of a graph."""
    found: dict[str, Callable[[Graph], Any]] = {"degrees": lambda graph: graph.degrees()}
    if case.sources:
        one, some = case.sources[0], case.sources
        found |= {
            "bfs": lambda graph: graph.bfs(one, deterministic=True),
            "bfs each way": lambda graph: graph.bfs(
                some, mode="each", direction="in", reached_only=True, deterministic=True
            ),
            "bfs where": lambda graph: graph.bfs(
                some, where="open", direction="both", predecessors=False, depth_limit=4
            ),
            "paths": lambda graph: graph.paths(some, one, deterministic=True),
        }
    return found
