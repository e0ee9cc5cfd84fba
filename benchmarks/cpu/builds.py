"""Builds of a searchable graph from a frame of edges; everything from the frame on is timed.

`rapids_trav` renumbers any ids.  A rival that takes only 0 to n - 1 gets them unchanged where they have that
form (`ids as they are`), or after pandas or Arrow has encoded them.  The built graphs are compared by a
search from one id: the numbers of vertices at each distance.  SciPy adds up repeated edges.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cpu.answers import counts, of_frame, unreached
from benchmarks.cpu.contest import Contest, Contestant
from benchmarks.cpu.gap import Gap
from benchmarks.cpu.inputs import Data, title
from benchmarks.cpu.rivals import Rival, depths
from benchmarks.cpu.views import search
from rapids_trav import Graph

GRAPH, UUID_EDGES, UUID_SHARE = "rmat20", 4_000_000, 4  # UUID_SHARE: edges for each different string
STRINGS = ("object", "str", "arrow")


def uuid_frame(n_edges: int, kind: str, seed: int) -> pd.DataFrame:
    """Return edges between random UUIDs as `object`, `str` or Arrow string columns."""
    random = np.random.default_rng(seed)
    n = max(2, n_edges // UUID_SHARE)
    names = np.array([str(uuid.UUID(bytes=random.bytes(16), version=4)) for _ in range(n)], dtype=object)
    dtype: Any = kind
    if kind == "arrow":
        import pyarrow

        dtype = pd.ArrowDtype(pyarrow.string())
    ends = random.integers(0, n, (2, n_edges))
    if kind == "object":  # every cell is a separate string, as when read from a file
        columns = [pd.Series(np.array([name[:9] + name[9:] for name in names[end]], object)) for end in ends]
    else:
        columns = [pd.Series(names[end], dtype=dtype) for end in ends]
    return pd.DataFrame({"src": columns[0].astype(dtype), "dst": columns[1].astype(dtype)})


def integers(data: Data, rivals: Sequence[Rival]) -> Iterator[Contest]:
    """Build from integer columns."""
    root = data.roots(1, 0)[0]
    builders = {"scipy": _scipy, "networkit": _networkit, "igraph": _igraph}
    others = [one for rival in rivals if rival.name in builders for one in builders[rival.name](root, data.n)]
    others += [one for rival in rivals if isinstance(rival, Gap) for one in rival.build(root, data)]
    yield _contest(f"build, {title(data.name)}, integers", data.name, data.frame, root, others)


def strings(n_edges: int, kind: str, seed: int, rivals: Sequence[Rival]) -> Iterator[Contest]:
    """Build from columns of UUID strings."""
    frame = uuid_frame(n_edges, kind, seed)
    question = f"build, {n_edges:,} edges of UUID strings, `{kind}`"
    root = frame["src"].iloc[0]
    others = list(_scipy(root)) if any(rival.name == "scipy" for rival in rivals) else []
    yield _contest(question, f"uuid{n_edges}", frame, root, others)


def _contest(question: str, graph: str, frame: pd.DataFrame, root: Any, others: list[Contestant]) -> Contest:
    ours = Contestant(
        "rapids_trav", Graph.from_edges, lambda built: counts(of_frame(built.bfs(root))), "ours",
        prepare=lambda edges: edges.copy(deep=False),
    )  # fmt: skip
    return Contest(question, "builds", graph, [ours, *others], [frame], {"edges": len(frame)})


def _scipy(root: Any, n: int | None = None) -> Iterator[Contestant]:
    """Yield SciPy's builds: of the ids as they are, if there are `n`, and of encoded ids."""

    def answer(built: tuple[Any, Any]) -> np.ndarray:
        matrix, ids = built
        place = root if ids is None else int(np.flatnonzero(np.asarray(ids) == root)[0])
        return counts(depths(search(matrix, place)))

    def matrix(src: np.ndarray, dst: np.ndarray, n: int) -> Any:
        from scipy.sparse import coo_array

        rows, columns = np.concatenate([src, dst]), np.concatenate([dst, src])
        return coo_array((np.ones(len(rows)), (rows, columns)), (n, n)).tocsr()

    def factorized(frame: pd.DataFrame) -> tuple[Any, Any]:
        codes, ids = pd.factorize(pd.concat([frame["src"], frame["dst"]], ignore_index=True))
        return matrix(*np.split(codes.astype(np.int32), 2), len(ids)), ids

    def encoded(frame: pd.DataFrame) -> tuple[Any, Any]:
        import pyarrow

        parts = [chunk for end in ("src", "dst") for chunk in _arrow(frame[end])]
        whole = pyarrow.chunked_array(parts).combine_chunks()
        found = whole.dictionary_encode()
        codes, ids = found.indices.to_numpy(), found.dictionary.to_numpy(zero_copy_only=False)
        return matrix(*np.split(codes, 2), len(ids)), ids

    def as_given(frame: pd.DataFrame, n: int) -> tuple[Any, Any]:
        return matrix(frame["src"].to_numpy(), frame["dst"].to_numpy(), n), None

    if n is not None:
        yield Contestant("scipy, ids as they are", lambda frame: as_given(frame, n), answer)
    yield Contestant("pandas factorize, scipy", factorized, answer)
    if find_spec("pyarrow"):
        yield Contestant("pyarrow dictionary_encode, scipy", encoded, answer)


def _arrow(column: pd.Series) -> list[Any]:
    import pyarrow

    found = pyarrow.array(column, from_pandas=True)
    return found.chunks if isinstance(found, pyarrow.ChunkedArray) else [found]


def _networkit(root: int, n: int) -> Iterator[Contestant]:
    import networkit

    def run(frame: pd.DataFrame) -> Any:
        ends = tuple(frame[end].to_numpy().astype(np.uint64) for end in ("src", "dst"))
        return networkit.GraphFromCoo(ends, n=n)

    yield Contestant(
        "networkit GraphFromCoo, ids as they are",
        run,
        lambda graph: counts(unreached(networkit.distance.BFS(graph, root).run().getDistances())),
    )


def _igraph(root: int, n: int) -> Iterator[Contestant]:
    import igraph

    def run(frame: pd.DataFrame) -> Any:
        return igraph.Graph(n=n, edges=frame[["src", "dst"]].to_numpy().astype(np.int64))

    yield Contestant(
        "igraph Graph, ids as they are", run, lambda graph: counts(unreached(graph.distances(root)[0]))
    )
