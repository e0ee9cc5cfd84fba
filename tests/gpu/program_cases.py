"""Weighted graphs, their gather views on either engine, and the questions of the program tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from pairs import FULL

from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs import shipped
from rapids_trav.programs.run_state import RunState

from .small_graphs import GRAPHS, Graph, grid, path, random, star


def rmat(scale: int, symmetric: bool, edge_factor: int = 16, seed: int = 1) -> Graph:
    """Return a Kronecker graph with the Graph500's probabilities and shuffled labels."""
    generator = np.random.default_rng(seed)
    n, m = 1 << scale, edge_factor << scale
    u, v = np.zeros((2, m), np.int64)
    for bit in range(scale):
        down = generator.random(m) > 0.76
        across = generator.random(m) > np.where(down, 0.19 / 0.24, 0.57 / 0.76)
        u += down.astype(np.int64) << bit
        v += across.astype(np.int64) << bit
    label = generator.permutation(n)
    return Graph(n, label[u], label[v], symmetric)


def wheel(n_hubs: int, leaves: int) -> Graph:
    """Return hubs joined to every leaf, so that their rows have many pieces, and the leaves in a ring."""
    leaf = np.arange(n_hubs, n_hubs + leaves)
    u = np.concatenate([np.repeat(np.arange(n_hubs), leaves), leaf])
    v = np.concatenate([np.tile(leaf, n_hubs), np.roll(leaf, 1)])
    return Graph(n_hubs + leaves, u, v, symmetric=True)


CASES = {
    **{name: GRAPHS[name] for name in ("nine", "star", "path", "grid", "loops", "multi", "one", "no edges")},
    "directed": random(700, 4000, symmetric=False),
    "undirected": random(700, 4000, symmetric=True),
    "long path": path(200),
    "square": grid(40),
    "big star": star(70_000),
    "wheel": wheel(3, 40_000),
    "rmat": rmat(12, symmetric=True),
    "directed rmat": rmat(12, symmetric=False),
}

# 70,000 vertices: in rows of their own, and in all others before a release.
LARGE_CASES = ("wheel",) if FULL else ()

# Functions of a program that sums integers and uses every argument; its parameter is a modulus.
SUMMING = {
    "scatter": lambda value, degree: value % 7 + degree % 3,
    "gather": lambda message, weight: message * weight,
    "apply": lambda value, gathered, total, parameters: (value + gathered) % int(parameters[0]),
}


def weights_of(graph: Graph, dtype: str) -> np.ndarray:
    generator = np.random.default_rng(len(graph.u))
    weights = generator.random(len(graph.u)) + 0.25
    return (10 * weights).astype(dtype) if np.dtype(dtype).kind == "i" else weights.astype(dtype)


def gather_view(graph: Graph, engine, weight: str | None = None) -> GatherView:
    """Return a view with everything that a program needs, built by the engine."""
    xp = engine.xp
    u, v = xp.asarray(graph.u), xp.asarray(graph.v)
    ends = (u, v) if weight is None else (u, v, xp.asarray(weights_of(graph, weight)))
    chunks = lambda: iter([ends])  # noqa: E731
    into = engine.build_adjacency(chunks, graph.n, symmetric=graph.symmetric, transpose=not graph.symmetric)
    bare = replace(into, weights=None)
    out = into if graph.symmetric else engine.build_adjacency(chunks, graph.n)
    handed = bare if graph.symmetric else replace(out, weights=None)
    if weight is None:
        degrees = xp.diff(handed.row_offsets).astype(xp.int64)
    else:
        source, _ = graph.edges
        own = weights_of(graph, weight).astype(np.float64)
        every = own if not graph.symmetric else np.concatenate([own, own[graph.u != graph.v]])
        degrees = xp.asarray(np.bincount(source, every, graph.n).astype(np.float64))
    return GatherView(bare, handed, into.weights, degrees, out_weights=out.weights)


def start(program, n: int, values, active, xp) -> RunState:
    return RunState(xp.asarray(np.asarray(values, program.dtype)), xp.asarray(np.broadcast_to(active, n)))


def root(graph: Graph) -> int:
    """Return the vertex with the most out-edges; from a vertex without any, nothing would be reached."""
    return int(np.bincount(graph.edges[0], minlength=graph.n).argmax())


def question(name: str, graph: Graph, dtype: str | None = None):
    """Return the program of a name with its first values, active vertices and options."""
    n = graph.n
    source = np.arange(n) == root(graph)
    if name == "components":
        return shipped.connected_components(), np.arange(n), np.ones(n, bool), RunOptions()
    if name == "bfs":
        program = shipped.breadth_first()
        return program, np.where(source, 0, np.iinfo(np.int32).max), source, RunOptions()
    if name == "sssp":
        program = shipped.shortest_paths(dtype or "float32")
        first = np.where(source, 0, program.identity)
        return program, first, source, RunOptions(weighted=True)
    program = shipped.pagerank(dtype=dtype or "float64", tolerance=1e-6)
    options = RunOptions(max_iterations=60, parameters=(0.85, 1 / max(n, 1)))
    return program, np.full(n, 1 / max(n, 1)), np.ones(n, bool), options


def labelled(graph, **how):
    """Return what labels give: for each vertex the smallest place in its component."""
    return graph.run(shipped.connected_components(), initial=range(graph.n_vertices), direction="both", **how)
