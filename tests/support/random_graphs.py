"""Random graphs of every shape and kind of id, for property tests."""

from __future__ import annotations

import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

common = settings(max_examples=60)


def star(n):
    return [(0, leaf) for leaf in range(1, n)]


def line(n):
    return list(zip(range(n - 1), range(1, n), strict=True))


def two_components(n):
    return [(i, (i + 2) % n) for i in range(n - n % 2)] if n > 1 else []


def loops(n):
    return [(i, i) for i in range(n)]


@st.composite
def shapes(draw):
    """Return n and edges over the vertices 0 to n - 1: in any order, perhaps repeated, with self-loops."""
    n = draw(st.integers(1, 40))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    base = draw(st.sampled_from([lambda n: [], star, line, two_components, loops]))(n)
    edges = base + draw(st.lists(pairs, max_size=3 * n))
    return n, draw(st.permutations(edges))


def labels(draw, n):
    """Return ids of n vertices: consecutive, with gaps, huge, floats with whole values, strings, or pairs."""
    kind = draw(st.sampled_from(["range", "gaps", "huge", "float", "text", "pairs"]))
    if kind == "range":
        first = draw(st.integers(-50, 50))
        return draw(st.permutations(range(first, first + n)))
    if kind == "gaps":
        return draw(st.lists(st.integers(-500, 500), min_size=n, max_size=n, unique=True))
    if kind == "huge":
        return draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=n, max_size=n, unique=True))
    if kind == "float":
        whole = st.integers(-(2**50), 2**50).map(float)
        return draw(st.lists(whole, min_size=n, max_size=n, unique=True))
    characters = st.characters(codec="utf-8", exclude_characters="\0")
    if kind == "text":
        return draw(st.lists(st.text(characters, max_size=4), min_size=n, max_size=n, unique=True))
    pairs = st.tuples(st.text(characters, max_size=1), st.integers(-3, 2**40))
    return draw(st.lists(pairs, min_size=n, max_size=n, unique=True))


@st.composite
def graphs(draw):
    """Return a frame, the column names of the ends, the ids, the edges as ids, and whether it is directed."""
    n, shape = draw(shapes())
    ids = labels(draw, n)
    edges = [(ids[u], ids[v]) for u, v in shape]
    if isinstance(ids[0], tuple):
        columns = {f"u{i}": [u[i] for u, _ in edges] for i in (0, 1)}
        columns |= {f"v{i}": [v[i] for _, v in edges] for i in (0, 1)}
        ends = (["u0", "u1"], ["v0", "v1"])
    else:
        columns = {"u": [u for u, _ in edges], "v": [v for _, v in edges]}
        ends = ("u", "v")
    frame = pd.DataFrame(columns)
    frame["open"] = draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges)))
    frame["open"] = frame["open"].astype(bool)
    return frame, ends, ids, edges, draw(st.booleans())
