"""The graphs of the CPU benchmark: arrays of edges for all libraries, in the same ids 0 to n - 1.

Names are those of `bench.graphs`, and `shuffled-path<n>`, whose vertices are in random order.  Any other
name is a file of edges that `rapids_trav.io.read_edges` reads, with columns `src` and `dst` (or `source`
and `destination`), taken as undirected.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import graphs
from rapids_trav import Graph
from rapids_trav.io import read_edges
from rapids_trav.storage.in_memory import MemoryView

SHUFFLED = re.compile(r"shuffled-path([1-9]\d*)")
GENERATED = re.compile(r"(rmat|grid|path|star|geometric|lattice)[\dx]+")
TITLES = (
    (re.compile(r"rmat(\d+)"), "R-MAT {0}"),
    (re.compile(r"grid(\d+)"), "{0} x {0} grid"),
    (re.compile(r"shuffled-path(\d+)"), "path of {0:,} in shuffled order"),
    (re.compile(r"(path|star)(\d+)"), "{0} of {1:,}"),
)


def title(name: str) -> str:
    """Return the title of a graph in tables."""
    for pattern, words in TITLES:
        if match := pattern.fullmatch(name):
            return words.format(*(int(part) if part.isdigit() else part for part in match.groups()))
    return {"facebook": "Facebook"}.get(name, name)


class Data:
    """A graph for all contestants: `n` vertices, and edges that are undirected unless `directed`."""

    def __init__(
        self, name: str, n: int, src: np.ndarray, dst: np.ndarray, *,
        weight: np.ndarray | None = None, directed: bool = False,
    ) -> None:  # fmt: skip
        self.name, self.n, self.src, self.dst = name, n, src, dst
        self.weight, self.directed = weight, directed
        self._converted: dict[str, Any] = {}

    @cached_property
    def frame(self) -> pd.DataFrame:
        weights = {} if self.weight is None else {"weight": self.weight}
        return pd.DataFrame({"src": self.src, "dst": self.dst, **weights})

    @cached_property
    def graph(self) -> Graph:
        """This package's graph, with all `n` vertices, so that its internal ids are the common ids."""
        weight = None if self.weight is None else "weight"
        vertices = np.arange(self.n, dtype=self.src.dtype)
        graph = Graph.from_edges(self.frame, directed=self.directed, weight=weight, vertices=vertices)
        if not np.array_equal(graph.ids.decode(np.arange(self.n))[0], vertices):
            raise RuntimeError(f"the graph numbers the vertices of {self.name} in another order")
        return graph

    @property
    def view(self) -> MemoryView:
        return self.graph.storage.view("out")

    @cached_property
    def matrix(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Row offsets, columns and weights of the adjacency, undirected edges in both directions."""
        weighted = self.weight is not None
        found = self.graph.storage.gather_view("in", weighted=weighted) if weighted else None
        out = self.view.out if found is None else found.into
        return out.row_offsets, out.column_indices, found and found.weights

    def roots(self, count: int, seed: int) -> list[int]:
        """Draw vertices with out-edges."""
        candidates = graphs.with_neighbor(self.src, self.dst, self.directed)
        return [int(root) for root in graphs.draw(candidates, count, seed, np)]

    def converted(self, key: str, make: Callable[[], Any]) -> Any:
        """Return a library's form of the graph, made at first use."""
        if key not in self._converted:
            self._converted[key] = make()
        return self._converted[key]


def load(name: str, *, weights: str | None = None, seed: int = 1) -> Data:
    """Return the graph of that name; `weights` is "integers" (1 to 255) or "floats" (0 to 1)."""
    src, dst, n, directed = _edges(name, seed)
    random = np.random.default_rng(seed)
    weight = None
    if weights == "integers":
        weight = random.integers(1, 256, len(src), dtype=np.int32)
    elif weights == "floats":
        weight = random.random(len(src))
    return Data(name, n, src, dst, weight=weight, directed=directed)


def _edges(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, int, bool]:
    if match := SHUFFLED.fullmatch(name):
        order = np.random.default_rng(seed).permutation(int(match[1])).astype(np.int32)
        return order[:-1].copy(), order[1:].copy(), len(order), False
    if match := re.fullmatch(r"star([1-9]\d*)", name):
        leaves = np.arange(1, int(match[1]), dtype=np.int32)
        return np.zeros_like(leaves), leaves, len(leaves) + 1, False
    known = graphs.check_name(name) is None
    frame = graphs.load(name, "pandas") if known else read_edges(Path(name))
    ends = ("src", "dst") if "src" in frame.columns else ("source", "destination")
    src, dst = (frame[end].to_numpy() for end in ends)
    directed = known and graphs.is_directed(name)
    if rmat := graphs.of_rmat(name):
        return src, dst, 1 << rmat[0], False
    if GENERATED.fullmatch(name):
        return src, dst, int(max(src.max(), dst.max())) + 1, False
    ids, codes = np.unique(np.concatenate([src, dst]), return_inverse=True)
    codes = codes.astype(np.int32)
    return codes[: len(src)], codes[len(src) :], len(ids), directed


def directed(name: str, seed: int = 1) -> Data:
    """Return the graph of that name with its edges taken as directed."""
    data = load(name, seed=seed)
    return Data(data.name, data.n, data.src, data.dst, directed=True)


def simple(data: Data) -> Data:
    """Return the graph with each edge once and no self-loops, which libraries treat differently."""
    low, high = np.minimum(data.src, data.dst), np.maximum(data.src, data.dst)
    key = np.unique(low.astype(np.int64)[low != high] * data.n + high[low != high])
    ends = (part.astype(data.src.dtype) for part in (key // data.n, key % data.n))
    return Data(data.name, data.n, *ends)
