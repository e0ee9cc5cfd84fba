"""A graph saved by ranks is the same when other ranks open it, and all ranks report damage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pairs import pairs
from rank_cases import Spread, joined, same, spread

from rapids_trav import Graph, generators
from rapids_trav.distributed.ranks import service
from rapids_trav.distributed.ranks.rank import RankState
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.errors import TravError


def opened(folder, size, local):
    graph = Spread(size, [RankState(None, "cpu") for _ in range(size)], local)
    told = graph.on_all(service.open_saved, str(folder))
    assert told[0]["n_edges"] == local.n_edges
    return graph


def edges_of(kind):
    edges = generators.rmat(6, 4)[["src", "dst"]] * 3
    if kind == "strings":
        return edges.astype(str)
    if kind == "categories":
        return edges.astype(str).astype(pd.CategoricalDtype(sorted(map(str, range(192)))))
    if kind == "pairs":
        return pd.DataFrame({f"{end}{i}": edges[end] // (8**i) % 8 for end in edges for i in (0, 1)})
    return edges


@pairs(kind=["integers", "strings", "categories", "pairs"], size=[1, 4, 6], directed=[False, True])
def test_a_saved_graph_is_opened_by_any_number_of_ranks(kind, directed, size, tmp_path):
    edges = edges_of(kind)
    ends = (["src0", "src1"], ["dst0", "dst1"]) if kind == "pairs" else ("src", "dst")
    graph = spread(edges, (2, 2), src=ends[0], dst=ends[1], directed=directed)
    graph.ask("save", str(tmp_path / "graph"))
    graph.local.save(tmp_path / "local")
    local = Graph.open(tmp_path / "local", engine="cpu")
    found = opened(tmp_path / "graph", size, local)
    source = [tuple(edges.iloc[0, :2])] if kind == "pairs" else [edges["src"].iloc[0]]
    for direction in ("out", "both"):
        asked = {"direction": direction, "deterministic": True}
        same(found.frame("bfs", source, **asked), local.bfs(source, **asked))
        same(found.frame("degrees", direction), local.degrees(direction))
    assert set(found.ask("n_duplicate_edges")) == {local.n_duplicate_edges}
    kept = found.ask("khop", source, 1)
    wanted = local.khop(source, 1)
    same(joined([of.frames["vertices"] for of in kept]), wanted.vertices)
    same(joined([of.frames["edges"] for of in kept]), wanted.edges)
    with pytest.raises(RankError, match="which a saved graph does not keep"):
        found.ask("bfs", source, where="open")


def test_a_folder_that_is_there_stays_as_it_is(tmp_path):
    graph = spread(edges_of("integers"), (2, 2))
    graph.ask("save", str(tmp_path / "graph"))
    with pytest.raises(RankError, match="exists already") as error:
        graph.ask("save", str(tmp_path / "graph"))
    assert isinstance(error.value.__cause__, TravError)
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def test_nothing_is_left_if_one_rank_cannot_write(tmp_path, monkeypatch):
    from rapids_trav.distributed.ranks import saved_parts

    graph = spread(edges_of("integers"), (2, 2))
    whole = saved_parts.write_graph

    def write_graph(folder, *args):
        if folder.name == "part_2":
            raise TravError("the disk is full.")
        return whole(folder, *args)

    monkeypatch.setattr(saved_parts, "write_graph", write_graph)
    with pytest.raises(RankError, match="the disk is full"):
        graph.ask("save", str(tmp_path / "graph"))
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_another_save_takes_in_the_meantime(tmp_path, monkeypatch):
    from rapids_trav.distributed.ranks import saved_parts

    edges = edges_of("integers")
    graph = spread(edges, (1, 2))
    sync = saved_parts.sync_folder

    def overtaken(folder):
        if not (tmp_path / "graph").exists():
            edges.trav.graph().save(tmp_path / "graph")
        sync(folder)

    monkeypatch.setattr(saved_parts, "sync_folder", overtaken)
    with pytest.raises(RankError, match="graph exists already: remove it first"):
        graph.ask("save", str(tmp_path / "graph"))
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]


def flip(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / "parts.json").unlink(), "holds no graph that was saved from workers"),
        (lambda folder: (folder / "parts.json").write_text("{}"), "parts.json is no longer what was saved"),
        (lambda folder: flip(folder / "part_1" / "src.npy"), "src.npy is not what was saved"),
        (lambda folder: (folder / "part_2" / "ids.parquet").unlink(), "ids.parquet cannot be read"),
    ],
)
def test_damage_is_told_by_all_ranks(harm, message, tmp_path):
    graph = spread(edges_of("integers"), (2, 2))
    folder = tmp_path / "graph"
    graph.ask("save", str(folder))
    harm(folder)

    def refused(state):
        with pytest.raises(TravError, match=message) as error:
            service.open_saved(state, str(folder))
        return type(error.value)

    states = Spread(3, [RankState(None, "cpu") for _ in range(3)], graph.local)
    assert states.on_all(refused) == [TravError] * 3


def test_an_empty_graph(tmp_path):
    edges = pd.DataFrame({"src": np.empty(0, np.int64), "dst": np.empty(0, np.int64)})
    graph = spread(edges, (1, 2), vertices=[5, 3, 4])
    graph.ask("save", str(tmp_path / "graph"))
    found = opened(tmp_path / "graph", 3, graph.local)
    same(found.frame("degrees"), graph.local.degrees())
