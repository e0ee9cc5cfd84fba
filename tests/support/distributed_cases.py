"""Edges and questions for comparing graphs on workers with the same graph in this process."""

from __future__ import annotations

import numpy as np
import pandas as pd

SOURCES = [0, 7]
N = 60


def edges_of(kind: str = "int", n_edges: int = 90, seed: int = 3) -> pd.DataFrame:
    """Return random edges with ids of a kind; vertices 0 to 9 occur, and a few are not reached from 0."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, N, n_edges), rng.integers(0, N, n_edges)
    src[:10], dst[:10] = np.arange(10), np.arange(1, 11)
    edges = pd.DataFrame({"src": ids(src, kind), "dst": ids(dst, kind)})
    edges["open"] = rng.random(n_edges) < 0.8
    edges["kind"] = [f"k{i % 3}" for i in range(n_edges)]
    return edges


def as_dask_has_them(edges: pd.DataFrame) -> pd.DataFrame:
    """Return the edges with the dtypes that Dask gives to strings."""
    import dask.dataframe

    return dask.dataframe.from_pandas(edges, npartitions=1).compute(scheduler="sync")


def ids(numbers, kind: str):
    """Return numbers as ids of a kind, in the same order."""
    numbers = np.asarray(numbers)
    if kind == "int":
        return numbers
    if kind == "wide":
        return numbers.astype(np.int64) * 10**14 - 5
    if kind == "float":
        return numbers.astype(np.float64)
    if kind == "date":
        return pd.Timestamp("2020-01-01") + pd.to_timedelta(numbers, unit="D")
    if kind == "category":
        return pd.Categorical([f"v{i:03}" for i in numbers], [f"v{i:03}" for i in range(N + 1)])
    return [f"v{i:03}" for i in numbers]


def of(kind: str, numbers):
    """Return ids as a caller gives them: a list for a list of numbers, otherwise one id."""
    named = list(pd.Series(ids(np.atleast_1d(numbers), kind)))
    return named if isinstance(numbers, list) else named[0]


def answers(answer) -> list[pd.DataFrame]:
    """Return the frames of an answer, computed."""
    frames = list(answer) if isinstance(answer, tuple) else [answer]
    return [frame.compute() if hasattr(frame, "compute") else frame for frame in frames]


def questions(kind: str = "int") -> dict:
    """Return named questions, as functions of a graph."""
    one, some = of(kind, 0), of(kind, SOURCES)
    targets = of(kind, [3, 5, 3])
    asked = {
        "bfs": lambda graph: graph.bfs(one, deterministic=True),
        "bfs of several": lambda graph: graph.bfs(some, deterministic=True),
        "bfs of repeated": lambda graph: graph.bfs([*some, *some], deterministic=True),
        "bfs each": lambda graph: graph.bfs(some, mode="each", deterministic=True),
        "bfs each of repeated": lambda graph: graph.bfs([*some, some[0]], mode="each", deterministic=True),
        "bfs each reached": lambda graph: graph.bfs(
            some, mode="each", deterministic=True, reached_only=True, depth_limit=2
        ),
        "bfs without predecessors": lambda graph: graph.bfs(one, predecessors=False),
        "bfs of no level": lambda graph: graph.bfs(one, depth_limit=0),
        "bfs of two levels": lambda graph: graph.bfs(one, depth_limit=2, deterministic=True),
        "bfs with targets": lambda graph: graph.bfs(one, targets=targets, deterministic=True),
        "bfs inwards": lambda graph: graph.bfs(one, direction="in", deterministic=True),
        "bfs both ways": lambda graph: graph.bfs(one, direction="both", deterministic=True),
        "bfs where": lambda graph: graph.bfs(one, where="open", deterministic=True),
        "bfs reached": lambda graph: graph.bfs(one, reached_only=True, depth_limit=2, deterministic=True),
        "paths": lambda graph: graph.paths(one, targets, deterministic=True),
        "paths each": lambda graph: graph.paths(some, targets, mode="each", deterministic=True),
        "paths not found": lambda graph: graph.paths(one, targets, depth_limit=1, deterministic=True),
        "levels": lambda graph: graph.levels(one),
        "levels each": lambda graph: graph.levels(some, mode="each", depth_limit=3),
        "levels where": lambda graph: graph.levels(one, where="open"),
        "khop": lambda graph: graph.khop(one, 2),
        "khop where": lambda graph: graph.khop(some, 1, where="open"),
        "khop of no step": lambda graph: graph.khop(some, 0),
        "khop inwards": lambda graph: graph.khop(one, 2, direction="in"),
    }
    for direction in ("out", "in", "both"):
        asked[f"degrees {direction}"] = lambda graph, direction=direction: graph.degrees(direction)
    return asked


QUESTIONS = questions()
NAMED = list(QUESTIONS)
