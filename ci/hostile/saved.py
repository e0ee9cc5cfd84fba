"""Saved graphs and checkpoints as bytes that can be edited with matching checksums, and checks of answers."""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rapids_trav import Graph, TravError
from rapids_trav.csr.adjacency import EdgeList, sources
from rapids_trav.saved.write import HEAD, head_bytes

Place = tuple[str | int, ...]  # path to a value in JSON


@dataclass(frozen=True)
class Saved:
    """A saved graph in memory; `files` are those beside `head`, which lacks its own checksum."""

    name: str
    head: Any
    files: Mapping[str, bytes]

    @classmethod
    def of(cls, name: str, graph: Graph) -> Saved:
        """Return the folder as which a graph is saved."""
        with tempfile.TemporaryDirectory() as folder:
            graph.save(Path(folder, "graph"))
            files = {path.name: path.read_bytes() for path in Path(folder, "graph").iterdir()}
        head = json.loads(files.pop(HEAD))
        del head["crc32"]
        return cls(name, head, files)

    def edited(self, place: Place, value: Any) -> Saved:
        """Return a copy with another value in the head."""
        head = json.loads(json.dumps(self.head))
        if not place:
            return replace(self, head=value)
        at = head
        for step in place[:-1]:
            at = at[step]
        at[place[-1]] = value
        return replace(self, head=head)

    def without(self, place: Place) -> Saved:
        """Return a copy without a field of the head."""
        head = json.loads(json.dumps(self.head))
        at = head
        for step in place[:-1]:
            at = at[step]
        del at[place[-1]]
        return replace(self, head=head)

    def with_file(self, name: str, content: bytes, dtype: str | None = None) -> Saved:
        """Return a copy with another file, whose size and checksum (and dtype) the head states."""
        entry = self.head["files"][name] | {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
        if dtype is not None:
            entry["dtype"] = dtype
        files = {**self.files, name: content}
        return replace(self.edited(("files", name), entry), files=files)

    def write(self, folder: Path) -> Path:
        """Write the folder, with a matching checksum of the head."""
        try:
            content = head_bytes(self.head)
        except (TypeError, ValueError):  # the head is not a JSON object
            content = json.dumps(self.head).encode()
        return self.write_with(folder, content)

    def write_with(self, folder: Path, head: bytes) -> Path:
        """Write the folder, with these bytes for the head."""
        folder.mkdir()
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        (folder / HEAD).write_bytes(head)
        return folder


def bases() -> list[Saved]:
    """Return graphs with each kind of file: consecutive ids; degree order, gaps; categories and strings."""
    random = np.random.default_rng(0)
    src, dst = random.integers(0, 40, (2, 90))
    edges = pd.DataFrame({"src": src, "dst": dst, "cost": random.random(90)})
    plain = edges.assign(cost=random.integers(1, 9, 90))
    gaps = edges.assign(src=src * 1000 + 7, dst=dst * 1000 + 7)
    letters = pd.Categorical.from_codes(src % 5, list("zyxwv"), ordered=True)
    other = pd.Categorical.from_codes(dst % 5, list("zyxwv"), ordered=True)
    columns = pd.DataFrame({"a": letters, "b": src % 7, "c": other, "d": dst % 7})
    columns.loc[0, ["a", "b"]] = ["x", 2]
    in_paths = gaps.trav.graph(weight="cost", vertices=[7], degree_sort=True)
    in_paths.path_layout(4)
    chained = columns.trav.graph(["a", "b"], ["c", "d"], directed=True)
    chained.path_layout()
    return [
        Saved.of("plain", plain.trav.graph(weight="cost", vertices=list(range(40)))),
        Saved.of("sorted", in_paths),
        Saved.of("columns", chained),
    ]


def leaves(value: Any, place: Place = ()) -> list[Place]:
    """Return the paths of all values in JSON, containers included."""
    found = [place]
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for step, inner in items:
        found += leaves(inner, (*place, step))
    return found


def opening(make: Callable[[Path], Path], verify: bool | None = None) -> Callable[[], None]:
    """Return a case that makes a folder, opens the graph in it and, if that succeeds, checks its answers."""

    def run() -> None:
        judge(Graph.open(make(Path.cwd()), engine="cpu", verify=verify))

    return run


def judge(graph: Graph) -> None:
    """Compare answers with those of a graph built from the edges and vertices that this one returns."""
    ids = graph.bfs(_first(graph), predecessors=False).drop(columns="distance")
    chosen = ids.iloc[:, 0] if ids.shape[1] == 1 else ids
    edges = graph.khop(chosen, 0).edges
    assert len(edges) == graph.n_edges, "khop does not give all edges"
    src = [f"src_{i}" for i in range(ids.shape[1])]
    dst = [f"dst_{i}" for i in range(ids.shape[1])]
    weight = None if graph.weight is None else "weight"
    edges = edges.set_axis([*src, *dst, *(["weight"] if weight else [])], axis=1)
    how = {"directed": graph.directed, "weight": weight, "vertices": chosen, "engine": "cpu"}
    try:
        other = edges.trav.graph(src, dst, **how)
    except TravError as error:
        raise AssertionError("an opened graph cannot be built") from error
    asked = [_first(graph), tuple(ids.iloc[-1]) if ids.shape[1] > 1 else ids.iloc[-1, 0]]
    for source in asked:
        same(graph.bfs(source, predecessors=False), other.bfs(source, predecessors=False))
        same(graph.bfs(source, deterministic=True), other.bfs(source, deterministic=True))
        same(graph.khop(source, 2).vertices, other.khop(source, 2).vertices)
        assert len(graph.khop(source, 2).edges) == len(other.khop(source, 2).edges)
    same(graph.components(), other.components())
    rows = graph.contents.storage.forward(weighted=weight is not None)
    for relaxed in graph.contents.storage.layouts:
        layout = graph.path_layout(relaxed)
        layout.active_paths(np.ones(graph.n_vertices, bool))
        plain = EdgeList(sources(rows, 0, rows.n_edges, np), rows.column_indices)
        found, wanted = _sorted_edges(layout.edges(), layout.weights), _sorted_edges(plain, rows.weights)
        assert found == wanted, "the paths hold other edges"
    if weight and float(edges["weight"].min()) >= 0:
        same(graph.sssp(asked[0], predecessors=False), other.sssp(asked[0], predecessors=False))


def _sorted_edges(edges: EdgeList, weights: np.ndarray | None) -> list[tuple[float, ...]]:
    columns = [edges.src, edges.dst, *([] if weights is None else [weights])]
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def _first(graph: Graph) -> Any:
    columns = graph.contents.id_columns("vertex")
    row = tuple(next(iter(pd.Series(column))) for column in columns.values())
    return row if len(row) > 1 else row[0]


def same(one: pd.DataFrame, other: pd.DataFrame) -> None:
    """Raise an error if the rows of two answers differ, regardless of their types."""
    pd.testing.assert_frame_equal(one.astype(object), other.astype(object), check_column_type=False)
