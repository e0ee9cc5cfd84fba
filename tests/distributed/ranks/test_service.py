"""Requests to ranks: answers kept and handed out, common refusals, and the failure of one rank."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from loopback import run_ranks
from rank_cases import same, spread

from rapids_trav import generators
from rapids_trav.distributed.ranks import rank_rows, service
from rapids_trav.distributed.ranks.rank import Kept, RankState
from rapids_trav.distributed.ranks.rank_engine import RankEngine
from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.errors import TravError, TravMemoryError, UnknownVertexError

EDGES = pd.DataFrame({"src": [9, 9, 9, 4, 30], "dst": [2, 4, 5, 7, 30]})
EDGES["open"] = [True, True, False, True, True]
EDGES["gaps"] = pd.array([True, True, None, True, True], "boolean")
EDGES["weight"] = 0.5


def test_a_state_starts_empty_and_shares_nothing():
    one, other = RankState(None, "cpu"), RankState(None, "cpu")
    one.items["graph"] = 1
    one.partitions.append((0, None))
    assert other.items == {} and other.partitions == []
    assert Kept({"result": []}).about is None


@pytest.fixture(scope="module")
def graph():
    return spread(EDGES, (2, 2))


def test_the_client_is_told_the_same_by_all(graph):
    told = graph.on_all(lambda state: service.summary(state.items["graph"]))
    assert set(told[0].pop("build_times")) == set(told[3].pop("build_times"))
    assert told[0] == told[3]
    assert (told[0]["n_vertices"], told[0]["n_edges"], told[0]["grid"]) == (6, 5, (2, 2))
    assert told[0]["columns"] == list(EDGES.columns)
    assert told[0]["firsts"][-1] == 6
    assert pickle.loads(pickle.dumps(told[0])) == told[0]


def test_frames_stay_with_ranks_and_lengths_go_to_the_client(graph):
    kept = graph.ask("bfs", 9, trace=True)
    assert [len(of.frames["result"]) for of in kept] == [1] * 4
    assert [len(of.frames["trace"]) for of in kept] == [1, 0, 0, 0]
    assert sum(of.about["lengths"]["result"][0] for of in kept) == 6
    kept = graph.ask("bfs", [9, 2], mode="each")
    assert [len(of.frames["result"]) for of in kept] == [2] * 4
    assert [len(of.frames["result"]) for of in graph.ask("levels", 9)] == [1, 0, 0, 0]


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("bfs", ([9, 77],), {}),
        ("bfs", ("nine",), {}),
        ("bfs", (9,), {"targets": [2, 78]}),
        ("bfs", (9,), {"depth_limit": -1}),
        ("bfs", (9,), {"direction": "up"}),
        ("bfs", (9,), {"where": "shut"}),
        ("bfs", (9,), {"where": "weight"}),
        ("bfs", (9,), {"where": "gaps"}),
        ("paths", (9, [2, 78]), {}),
        ("levels", ([],), {}),
        ("khop", (9, -1), {}),
        ("khop", (9, 1), {"where": "weight"}),
        ("degrees", ("up",), {}),
    ],
)
def test_what_a_local_graph_refuses_is_refused_in_its_words(graph, name, args, options):
    """All ranks refuse alike, and go on answering over the same connection."""
    with pytest.raises(TravError) as wanted:
        getattr(graph.local, name)(*args, **options)

    def refused(state):
        with pytest.raises(type(wanted.value)) as error:
            service.ask(state, name, args, options)
        return str(error.value), service.ask(state, "levels", (9,))

    for message, kept in graph.on_all(refused):
        assert message == str(wanted.value)
        assert kept.about["lengths"]["result"] in ([4], [])


def test_an_engine_without_the_variant(graph):
    with pytest.raises(RankError, match=r"variant='push'.*choose one of 'auto', '2d'"):
        graph.ask("bfs", 9, variant="push")


@pytest.mark.parametrize(
    "tuning",
    [
        {"exchange": "list"},
        {"exchange": "bitmap"},
        {"claim": "sort"},
        {"bottom_up": True},
        {"bottom_up": False},
    ],
    ids=str,
)
def test_settings_give_the_same_answer(tuning):
    edges = generators.rmat(7, 6)[["src", "dst"]]
    graph = spread(edges, (2, 2), directed=True)
    source = int(edges["src"].iloc[0])
    for direction in ("out", "in"):
        asked = {"direction": direction, "deterministic": True}
        same(graph.frame("bfs", source, **asked, tuning=tuning), graph.local.bfs(source, **asked))
    (trace,) = [f for of in graph.ask("bfs", source, trace=True, tuning=tuning) for f in of.frames["trace"]]
    only_push = "sort" in tuning.values() or False in tuning.values()
    assert (set(trace["direction"]) == {"push"}) == only_push
    with pytest.raises(TravError, match=f"tuning names {next(iter(tuning))!r}, which is only for graphs on"):
        graph.local.bfs(source, tuning=tuning)


def test_rows_that_were_not_kept():
    graph = spread(EDGES, (2, 2), keep_rows=False)
    wanted = graph.local.bfs(9, deterministic=True)
    same(graph.frame("bfs", 9, deterministic=True), wanted)
    for name, args, options in [("bfs", (9,), {"where": "open"}), ("khop", (9, 1), {})]:
        with pytest.raises(RankError, match="built with keep_rows=False") as error:
            graph.ask(name, *args, **options)
        assert isinstance(error.value.__cause__, TravError)


@pytest.mark.parametrize("error", [ValueError("the disk is gone"), TravMemoryError("no memory is left")])
def test_one_rank_that_fails_ends_all(graph, error, monkeypatch):
    """The other ranks do not wait for the deadline, and learn which rank failed and why."""
    whole = rank_rows.RankRows.inside

    def inside(rows, *args):
        if rows.numbering.rank.rank == 2:
            raise error
        return whole(rows, *args)

    monkeypatch.setattr(rank_rows.RankRows, "inside", inside)

    def fails(state):
        with pytest.raises(RankError if state.communicator.rank != 2 else type(error)) as raised:
            service.ask(state, "khop", (9, 1))
        return str(raised.value)

    with pytest.raises(RankError, match=f"Rank 2 failed while answering khop: {error}"):
        graph.on_all(fails)


def test_no_graph_and_no_such_question(graph):
    with pytest.raises(TravError, match="build it first"):
        service.ask(RankState(None, "cpu"), "bfs", (9,))
    with pytest.raises(TravError, match="sssp is not answered by a graph on the workers"):
        service.ask(graph.states[0], "sssp", (9,))


@pytest.mark.parametrize(
    ("edges", "options", "message"),
    [
        (EDGES, {"src": "from"}, "Only one end of the edges is named"),
        (EDGES, {"src": "from", "dst": "dst"}, "Column 'from' is not in the edges"),
        (EDGES.assign(src=[1, 2, 3, 4, None]), {}, "Column 'src' holds 1 null"),
        (EDGES.assign(dst=["a", "b", "c", "d", "e"]), {}, "hold different kinds of id"),
        (EDGES, {"vertices": [None]}, "vertices holds 1 null"),
        (EDGES, {"grid": (2, 3)}, "has 6 places, but there are 4 workers"),
    ],
)
def test_edges_that_make_no_graph(edges, options, message):
    states = [RankState(None, "cpu", [(k, edges.iloc[k : k + 1 if k < 3 else 9])]) for k in range(4)]

    def build(communicator):
        state = states[communicator.rank]
        state.communicator = communicator
        with pytest.raises(TravError, match=message) as error:
            service.build(state, RankBuildOptions(**options))
        return type(error.value)

    assert RankError not in run_ranks(4, build, deadline=20)


def test_no_partitions_at_all():
    with pytest.raises(RankError, match="The edges have no partitions"):
        run_ranks(2, lambda of: service.build(RankState(of, "cpu"), RankBuildOptions()))


def test_a_trace_adds_up_the_ranks():
    edges = generators.rmat(8, 8)[["src", "dst"]]
    graph = spread(edges, (3, 2))
    source = int(edges["src"].iloc[0])
    distance = graph.local.bfs(source)["distance"]
    asked = graph.ask("bfs", source, trace=True, tuning={"bottom_up": False})  # follows all edges of a level
    (trace,) = [frame for of in asked for frame in of.frames["trace"]]
    own = graph.local.bfs(source, trace=True).trace.columns
    ranks = [f"{name}_{rank}" for rank in range(6) for name in ("following_ms", "exchange_ms", "bytes")]
    assert list(trace.columns) == [*own, *ranks]
    assert trace["bytes"].tolist() == sum(trace[f"bytes_{rank}"] for rank in range(6)).tolist()
    each_ms = [trace[f"following_ms_{rank}"] + trace[f"exchange_ms_{rank}"] for rank in range(6)]
    assert trace["milliseconds"].tolist() == pytest.approx(np.max(each_ms, axis=0).tolist())
    assert all((trace[f"following_ms_{rank}"] > 0).all() for rank in range(6))
    levels = distance.value_counts().sort_index()
    assert trace["level"].tolist() == list(range(1, len(levels) + 1))
    assert trace["frontier"].tolist() == levels.tolist()
    degree = graph.local.degrees()["degree"]
    wanted = [int(degree[distance == level].sum()) for level in range(len(levels))]
    assert trace["edges"].tolist() == wanted
    assert (trace["milliseconds"] > 0).all()
    (each,) = [
        frame
        for of in graph.ask("bfs", [source] * 2, mode="each", trace=True)
        for frame in of.frames["trace"]
    ]
    assert each["batch"].tolist() == [0] * len(levels) + [1] * len(levels)


@pytest.mark.parametrize("round_edges", [1, 7, 64])
def test_small_rounds_build_the_same_graph(round_edges):
    edges = generators.rmat(6, 4)[["src", "dst"]]
    graph = spread(edges, (2, 2), round_edges=round_edges, directed=True)
    source = int(edges["src"].iloc[0])
    for direction in ("out", "in", "both"):
        asked = {"direction": direction, "deterministic": True}
        same(graph.frame("bfs", source, **asked), graph.local.bfs(source, **asked))
    assert max(state.items["graph"].parts.part.most_waiting for state in graph.states) <= 2 * max(
        round_edges, 4
    )


def test_searches_are_checked_by_the_rules_of_graph500(monkeypatch):
    edges = generators.rmat(7, 4)[["src", "dst"]]
    graph = spread(edges, (3, 2))
    root = int(edges["src"].iloc[0])
    assert [str(verdict) for verdict in graph.ask("validate", root)] == ["valid"] * 6
    whole = RankEngine.search

    def bfs(engine, *asked):
        found = whole(engine, *asked)
        return replace(found, distance=np.where(found.distance == 2, 3, found.distance))

    monkeypatch.setattr(RankEngine, "search", bfs)
    (verdict, *_) = graph.ask("validate", root)
    assert verdict.levels == (graph.local.bfs(root)["distance"] == 2).sum()
    assert set(verdict.broken) == {"rule_2", "levels"}


@pytest.mark.parametrize(
    ("directed", "source", "message"),
    [(True, 9, "for undirected graphs"), (False, 1, "1 unknown vertex"), (False, [9, 4], "names 2 vertices")],
)
def test_searches_that_cannot_be_checked(directed, source, message):
    with pytest.raises(RankError, match=message) as error:
        spread(EDGES, (2, 2), directed=directed).ask("validate", source)
    assert isinstance(error.value.__cause__, TravError)


def test_partitions_are_let_go_unless_they_are_kept():
    for keep_rows in (True, False):
        graph = spread(EDGES, (2, 2), keep_rows=keep_rows)
        assert all(state.partitions == [] for state in graph.states)
        rows = [state.items["graph"].rows for state in graph.states]
        assert sum(len(of.partitions) for of in rows) == (5 if keep_rows else 0)
        assert sum(of.nbytes for of in rows) == (8 * len(EDGES) if keep_rows else 0)


def test_vertices_without_edges():
    graph = spread(EDGES, (2, 2), vertices=[100, -3])
    same(graph.frame("bfs", 100), graph.local.bfs(100).astype({"predecessor": "Int64"}))
    same(graph.frame("degrees"), graph.local.degrees())
    with pytest.raises(RankError, match="101") as error:
        graph.ask("bfs", 101)
    assert isinstance(error.value.__cause__, UnknownVertexError)


def test_the_most_recent_filter_is_kept(graph):
    def parts(state):
        kept = []
        for where in ("open", "open", None):
            service.ask(state, "levels", (9,), {"where": where})
            kept.append(state.items["graph"].parts._recent[1])
        return kept[0] is kept[1] is kept[2], np.sum([part.n_edges for part in kept[:1]])

    told = graph.on_all(parts)
    assert all(same for same, _ in told)
    assert sum(n for _, n in told) == 2 * 3 + 1


@pytest.mark.parametrize("failing", ["free_bytes", "transpose"])
def test_ranks_search_bottom_up_where_there_is_memory(monkeypatch, failing):
    """A rank without memory for the edges by both ends follows them top-down, with the same answer."""

    def none(*_: object) -> int:
        if failing == "transpose":
            raise MemoryError("injected")
        return 0

    edges = generators.rmat(8, 8)[["src", "dst"]]
    source = int(edges["src"].iloc[0])

    def ways_and_answer(graph):
        traces = [f for of in graph.ask("bfs", source, trace=True) for f in of.frames["trace"]]
        return set(traces[0]["direction"]), graph.frame("bfs", source, deterministic=True)

    usual, wanted = ways_and_answer(spread(edges, (2, 2)))
    monkeypatch.setattr(CpuWork, failing, none)
    top_down, found = ways_and_answer(spread(edges, (2, 2)))
    assert usual & {"pull", "mixed"} and top_down == {"push"}
    same(found, wanted)


@pytest.mark.parametrize(
    "dtype", ["int8", "int64", "uint8", "uint16", "uint32", "uint64", "UInt8", "UInt64", "Int64", "float64"]
)
def test_predecessors_of_every_integer_type(dtype):
    """Ids with gaps, the largest of their type among them; the last edge is not reached."""
    most = 120 if dtype == "int8" else 2**53 if dtype == "float64" else 2**63 - 1
    most = np.iinfo(dtype.lower()).max if dtype.lower().startswith("u") else most
    ids = pd.Series([0, 10, 50, most, 70, 90], dtype=dtype)
    edges = pd.DataFrame({"src": ids.take([0, 1, 2, 4]).array, "dst": ids.take([1, 2, 3, 5]).array})
    graph = spread(edges, (2, 2))
    wanted = graph.local.bfs(0, deterministic=True)
    assert wanted["predecessor"].isna().sum() == 3
    same(graph.frame("bfs", 0, deterministic=True), wanted)
    same(graph.frame("paths", 0, [int(most)]), graph.local.paths(0, [int(most)]))
