"""Path layouts are saved with their graph, and opened without being computed again (SYSTEMS L2)."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, TravError
from rapids_trav.generators import grid, rmat
from rapids_trav.published.largegraph import path_decomposition
from rapids_trav.saved import write
from rapids_trav.storage.mapped_arrays import place_of

PARTS = ("vertices", "starts", "weights")
NAMES = [f"paths_{relaxed}_{part}.npy" for relaxed in (0, 4) for part in PARTS]


def weighted(directed=True, order="degree"):
    edges = rmat(6, 3, seed=2)
    edges["w"] = np.arange(len(edges)) % 5 + 0.5
    return edges.trav.graph(directed=directed, weight="w", order=order)


@pytest.fixture
def saved(tmp_path):
    """A folder with strict paths and relaxed ones."""
    graph = weighted()
    graph.path_layout(4)
    graph.path_layout()
    graph.save(tmp_path / "graph")
    return tmp_path / "graph"


@pytest.fixture
def not_computed(monkeypatch):
    """Make a decomposition fail."""

    def refuse(*_):
        raise AssertionError("the paths were computed")

    return lambda: monkeypatch.setattr(path_decomposition, "decompose", refuse)


def head_of(folder):
    head = json.loads((folder / "graph.json").read_text())
    del head["crc32"]
    return head


def rewrite(folder, name, values):
    """Replace an array by another, with a head that matches it."""
    head = head_of(folder)
    head["files"][f"{name}.npy"] = write._write_array(folder / f"{name}.npy", np.asarray(values))
    write._write_head(folder / "graph.json", head)


def edit(folder, **fields):
    write._write_head(folder / "graph.json", head_of(folder) | fields)


def assert_same(found, wanted):
    assert (found.relaxed, found.n_vertices) == (wanted.relaxed, wanted.n_vertices)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(found, part), getattr(wanted, part))


@pytest.mark.parametrize("order", ["ids", "degree", "locality"])
@pytest.mark.parametrize("directed", [False, True])
def test_layouts_are_opened_as_they_were_saved(tmp_path, not_computed, directed, order):
    graph = weighted(directed, order)
    wanted = [graph.path_layout(relaxed) for relaxed in (0, 3, 8)]
    graph.save(tmp_path / "graph")
    not_computed()
    opened = Graph.open(tmp_path / "graph", engine="cpu")
    opened.save(tmp_path / "again")
    for folder in ("graph", "again"):
        opened = Graph.open(tmp_path / folder, engine="cpu", verify=folder == "graph")
        for layout in wanted:
            found = opened.path_layout(layout.relaxed)
            assert_same(found, layout)
            assert {place_of(part) for part in found.parts} == {"disk"}
        places = dict(zip(*opened.memory()[["structure", "place"]].to_numpy().T, strict=True))
        assert places["strict paths"] == places["paths of up to 3 edges"] == "disk"
    with pytest.raises(AssertionError, match="the paths were computed"):
        opened.path_layout(5)


def test_a_layout_is_computed_once(not_computed):
    graph = weighted()
    first = graph.path_layout(4)
    not_computed()
    assert_same(graph.path_layout(4), first)
    assert graph.path_layout(4).vertices.base is first.vertices.base
    for part in first.parts:
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1
    held = graph.memory().set_index("structure")["bytes"]
    assert held["paths of up to 4 edges"] == first.nbytes


def test_a_kept_layout_is_outside_the_limit(tmp_path):
    """What is kept of it would leave no room for the next question; it is in a file."""
    edges = grid(60, 60)
    for limit in ("280kB", "2MB"):
        with edges.trav.graph(memory_limit=limit, spill=tmp_path) as graph:
            used = graph.budget.used
            wanted = edges.trav.graph().path_layout(8)
            assert_same(graph.path_layout(8), wanted)
            assert graph.budget.used == used and graph.budget.peak <= graph.budget.limit
            assert {place_of(part) for part in graph.path_layout(8).parts} == {"disk"}


@pytest.mark.parametrize("directed", [False, True])
def test_graphs_without_edges_or_weights(tmp_path, directed):
    none = pd.DataFrame({"src": np.empty(0, int), "dst": np.empty(0, int), "w": np.empty(0)})
    for name, graph in (
        ("none", none.trav.graph(directed=directed, vertices=[1, 2], weight="w")),
        ("plain", rmat(5, 3, seed=1).trav.graph(directed=directed)),
    ):
        wanted = graph.path_layout(2)
        graph.save(tmp_path / name)
        found = Graph.open(tmp_path / name, engine="cpu").path_layout(2)
        assert found.n_paths == wanted.n_paths
        np.testing.assert_array_equal(found.vertices, wanted.vertices)
        assert (found.weights is None) == (wanted.weights is None)


def test_the_version_tells_older_releases_that_there_are_layouts(saved, tmp_path):
    assert (head_of(saved)["version"], head_of(saved)["path_layouts"]) == (2, [0, 4])
    assert sorted(NAMES) == sorted(path.name for path in saved.glob("paths_*"))
    weighted().save(tmp_path / "without")
    assert head_of(tmp_path / "without")["version"] == 1
    assert not Graph.open(tmp_path / "without", engine="cpu").contents.storage.layouts
    edit(saved, version=1)
    with pytest.raises(TravError, match=r"holds 'path_layouts' in the head, which such a graph does not"):
        Graph.open(saved, engine="cpu")
    edit(saved, version=3)
    with pytest.raises(TravError, match="has format version 3, but this release reads 1 and 2: save"):
        Graph.open(saved, engine="cpu")


@pytest.mark.parametrize("layouts", [None, [], 4, "04", {}, [4, 0], [0, 0], [-1], [True], [0.0], [1 << 62]])
def test_heads_with_a_wrong_list_of_layouts(saved, layouts):
    edit(saved, path_layouts=layouts)
    with pytest.raises(TravError, match=r"has path_layouts=.*, which should be an ascending list of numbers"):
        Graph.open(saved, engine="cpu")


def test_layouts_and_files_that_do_not_match(saved):
    edit(saved, path_layouts=[0, 4, 5])
    with pytest.raises(TravError, match=r"lacks 'paths_5_vertices\.npy' in files: restore it from a copy"):
        Graph.open(saved, engine="cpu")
    edit(saved, path_layouts=[0])
    with pytest.raises(TravError, match=r"holds 'paths_4_\w+\.npy' in files, which such a graph does not"):
        Graph.open(saved, engine="cpu")


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("relaxed", [0, 4])
def test_starts_that_are_none(saved, relaxed, verify):
    """The checksums fit, but the starts lead out of the array, back, to empty paths or past an edge."""
    name = f"paths_{relaxed}_starts"
    starts = np.load(saved / f"{name}.npy")
    wrong = []
    for place, value in (
        (0, 1),
        (0, -1),
        (3, starts[2]),
        (3, starts[2] + 1),
        (3, -5),
        (3, 2**31 - 1),
        (-1, 7),
    ):
        wrong.append(starts.copy())
        wrong[-1][place] = value
    for values in (*wrong, starts[:-1], np.append(starts, starts[-1]), starts[:0], starts[:1]):
        rewrite(saved, name, values)
        with pytest.raises(TravError, match=rf"{name}\.npy does not cut the edges of the graph into paths:"):
            Graph.open(saved, engine="cpu", verify=verify)


@pytest.mark.parametrize("verify", [True, False])
def test_vertices_and_weights_that_are_none(saved, verify):
    vertices = np.load(saved / "paths_0_vertices.npy")
    for value in (-1, Graph.open(saved, engine="cpu").n_vertices, 2**31 - 1):
        rewrite(
            saved, "paths_0_vertices", np.where(np.arange(len(vertices)) == 5, value, vertices).astype("i4")
        )
        with pytest.raises(
            TravError, match=r"paths_0_vertices\.npy holds edges to none of the \d+ vertices:"
        ):
            Graph.open(saved, engine="cpu", verify=verify)
    rewrite(saved, "paths_0_vertices", vertices)
    weights = np.load(saved / "paths_4_weights.npy")
    for values, what in (
        (np.where(weights == weights[3], np.nan, weights), r"weights\.npy holds NaN, which is not a weight"),
        (weights[:-1], r"starts\.npy does not cut the edges"),
        (weights.astype("f4"), r"starts\.npy does not cut the edges"),
    ):
        rewrite(saved, "paths_4_weights", values)
        with pytest.raises(TravError, match=rf"paths_4_{what}"):
            Graph.open(saved, engine="cpu", verify=verify)


def test_paths_of_other_edges_are_noticed_when_verified(saved):
    """Without `verify` answers may differ, but nothing breaks."""
    kept = {part: np.load(saved / f"paths_0_{part}.npy") for part in PARTS}
    vertices, weights = kept["vertices"].copy(), kept["weights"].copy()
    vertices[1] = (vertices[1] + 1) % head_of(saved)["n_vertices"]
    weights[2] += 0.25
    for name, values in (("paths_0_vertices", vertices), ("paths_0_weights", weights)):
        rewrite(saved, name, values)
        with pytest.raises(
            TravError, match=r"paths_0_vertices\.npy holds paths of other edges than those of the"
        ):
            Graph.open(saved, engine="cpu")
        layout = Graph.open(saved, engine="cpu", verify=False).path_layout()
        assert layout.active_paths(np.ones(layout.n_vertices, bool)).all()
        rewrite(saved, name, kept[name.split("_")[-1]])
    Graph.open(saved, engine="cpu")


def test_paths_of_another_kind_are_noticed_when_verified(saved):
    def swap(one, other):
        for part in PARTS:
            rewrite(saved, f"paths_{one}_{part}", kept[other][part])

    kept = {relaxed: {part: np.load(saved / f"paths_{relaxed}_{part}.npy") for part in PARTS}
            for relaxed in (0, 4)}  # fmt: skip
    swap(0, 4)
    Graph.open(saved, engine="cpu", verify=False)
    with pytest.raises(
        TravError, match=r"paths_0_vertices\.npy holds a strict path that goes on at a vertex"
    ):
        Graph.open(saved, engine="cpu")
    swap(0, 0)
    head = head_of(saved)
    for part in PARTS:
        head["files"][f"paths_3_{part}.npy"] = head["files"].pop(f"paths_4_{part}.npy")
        (saved / f"paths_4_{part}.npy").rename(saved / f"paths_3_{part}.npy")
    write._write_head(saved / "graph.json", head | {"path_layouts": [0, 3]})
    with pytest.raises(TravError, match=r"paths_3_vertices\.npy holds a path of more than 3 edges"):
        Graph.open(saved, engine="cpu")


def test_the_edges_are_compared_in_any_order_of_paths(saved):
    """Other paths of the same edges, as another number of threads makes them, are as good."""
    rows = weighted().contents.storage.forward(weighted=True)
    other = path_decomposition.decompose(rows, 4, n_ranges=3)
    assert len(other.starts) != len(np.load(saved / "paths_4_starts.npy"))
    for part in PARTS:
        rewrite(saved, f"paths_4_{part}", getattr(other, part))
    assert_same(Graph.open(saved, engine="cpu").path_layout(4), other)
