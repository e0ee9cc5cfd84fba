"""Codes that lead outside, narrow sums, directions, decimals, and functions of NetworkX beside its own."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse

from rapids_trav import Graph

from .cases import Case
from .oracle import answered, distances, expect

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def cases(seed: int) -> Iterator[Case]:
    """Yield fixed cases, then random ones of NetworkX's functions."""
    for name, make in DAMAGED.items():
        yield Case(f"damaged: {name}", functools.partial(_refused, make))
    for form, layout in itertools.product(FORMS, LAYOUTS):
        run = functools.partial(_layout, form, layout)
        yield Case(f"layouts: {form}, {layout}", functools.partial(answered, run))
    for dtype, kind in itertools.product((*INTEGERS, "float32", "float64"), ("coo", "csr", "csc", "edges")):
        run = functools.partial(_sum, dtype, kind)
        yield Case(f"sums: {dtype}, {kind}", functools.partial(answered, run))
    for weights in LARGE:
        run = functools.partial(_large, weights)
        yield Case(f"sums: {weights}", run if sum(weights) >= 2**63 - 1 else functools.partial(answered, run))
    for digits, whole in itertools.product((0, 2, 9, 18), (1, 17, 19, 30)):
        run = functools.partial(_decimals, digits, whole)
        yield Case(f"decimals: {whole} digits, {digits} of them after the point", run)
    generator = random.Random(seed)
    for i in range(40):
        yield Case(f"directions: {i} of seed {seed}", functools.partial(_directions, generator.random()))
    for i in range(60):
        yield Case(f"NetworkX: {i} of seed {seed}", functools.partial(_networkx, generator.random()))


def _outside(kind: str, part: str, value: int) -> Any:
    matrix = scipy.sparse.random(30, 30, 0.2, format=kind, rng=0)
    array = matrix.coords[0] if part == "coords" else getattr(matrix, part)
    array[len(array) // 2] = value
    return matrix


def _texts(place: int) -> pa.Table:
    offsets = np.arange(5, dtype=np.int32)
    offsets[2] = place
    column = pa.Array.from_buffers(pa.string(), 4, [None, pa.py_buffer(offsets), pa.py_buffer(b"abcd")])
    return pa.table({"src": column, "dst": list("bcde")})


def _codes(code: int) -> pa.Table:
    codes = pa.array([0, code, 1], pa.int32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]), safe=False)
    return pa.table({"src": column, "dst": ["b", "a", "b"]})


def _categories(code: int) -> pd.DataFrame:
    column = pd.Categorical(["a", "b", "c", "a"])
    column._ndarray[1] = code
    return pd.DataFrame({"src": column, "dst": pd.Categorical(["b", "c", "a", "b"])})


# Edges whose codes, offsets or indices lead outside; each must be refused.
DAMAGED: dict[str, Callable[[], Any]] = {
    **{
        f"{kind} {part} {value}": functools.partial(_outside, kind, part, value)
        for kind, parts in (("csr", ["indices", "indptr"]), ("csc", ["indices"]), ("coo", ["coords"]))
        for part, value in itertools.product(parts, (-1, 10**6, -(2**31)))
    },
    **{f"offsets of strings {place}": functools.partial(_texts, place) for place in (-1, 2**30, 99)},
    **{f"codes of a dictionary {code}": functools.partial(_codes, code) for code in (-1, 2, 2**31 - 1)},
    **{f"codes of a categorical {code}": functools.partial(_categories, code) for code in (-7, 3, 99)},
}  # fmt: skip


def _refused(make: Callable[[], Any]) -> None:
    graph = Graph.from_edges(make())
    expect(False, f"{graph} was built")


FORMS = ("pairs", "frame", "matrix", "sources", "weights")
LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype),
    "every other": lambda array: np.repeat(array, 2)[::2],
    "backwards": lambda array: array[::-1].copy()[::-1],
    "columns of a table": lambda array: np.column_stack([array, array])[:, 0],
    "unaligned": lambda array: np.frombuffer(b"x" + array.tobytes(), np.uint8)[1:].view(array.dtype),
}


def _layout(form: str, layout: str) -> None:
    """Check a path of a thousand vertices, whose arrays are laid out strangely."""
    lay = LAYOUTS[layout]
    ends, weights = np.arange(1001), np.full(1000, 2)
    given = lay if form != "sources" else lambda array: array
    if form == "matrix":
        matrix = scipy.sparse.csr_array((weights, (ends[:-1], ends[1:])), shape=(1001, 1001))
        matrix.indices, matrix.indptr, matrix.data = map(lay, (matrix.indices, matrix.indptr, matrix.data))
        graph = Graph.from_edges(matrix)
    elif form == "frame":
        frame = pd.DataFrame({"src": lay(ends[:-1]), "dst": lay(ends[1:]), "w": lay(weights)}, copy=False)
        graph = frame.trav.graph(weight="w")
    else:
        graph = Graph.from_edges((given(ends[:-1]), given(ends[1:]), given(weights)))
    source = lay(np.array([0]))
    expect(graph.bfs(source)["distance"].tolist() == list(range(1001)))
    expect(graph.sssp(source)["distance"].tolist() == list(range(0, 2002, 2)))


def _sum(dtype: str, kind: str) -> None:
    """Check that two equal edges have the sum of their weights, whatever the type of one."""
    most = 2**24 + 2 if dtype.startswith("float") else min(int(np.iinfo(dtype).max), 2**61)
    weights = np.array([most, most, 1], dtype)
    src, dst = np.array([0, 0, 1]), np.array([1, 1, 2])
    if kind == "edges":
        matrix = Graph.from_edges((src, dst, weights), directed=True).to_scipy()
    else:
        given = scipy.sparse.coo_array((weights, (src, dst)), shape=(3, 3))
        if kind != "coo":  # whose own conversion would add them already
            rows = scipy.sparse.csr_array((weights, dst, np.array([0, 2, 3, 3])), shape=(3, 3))
            given = rows if kind == "csr" else rows.T
        matrix = Graph.from_edges(given).to_scipy()
        matrix = matrix.T if kind == "csc" else matrix
    expect(int(matrix[0, 1]) == 2 * int(weights[0]), matrix)


LARGE = [
    *([2**62 + 5], [2**63 - 2], [2**62, 2**62 - 2], [2**62, 2**62], [10**15] * 9, [2**63 - 10, 1, 1, 1]),
    *([2**61] * 3, [2**61] * 4, [0, 2**63 - 1]),
]


def _large(weights: list[int]) -> None:
    """Check the distances along a path of large weights."""
    frame = pd.DataFrame({"src": range(len(weights)), "dst": range(1, len(weights) + 1), "w": weights})
    graph = frame.trav.graph(weight="w")
    expect(graph.sssp(0)["distance"].tolist() == [0, *itertools.accumulate(weights)])


def _decimals(digits: int, whole: int) -> None:
    """Check the distances along a path of decimals: exact if they fit, else the nearest floats."""
    unit = Decimal(1).scaleb(-digits)
    weights = [Decimal(10 ** (whole - 1) + i) * unit for i in range(3)]
    kind = pa.decimal256(60, digits) if whole > 30 else pa.decimal128(38, digits)
    ends = pa.table({"src": [0, 1, 2], "dst": [1, 2, 3], "w": pa.array(weights, kind)})
    graph = Graph.from_edges(ends, weight="w")
    found = graph.sssp(0)["distance"].to_pylist()
    right = [Decimal(0), *itertools.accumulate(weights)]
    exact = sum(weights) / unit < 2**63 - 1
    expect(found == right if exact else np.allclose(found, [float(one) for one in right]), found)


def _directions(seed: float) -> None:
    """Compare edges, distances and trees in every direction with searches of the reversed edges."""
    generator = random.Random(seed)
    n = generator.randint(2, 7)
    pairs = {(generator.randrange(n), generator.randrange(n)) for _ in range(generator.randint(1, 15))}
    frame = pd.DataFrame(sorted(pairs), columns=["src", "dst"])
    graph = frame.trav.graph(directed=True, order=generator.choice(["ids", "degree"]))
    stored = nx.DiGraph(sorted(pairs))
    for direction in ("out", "in", "both"):
        along = {"out": stored, "in": stored.reverse(), "both": stored.to_undirected()}[direction]
        source = generator.choice(list(stored))
        right = nx.single_source_shortest_path_length(along, source)
        answer = graph.bfs(source, direction=direction, reached_only=True)
        expect(dict(zip(answer["vertex"], answer["distance"], strict=True)) == right, answer)
        tree = answer.dropna(subset=["predecessor"])
        steps = zip(tree["predecessor"], tree["vertex"], strict=True)
        expect(all(along.has_edge(u, v) for u, v in steps), tree)
        named = graph.betweenness(of="edges", direction=direction)
        ends = set(zip(named["src"], named["dst"], strict=True))
        expect(ends == ({(min(e), max(e)) for e in pairs} if direction == "both" else pairs), named)
        scores = nx.edge_betweenness_centrality(along)
        for u, v, score in named.itertuples(index=False):
            pair = (v, u) if direction == "in" or (u, v) not in scores else (u, v)
            expect(abs(scores[pair] - score) < 1e-9, named)


def _networkx(seed: float) -> None:
    """Compare functions of the backend with NetworkX's own, on a frame with odd values, between changes."""
    generator = random.Random(seed)
    pool = generator.choice([["a", "b", "c", "d", None], [1, 2, 3, 2**40], [0.0, 1.5, 2.5], ["a", 1, (2,)]])
    dtype = generator.choice([object, "string" if isinstance(pool[0], str) and pool[-1] is None else object])
    ends = [pd.Series([generator.choice(pool) for _ in range(12)], dtype=dtype) for _ in range(2)]
    frame = pd.DataFrame({"source": ends[0], "target": ends[1], "w": range(12)})
    kind = generator.choice([nx.Graph, nx.DiGraph])
    try:
        right = nx.from_pandas_edgelist(frame, edge_attr="w", create_using=kind, backend="networkx")
    except ValueError:  # None among objects is no node
        return
    own = nx.from_pandas_edgelist(frame, edge_attr="w", create_using=kind, backend="trav")
    for _ in range(4):
        expect(list(map(repr, own.edges(data=True))) == list(map(repr, right.edges(data=True))), frame)
        source = generator.choice(list(right))
        pairs = list(right.edges) if kind is nx.Graph else []
        found = nx.single_source_shortest_path_length(own, source, backend="trav")
        expect(found == nx.single_source_shortest_path_length(right, source, backend="networkx"), frame)
        expect(kind is nx.DiGraph or found == distances(pairs, [source]), frame)
        weighted = nx.single_source_dijkstra_path_length(own, source, weight="w", backend="trav")
        expect(weighted == nx.single_source_dijkstra_path_length(right, source, weight="w"), frame)
        u, v = (generator.choice([*right, "new"]) for _ in range(2))
        for graph in (own, right):
            graph.add_edge(u, v, w=3)
