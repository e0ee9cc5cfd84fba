"""The Graph500 benchmark on the CPU: statistics, the five rules of validation, whole runs, the command."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from graph500_trees import DST, LEVEL, MUTATIONS, PARENT, ROOT, SRC, garbage, lasso, mutated, plainly
from scipy import stats

from rapids_trav import generators, graph500
from rapids_trav.cli.graph500 import graph500 as command
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.errors import TravError
from rapids_trav.graph500 import cpu, cuda, harness
from rapids_trav.graph500.report import harmonic_mean_and_deviation, of_counts, of_rates, quartiles

SPECIFIED = [
    *("SCALE", "edgefactor", "NBFS", "construction_time"),
    *(f"bfs_{key}_time" for key in ("min", "firstquartile", "median", "thirdquartile", "max")),
    *("bfs_mean_time", "bfs_stddev_time"),
    *(f"bfs_{key}_nedge" for key in ("min", "firstquartile", "median", "thirdquartile", "max")),
    *("bfs_mean_nedge", "bfs_stddev_nedge"),
    *(f"bfs_{key}_TEPS" for key in ("min", "firstquartile", "median", "thirdquartile", "max")),
    *("bfs_harmonic_mean_TEPS", "bfs_harmonic_stddev_TEPS"),
]


# Statistics.


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([8, 1, 4, 2], [1, 1.5, 3, 6, 8]),
        ([10, 1, 2, 3, 4], [1, 2, 3, 4, 10]),
        ([5], [5, 5, 5, 5, 5]),
    ],
)
def test_quartiles_by_hand(values, expected):
    assert list(quartiles(values).values()) == expected


@pytest.mark.parametrize("n", [1, 2, 3, 17, 62, 63, 64, 65])
def test_statistics_agree_with_numpy_and_scipy(n):
    values = np.random.default_rng(n).uniform(1, 9, n)
    expected = np.quantile(values, [0, 0.25, 0.5, 0.75, 1], method="averaged_inverted_cdf")
    assert np.allclose(list(quartiles(values).values()), expected)
    keys = of_counts("time", values)
    assert keys["bfs_mean_time"] == pytest.approx(values.mean())
    if n > 1:
        assert keys["bfs_stddev_time"] == pytest.approx(values.std(ddof=1))
    assert of_rates("TEPS", values)["bfs_harmonic_mean_TEPS"] == pytest.approx(stats.hmean(values))


def test_harmonic_deviation_by_hand():
    mean, deviation = harmonic_mean_and_deviation([1, 2, 4])
    assert mean == pytest.approx(12 / 7)
    assert deviation == pytest.approx((12 / 7) ** 2 * (42 / 144) ** 0.5 / 2)


# Validation.


def test_a_right_tree_is_valid():
    verdict = graph500.validate(PARENT, ROOT, SRC, DST, LEVEL)
    assert verdict.valid
    assert str(verdict) == "valid"
    assert graph500.validate(PARENT, ROOT, SRC, DST).valid


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_tree_breaks_its_rule(name):
    parent, level, faults = mutated(name)
    verdict = graph500.validate(parent, ROOT, SRC, DST, level if "levels" in faults else None)
    assert verdict.broken == faults
    assert not verdict.valid
    for rule, count in faults.items():
        assert f"{rule}: {count}" in str(verdict)


@pytest.mark.parametrize("name", MUTATIONS)
def test_levels_are_not_held_against_a_tree_that_they_fit(name):
    parent, level, faults = mutated(name)
    verdict = graph500.validate(parent, ROOT, SRC, DST, level)
    assert verdict.broken == faults


@pytest.mark.parametrize("seed", range(120))
def test_garbage_is_judged_as_by_walking(seed):
    case = garbage(seed)
    assert graph500.validate(*case).broken == plainly(*case)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 1000, 4097])
def test_long_cycles_end(n):
    parent, src, dst = lasso(n)
    assert graph500.validate(parent, 0, src, dst).rule_1 == n - 1


def test_long_paths_have_their_levels():
    n = 5000
    vertex = np.arange(n, dtype=np.int32)
    order = np.random.default_rng(3).permutation(n).astype(np.int32)  # the path is not in memory order
    parent = np.empty(n, np.int32)
    parent[order] = np.concatenate([order[:1], order[:-1]])
    level = np.empty(n, np.int32)
    level[order] = vertex
    assert graph500.validate(parent, int(order[0]), order[:-1], order[1:], level).valid


def test_wide_ids_are_not_wrapped():
    parent = PARENT.astype(np.int64)
    parent[4] += 2**32
    assert graph500.validate(parent, ROOT, SRC, DST).broken == {"rule_1": 1}


def test_ids_that_are_no_vertices_are_refused():
    with pytest.raises(TravError, match="2 edges have an end that is not a vertex: ids must be 0 to 8"):
        graph500.validate(PARENT, ROOT, np.append(SRC, [9, 0]), np.append(DST, [0, -1]))
    with pytest.raises(TravError, match="root=9"):
        graph500.validate(PARENT, 9, SRC, DST)
    with pytest.raises(TravError, match="src has 10 edges and dst 9"):
        graph500.validate(PARENT, ROOT, SRC, DST[:-1])
    with pytest.raises(TravError, match="level has 1 entries and parent 9"):
        graph500.validate(PARENT, ROOT, SRC, DST, LEVEL[:1])
    with pytest.raises(TravError, match="no common integer type, but float64"):
        graph500.validate(PARENT.astype(np.uint64), ROOT, SRC, DST)


# Parts of a run.


def test_component_edges_count_loops_and_duplicates_once():
    assert cpu.component_edges(PARENT, SRC) == 9  # all but 6 - 7


def test_parents_in_labels():
    labels = np.array([1, 4, 5, 7], np.int32)
    parent = cpu.to_labels(labels, np.array([-1, 0, 1, -1], np.int32), 1, 9)
    assert parent.tolist() == [-1, 1, -1, -1, 1, 4, -1, -1, -1]


def test_roots_have_a_neighbor_and_are_unique():
    loops = cpu.has_neighbor(np.array([0, 1, 2], np.int32), np.array([0, 2, 2], np.int32), 5)
    assert loops.tolist() == [False, True, True, False, False]
    assert sorted(harness.draw_roots(loops, 64, seed=1)) == [1, 2]
    many = harness.draw_roots(np.ones(1000, bool), 64, seed=5)
    assert len(set(many.tolist())) == 64
    assert np.array_equal(many, harness.draw_roots(np.ones(1000, bool), 64, seed=5))
    assert not np.array_equal(many, harness.draw_roots(np.ones(1000, bool), 64, seed=6))
    with pytest.raises(TravError, match="no edge joins two different vertices"):
        harness.draw_roots(np.zeros(4, bool), 1, seed=1)


def test_kernels_have_the_functions_that_are_launched():
    from rapids_trav.engines.cuda.runtime.loader import source

    text = source(*cuda.SPECIALISATIONS[0])
    for name in (
        *("has_neighbor", "to_labels", "component_edges", "first_ancestors", "jump", "settle"),
        *("check_edges", "count_unjoined"),
    ):
        assert f"__global__ void {name}(" in text


# Whole runs and the command.


@pytest.fixture(scope="module")
def report():
    return graph500.run(10, roots=16, seed=7, engine="cpu")


def test_a_run_is_valid_and_has_the_keys(report):
    assert report.valid is True
    assert list(report.output()) == SPECIFIED
    keys = report.output()
    assert (keys["SCALE"], keys["edgefactor"], keys["NBFS"]) == (10, 16, 16)
    assert keys["bfs_max_nedge"] <= 16 << 10
    assert str(report).startswith("SCALE: 10\nedgefactor: 16\nNBFS: 16\nconstruction_time: ")
    assert report.more_output()["validation"] == "passed"
    assert report.searches["root"].is_unique


def test_edges_are_the_tuples_of_the_component(report):
    from scipy.sparse import coo_matrix, csgraph

    edges = generators.rmat(10, seed=7)
    src, dst = edges["src"].to_numpy(), edges["dst"].to_numpy()
    matrix = coo_matrix((np.ones(len(src)), (src, dst)), shape=(1024, 1024))
    _, component = csgraph.connected_components(matrix, directed=False)
    for row in report.searches.itertuples():
        inside = component[src] == component[row.root]
        assert row.edges == inside.sum()
        assert row.vertices == (component == component[row.root]).sum()
        assert row.teps == pytest.approx(row.edges / row.seconds)
        assert row.output_seconds > row.seconds > 0
    distance = csgraph.dijkstra(matrix, directed=False, indices=report.searches["root"], unweighted=True)
    assert report.searches["depth"].tolist() == [int(d[np.isfinite(d)].max()) for d in distance]


def test_a_run_repeats_itself(report):
    again = graph500.run(10, roots=16, seed=7, engine="cpu", validate=False)
    same = ["root", "edges", "vertices", "depth"]
    assert again.searches[same].equals(report.searches[same])
    assert again.valid is None
    assert again.more_output()["validation"] == "skipped"


def test_tuples_that_no_frame_holds_are_in_several(report, monkeypatch):
    monkeypatch.setattr(harness, "FRAME_ROWS", 5000)
    construct, made = harness._Bench.construct, []

    def counted(bench, edges):
        made.append(len(edges))
        return construct(bench, edges)

    monkeypatch.setattr(harness._Bench, "construct", counted)
    again = graph500.run(10, roots=16, seed=7, engine="cpu")
    assert made == [1, 4]  # to warm up, and the graph
    same = ["root", "edges", "vertices", "depth"]
    assert again.searches[same].equals(report.searches[same])
    assert again.valid is True


def test_a_wrong_search_is_reported(monkeypatch):
    right = cpu.to_labels

    def forgets_a_leaf(*arguments):
        parent = right(*arguments)
        parent[np.setdiff1d(np.flatnonzero(parent >= 0), parent)[0]] = -1
        return parent

    monkeypatch.setattr(cpu, "to_labels", forgets_a_leaf)
    report = graph500.run(8, roots=2, engine="cpu")
    assert report.valid is False
    assert report.searches["faults"].str.contains("rule_4").all()
    assert report.more_output()["validation"] == "failed"


def test_searches_are_not_queued_on_the_cpu(report):
    assert report.streamed_seconds is None
    assert not [key for key in report.as_dict() if "streamed" in key]


def test_queued_searches_are_timed_as_a_whole(monkeypatch):
    asked = []

    def queue(engine, view, sources, options, ahead):
        for source in sources:
            asked.append((int(source[0]), options))
            yield engine.search(view, source, options)

    monkeypatch.setattr(CpuEngine, "bfs_stream", queue)
    report = graph500.run(6, roots=3, engine="cpu")
    keys = report.as_dict()
    assert len(asked) == 6  # all, twice: the first time is not timed
    assert asked[:3] == asked[3:]
    assert all(options == BfsOptions() for _, options in asked)
    assert keys["bfs_streamed_time"] == report.streamed_seconds > 0
    assert keys["bfs_streamed_TEPS"] == report.searches["edges"].sum() / report.streamed_seconds
    assert str(report).count("bfs_streamed_") == 2


def test_one_search_has_no_deviation():
    keys = graph500.run(5, roots=1, engine="cpu").as_dict()
    assert keys["bfs_stddev_time"] is None
    assert keys["bfs_harmonic_stddev_TEPS"] is None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"scale": 0}, "scale=0 is out of range: choose 1 to 30"),
        ({"scale": "4"}, "scale='4' is not an integer"),
        ({"scale": 4, "roots": True}, "roots=True is not an integer"),
        ({"scale": 4, "validate": "no"}, "validate='no'"),
        ({"scale": 31}, "scale=31"),
        ({"scale": 5, "roots": 0}, "roots=0 is too small"),
        ({"scale": 5, "edge_factor": 0}, "edge_factor=0 is too small"),
        ({"scale": 5, "seed": -1}, "seed=-1 is negative"),
        ({"scale": 5, "edge_factor": 2**60}, "is too large: choose at most 1048576"),
        ({"scale": 5, "seed": 2**63}, "seed=9223372036854775808 is past 63 bits"),
        ({"scale": 5, "engine": "abacus"}, "'abacus' is not known"),
    ],
)
def test_bad_questions(asked, message):
    with pytest.raises(TravError, match=message):
        graph500.run(**asked)


def test_command(tmp_path):
    file = tmp_path / "report.json"
    asked = ["--scale", "7", "--roots", "3", "--engine", "cpu", "--json", str(file)]
    result = CliRunner().invoke(command, asked, standalone_mode=False)
    assert result.exception is None
    assert result.return_value == 0
    assert "NBFS: 3\n" in result.stdout
    assert "validation passed" in " ".join(result.stdout.split())
    assert result.stderr == ""  # no progress bar without a terminal
    written = json.loads(file.read_text())
    assert [key for key in written if key in SPECIFIED] == SPECIFIED
    assert len(written["searches"]) == 3
    assert written["searches"][0]["device_seconds"] is None


def test_command_fails_if_a_search_is_wrong(monkeypatch):
    monkeypatch.setattr(harness.validation, "validate", lambda *_: graph500.Verdict(rule_3=2))
    asked = ["--scale", "5", "--roots", "1", "--engine", "cpu"]
    result = CliRunner().invoke(command, asked, standalone_mode=False)
    assert result.return_value == 1
    assert "is not valid: rule_3: 2 input edges" in result.stderr


def test_the_command_makes_its_engine_once(monkeypatch):
    made = []
    monkeypatch.setattr(CpuEngine, "__init__", lambda self: made.append(self))
    asked = ["--scale", "5", "--roots", "1", "--engine", "cpu"]
    result = CliRunner().invoke(command, asked, standalone_mode=False)
    assert result.return_value == 0
    assert len(made) == 1


def test_an_engine_of_the_caller_runs():
    engine = CpuEngine()
    report = graph500.run(5, roots=1, engine=engine)
    assert report.valid and report.engine == "cpu"
    with pytest.raises(TravError, match="devices='all' is for GPUs"):
        graph500.run(5, roots=1, engine=engine, devices="all")


def test_narrow_integers_of_numpy_do_not_overflow():
    wanted = graph500.run(7, edge_factor=16, roots=2, engine="cpu")
    given = graph500.run(np.int8(7), edge_factor=np.int8(16), roots=np.int8(2), engine="cpu")
    assert given.searches["root"].tolist() == wanted.searches["root"].tolist() and given.valid
