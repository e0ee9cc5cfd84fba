"""Schedules of programs on graphs larger than memory: refusals, and results that do not depend on them."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gpu_stand_in import Gpu

from rapids_trav import Graph, Program, TravError, generators, plot
from rapids_trav.algorithms.options import PagerankOptions, ProgramOptions, SsspOptions
from rapids_trav.cli import run
from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.errors import TravMemoryError
from rapids_trav.programs import shipped
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes

DOCS = Path(__file__).parents[2] / "docs"
HOPS = shipped.breadth_first()
APPLIED = Program("applied", "int64", "min", apply=lambda value, gathered: min(value, gathered))
EDGES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 0], "w": [1.0, 2.0, 3.0, 4.0]})


def weighted_grid(side=100, seed=3):
    edges = generators.grid(side, side)
    return edges.assign(w=np.random.default_rng(seed).integers(0, 100, len(edges)))


def just_enough(edges, ask, **options):
    """Return a graph, with the smallest memory limit that allows its build and `ask`, and the answer."""
    limit = 1000
    while True:
        try:
            graph = edges.trav.graph(memory_limit=limit, **options)
            return graph, ask(graph)
        except TravMemoryError as error:
            limit = parse_bytes(re.search(r"memory_limit at least (.*)\.$", str(error))[1])


def propagated(graph, **options):
    """Propagate labels, so that each vertex has the smallest one of its component."""
    initial = np.arange(graph.n_vertices)
    options = {"asynchronous": None, **options}
    return graph.run(shipped.connected_components(), initial=initial, direction="both", **options)


def labels(graph, **options):
    return propagated(graph, **options)["value"].tolist()


@pytest.mark.parametrize("kind", [SsspOptions, PagerankOptions, ProgramOptions])
def test_schedules_that_there_are(kind):
    assert kind().schedule == "auto"
    with pytest.raises(
        TravError, match="schedule='hot' is not known: choose one of 'auto', 'sweep', 'paths'"
    ):
        kind(schedule="hot")


@pytest.mark.parametrize("limit", [None, 100_000])
def test_what_cannot_go_over_paths_is_refused(limit):
    graph = EDGES.trav.graph(weight="w", memory_limit=limit)
    for ask in (
        lambda: graph.pagerank(schedule="paths"),
        lambda: graph.run(APPLIED, initial=0, schedule="paths", asynchronous=True),
    ):
        with pytest.raises(TravError, match="supports only min or max without apply, total and start: use"):
            ask()
    for mode in ("pull", "notify"):
        with pytest.raises(TravError, match=f"but mode='{mode}' gathers them: leave out one of the two"):
            graph.sssp(0, mode=mode, schedule="paths")
    with pytest.raises(TravError, match="but gather='replicas' gathers them: leave out one of the two"):
        asked = {"schedule": "paths", "asynchronous": True, "tuning": {"gather": "replicas"}}
        graph.run(HOPS, initial={0: 0}, **asked)
    for ask in (
        lambda: graph.run(HOPS, initial={0: 0}, schedule="paths"),
        lambda: graph.sssp(0, asynchronous=False, schedule="paths"),
    ):
        with pytest.raises(TravError, match="but the run is synchronous: give asynchronous=True as well"):
            ask()
    for mode in ("auto", "push"):
        assert labels(graph, mode=mode, schedule="paths", asynchronous=True) == [0] * 4
    assert len(graph.pagerank(schedule="sweep")) == 4


def test_an_engine_without_blocks_sweeps():
    class Sweeping(Gpu):
        schedules = ("auto", "sweep")

    graph = Graph.from_edges(EDGES, engine=Sweeping())
    assert labels(graph, schedule="sweep") == [0] * 4
    with pytest.raises(TravError, match="schedule='paths' is not for the cuda engine: use 'auto'"):
        labels(graph, schedule="paths", asynchronous=True)


@pytest.mark.parametrize("limit", [None, "2MB"])
@pytest.mark.parametrize("schedule", ["auto", "sweep", "paths"])
def test_new_values_count_at_once_unless_edges_are_swept(schedule, limit):
    """Blocks need that, and None leaves the choice to the engine."""
    asked = []

    class Told(Gpu):
        schedules = CudaEngine.schedules

        def run(self, view, program, state, options):
            asked.append((view.pages is not None, options.asynchronous))
            return super().run(view, program, state, options)

    graph = Graph.from_edges(generators.grid(150, 150), engine=Told(), memory_limit=limit)
    assert set(labels(graph, schedule=schedule, asynchronous=None)) == {0}
    ((paged, asynchronous),) = asked
    assert paged == (limit is not None)
    assert asynchronous is ({"sweep": False}.get(schedule, True if paged else None))


def test_the_command_line_has_it(tmp_path, capsys, monkeypatch):
    """`--engine cpu` is given, so that this also holds on a machine with a GPU."""
    monkeypatch.setenv("COLUMNS", "200")  # wide enough for all columns of the trace
    weighted_grid(100).to_csv(tmp_path / "grid.csv", index=False)
    asked = ["sssp", str(tmp_path / "grid.csv"), "--weight", "w", "--source", "0", "--engine", "cpu"]
    assert run([*asked, "--memory-limit", "800kB", "--schedule", "paths", "--trace"]) == 0
    assert "blocks" in capsys.readouterr().out


def test_in_memory_it_makes_no_difference():
    graph = EDGES.trav.graph(weight="w")
    one, other = (graph.sssp(0, schedule=name, trace=True) for name in ("sweep", "paths"))
    assert one.result.equals(other.result)
    assert list(one.trace) == list(other.trace) and one.trace["mode"].tolist() == other.trace["mode"].tolist()


@pytest.mark.parametrize("dtype", ["int64", "float32"])
@pytest.mark.parametrize(
    "options", [{}, {"directed": True}, {"directed": True, "degree_sort": True}], ids=str
)
def test_answers_do_not_depend_on_it(options, dtype):
    """Both schedules agree, with text ids, unreachable vertices, weights of 0 and a filter."""
    rng = np.random.default_rng(7)
    edges = pd.DataFrame(rng.integers(0, 4000, (9000, 2)), columns=["src", "dst"]).map("v{}".format)
    edges["w"] = rng.integers(0, 6, 9000).astype(dtype)
    edges["open"] = rng.random(9000) < 0.7
    graph = edges.trav.graph(weight="w", memory_limit=430_000, **options)
    assert isinstance(graph.storage, Paged)
    for where in (None, "open"):
        for ask in (partial(graph.sssp, "v1", predecessors=False), partial(propagated, graph)):
            found = ask(schedule="paths", where=where, trace=True)
            pd.testing.assert_frame_equal(found.result, ask(schedule="sweep", where=where))
            assert set(found.trace["mode"]) == {"blocks"}


def test_the_trace_tells_what_was_moved():
    edges = weighted_grid()
    graph, _ = just_enough(edges, lambda graph: graph.sssp(0, schedule="paths"), weight="w")
    found = graph.sssp(0, schedule="paths", trace=True)
    assert found.result["distance"].tolist() == edges.trav.sssp(0, weight="w")["distance"].tolist()
    own = ["in_place", "reloads", "evictions", "launches", "rounds"]
    spans = ["span_block", "span_what", "span_begin", "span_end"]
    assert list(found.trace)[9:] == [*own, *spans]
    total = found.trace[["pages", "bytes", *own]].sum()
    assert set(found.trace["mode"]) == {"blocks"}
    assert total["rounds"] > total["launches"] >= total["pages"] > 0
    axes = plot.run(found.trace).axes
    assert [bar.get_label() for bar in axes[0].containers] == ["blocks"]
    loads = found.trace.explode(spans).query("span_what == 'load'")
    assert len(loads) == total["pages"] and (loads["span_end"] > loads["span_begin"]).all()
    drawn = {spans.get_label(): len(spans.get_paths()) for spans in axes[-1].collections}
    assert drawn["loaded"] == len(loads) and drawn["worked on"] > 0 and drawn["in memory"] > 0
    assert total["bytes"] <= total["pages"] * (1 << 15) and total["in_place"] > 0


@pytest.mark.parametrize("part", [0.05, 0.25])
@pytest.mark.parametrize("question", ["sssp", "labels"])
def test_vertices_and_a_part_of_the_edges_are_enough(part, question):
    """58 bytes a vertex and as little as one place for blocks give the right answer within the limit."""
    edges = weighted_grid(200).sample(frac=1, random_state=0)

    def ask(graph, **how):
        return propagated(graph, **how) if question == "labels" else graph.sssp(0, predecessors=False, **how)

    wanted = ask(edges.trav.graph(weight="w"))
    n = 200 * 200
    limit = int(60 * n + part * 2 * len(edges) * 12)
    graph = edges.trav.graph(weight="w", memory_limit=limit)
    assert isinstance(graph.storage, Paged)
    assert ask(graph, schedule="paths").equals(wanted)
    assert graph.budget.peak <= limit and graph.budget.used < limit / 2


def test_auto_takes_blocks_where_a_push_has_no_room():
    """It needs few active vertices and no room for the lists of a push; else it pushes or sweeps."""
    edges = weighted_grid(150)
    n = 150 * 150
    tight, wide = (edges.trav.graph(weight="w", memory_limit=size * n) for size in (85, 200))
    assert isinstance(tight.storage, Paged) and isinstance(wide.storage, Paged)
    found = tight.sssp(0, trace=True)
    assert set(found.trace["mode"]) == {"blocks"}
    assert "push" in set(wide.sssp(0, trace=True).trace["mode"])
    assert "blocks" not in set(tight.sssp(0, schedule="sweep", trace=True).trace["mode"])
    assert "blocks" not in set(tight.components(trace=True).trace["mode"])
    assert found.result["distance"].equals(wide.sssp(0)["distance"])


def test_run_goes_over_blocks_only_where_it_is_asynchronous():
    """The pages say so, since `run` is not asynchronous by default."""
    program = Program("nearest", "int64", "min", gather=lambda message, weight: message + weight)
    options = {"initial": {0: 0}, "weighted": True}
    asynchronous = options | {"asynchronous": True, "schedule": "paths"}
    graph, _ = just_enough(weighted_grid(60), lambda graph: graph.run(program, **asynchronous), weight="w")
    assert set(graph.run(program, trace=True, **asynchronous).trace["mode"]) == {"blocks"}
    with pytest.raises(TravError, match=r"the run is synchronous: give asynchronous=True"):
        graph.run(program, schedule="paths", **options)
    memory, table = (" ".join((DOCS / f"{page}.md").read_text().split()) for page in ("memory", "options"))
    assert "this is the default for `sssp` and `run(asynchronous=True)`" in memory
    assert "so `run` needs `asynchronous=True`" in table


def test_runs_end_and_go_on_where_they_were(tmp_path):
    edges = weighted_grid(100)
    program = Program("nearest", "int64", "min", gather=lambda message, weight: message + weight)
    options = {"initial": {0: 0}, "weighted": True, "asynchronous": True}
    wanted = edges.trav.graph(weight="w").run(program, **options)
    graph, _ = just_enough(edges, lambda graph: graph.run(program, schedule="paths", **options), weight="w")
    kept = {"checkpoint": tmp_path, "checkpoint_every": 1, **options}
    first = graph.run(program, schedule="paths", max_iterations=1, trace=True, **kept)
    assert len(first.trace) == 1 and not first.result.equals(wanted)
    assert graph.run(program, schedule="paths", resume=True, **kept).equals(wanted)

    graph.run(program, schedule="paths", max_iterations=1, **kept)
    wider = edges.trav.graph(weight="w", memory_limit=2 * graph.budget.limit)
    assert wider.run(program, schedule="sweep", resume=True, **kept).equals(wanted)
