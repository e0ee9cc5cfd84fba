"""CPU benchmark on tiny graphs: all questions, rivals that are absent, wrong or refuse, and the table.

The measurements have no meaning here.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchmarks.cpu import answers, contest, inputs, report, rivals, views
from benchmarks.cpu import main as bench_cpu
from benchmarks.harness import Recorder

QUICK = contest.Pace(seconds=0, least=2, most=2)
TINY = bench_cpu.Settings(
    graphs=("rmat6", "grid5", "shuffled-path40", "star9"), roots=3,
    sssp=(("grid5", "integers"), ("rmat6", "floats")), each=(("rmat6", (1, 2, 8)),),
    filtered="rmat6", programmed=("rmat6",), integers="rmat6", uuid_edges=60, pace=QUICK,
)  # fmt: skip


class Stub:
    """Rival whose searches return `answer` of the distances from SciPy."""

    name, versions = "stub", {"stub": "1.0"}

    def __init__(self, answer, reason=None):
        self.answer, self.reason = answer, reason

    def absent(self):
        return self.reason

    def bfs(self, data):
        pytest.importorskip("scipy")
        (theirs,) = rivals.SciPy().bfs(data)
        yield contest.Contestant(
            "stub", lambda root: self.answer(theirs.answer(theirs.run(root))), np.asarray
        )


def asked(others=(), absent=None, **settings):
    recorder = Recorder(None, lambda line: None)
    bench_cpu.run(bench_cpu.Settings(**{**vars(TINY), **settings}), list(others), absent or {}, recorder)
    return recorder


@pytest.fixture(scope="module")
def everything():
    """Return the recorder of a run of all parts with the installed libraries, and those libraries."""
    present, absent = bench_cpu.attend((rivals.SciPy(), rivals.Igraph(), rivals.Networkit()))
    return asked(present, absent), present


def test_every_question_is_asked_and_every_answer_is_the_same(everything):
    recorder, present = everything
    questions = dict.fromkeys(row["question"] for row in recorder.rows if row["table"] != "absent")
    words = " ".join(questions)
    for part in (
        "BFS, R-MAT 6", "5 x 5 grid", "path of 40 in shuffled order", "star of 9", "`sssp`, 5 x 5 grid",
        '`mode="each"`, R-MAT 6, 8 sources, arrays', "first `where`", "later `where`",
        'first `direction="both"`', "`pagerank`", "`components`", "integers", "`object`", "`str`", "`arrow`",
    ):  # fmt: skip
        assert part in words
    assert [row for row in recorder.rows if "wrong" in row] == []
    compared = {row["name"].split()[0] for row in recorder.rows if row.get("checked")}
    assert {rival.name for rival in present} <= compared
    assert bench_cpu.finish(recorder) == 0


def test_every_question_has_ours_once(everything):
    recorder, _ = everything
    for row in recorder.rows:
        if "median_ms" in row:
            assert row["calls"] >= 1 and row["median_ms"] > 0
    ours = [row["question"] for row in recorder.rows if row.get("role") == "ours"]
    assert len(ours) == len(set(ours)) == len({row.get("question") for row in recorder.rows} - {None})


def test_a_rival_that_is_not_there_is_told(capsys):
    present, absent = bench_cpu.attend((Stub(None, "not to be had"),))
    assert present == []
    recorder = asked(present, absent, only=("bfs",), graphs=("grid5",))
    assert bench_cpu.finish(recorder) == 0
    assert "stub: not to be had" in capsys.readouterr().out


def test_a_wrong_answer_fails_the_run_and_is_not_the_best(capsys):
    recorder = asked([Stub(lambda found: found + 1)], only=("bfs",), graphs=("grid5",))
    assert bench_cpu.finish(recorder) == 1
    assert "stub: another answer than ours to input" in capsys.readouterr().out
    assert [verdict.name for verdict in report.verdicts(recorder.rows)] == ["", ""]


def test_a_right_answer_does_not(capsys):
    recorder = asked([Stub(lambda found: found)], only=("bfs",), graphs=("grid5",))
    assert bench_cpu.finish(recorder) == 0
    assert [verdict.name for verdict in report.verdicts(recorder.rows)] == ["stub", "stub"]


def test_a_rival_that_refuses_is_told(capsys):
    def refuse(found):
        raise ValueError("too large for me")

    recorder = asked([Stub(refuse)], only=("bfs",), graphs=("grid5",))
    assert bench_cpu.finish(recorder) == 0
    assert "stub: not measured, ValueError: too large for me" in capsys.readouterr().out


def test_an_error_of_ours_ends_the_run():
    def fail(root):
        raise RuntimeError("ours")

    broken = contest.Contest("q", "t", "g", [contest.Contestant("rapids_trav", fail, role="ours")], [0])
    with pytest.raises(RuntimeError, match="ours"):
        list(contest.measure(broken, QUICK))


def test_all_get_the_same_inputs_in_turns(monkeypatch):
    calls = []

    def contestant(name, role="other"):
        return contest.Contestant(name, lambda given: calls.append((name, given)) or given, np.asarray, role)

    three = contest.Contest(
        "q", "t", "g", [contestant("a", "ours"), contestant("b"), contestant("c")], [5, 7, 9]
    )
    monkeypatch.setattr(contest, "QUICK_MS", -1)
    rows = list(contest.measure(three, contest.Pace(seconds=0, least=4, most=4)))
    assert calls[:3] == [("a", 5), ("b", 5), ("c", 5)]  # warm-up
    turns = [calls[i : i + 3] for i in range(3, len(calls), 3)]
    assert [[given for _, given in turn] for turn in turns] == [[5] * 3, [7] * 3, [9] * 3, [5] * 3]
    assert ["".join(name for name, _ in turn) for turn in turns] == ["cba", "abc", "cba", "abc"]
    assert [row["calls"] for row in rows] == [4, 4, 4]


def test_a_turn_of_a_quick_call_warms_up_unless_prepared():
    calls = []

    def contestant(name, **how):
        return contest.Contestant(name, lambda given: calls.append((name, given)) or given, np.asarray, **how)

    quick = contestant("quick", role="ours")
    prepared = contestant("prepared", prepare=lambda given: given + 1)
    rows = list(contest.measure(contest.Contest("q", "t", "g", [quick, prepared], [1]), QUICK))
    assert (
        calls.count(("quick", 1)) == 1 + 2 * (1 + contest.TRIALS) and rows[0]["calls"] == 2 * contest.TRIALS
    )
    assert calls.count(("prepared", 2)) == 1 + 2 and rows[1]["calls"] == 2


def test_a_slow_contestant_is_asked_once():
    calls = []
    slow = contest.Contestant("slow", lambda given: calls.append(given), None)
    ours = contest.Contestant("rapids_trav", lambda given: given, np.asarray, "ours")
    rows = list(
        contest.measure(contest.Contest("q", "t", "g", [ours, slow], [1]), contest.Pace(0, 2, 2, slow=-1.0))
    )
    assert calls == [1]
    assert rows[1]["calls"] == 1 and rows[1]["note"] == "not compared"


def test_the_table_marks_what_is_slower():
    facts = {"benchmark": "cpu", "table": "traversal", "graph": "g", "question": "BFS, g"}
    rows = [
        {**facts, "name": "rapids_trav", "role": "ours", "median_ms": 2.0},
        {**facts, "name": "rapids_trav, frame", "role": "frame", "median_ms": 6.0},
        {**facts, "name": "rapids_trav, distances only", "role": "ours too", "median_ms": 1.0},
        {**facts, "name": "slow", "role": "other", "median_ms": 9.0},
        {**facts, "name": "quick", "role": "other", "median_ms": 3.0},
        {**facts, "name": "wrong", "role": "other", "median_ms": 0.1, "wrong": "another answer"},
        {"benchmark": "cpu", "table": "absent", "name": "gap", "note": "not asked for"},
    ]
    assert report.markdown(rows)[2:] == [
        "| BFS, g | 2.00 | quick | 3.00 | 1.50x |  |",
        "| BFS, g, to the frame | 6.00 | quick | 3.00 | 0.500x | **slower** |",
    ]
    assert list(report.told(rows)) == ["BFS, g: wrong: another answer", "gap: not asked for"]


def test_a_machine_that_is_busy_otherwise_is_told(tmp_path, monkeypatch):
    facts = {"table": "traversal", "graph": "g", "question": "BFS, g", "name": "rapids_trav"}
    busy = ["BFS, g: other processes took 35% of the cores, so measure it again"]
    assert list(report.told([{**facts, "load": 0.35}, {**facts, "load": 0.35}])) == busy
    assert list(report.told([{**facts, "load": 0.05}, {**facts, "load": None}])) == []
    (tmp_path / "stat").write_text("cpu  100 10 50 9999 77 5 5 30 0 0\ncpu0 1 1 1\n")
    assert contest.busy_seconds(tmp_path / "stat") == 200 / os.sysconf("SC_CLK_TCK")
    assert contest.busy_seconds(tmp_path / "none") is None
    cores = len(os.sched_getaffinity(0))
    moments = iter([(0.0, 10.0, 3.0), (2.0, 10.0 + 2 * cores, 3.0 + cores)])
    monkeypatch.setattr(contest.Load, "_now", staticmethod(lambda: next(moments)))
    assert contest.Load().share() == 0.5


def test_what_a_child_takes_is_our_own():
    work = "sum(range(10_000_000)); print(flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    before = contest.own_seconds()
    with subprocess.Popen([sys.executable, "-c", work], **pipes, text=True) as child:
        child.stdout.readline()
        running = contest.own_seconds() - before
        child.communicate("\n")
    assert running > 0.02
    assert contest.own_seconds() - before >= running - 0.02


def test_graphs_of_files_and_names(tmp_path):
    path = inputs.load("shuffled-path50", seed=3)
    assert path.n == 50 and sorted(path.graph.levels(int(path.src[0]))["distance"]) == list(range(50))
    assert not np.array_equal(path.src, np.arange(49))
    pd.DataFrame({"src": [100, 7], "dst": [7, 30]}).to_parquet(tmp_path / "roads.parquet")
    roads = inputs.load(str(tmp_path / "roads.parquet"))
    assert roads.n == 3 and roads.src.tolist() == [2, 0] and roads.dst.tolist() == [0, 1]
    star = inputs.load("star4")
    assert (star.n, star.src.tolist(), star.dst.tolist()) == (4, [0, 0, 0], [1, 2, 3])
    weighted = inputs.load("grid5", weights="integers")
    assert weighted.matrix[2].min() >= 1 and len(weighted.matrix[2]) == 2 * len(weighted.src)
    assert inputs.load("rmat6").roots(4, 1) == inputs.load("rmat6").roots(4, 1)


def test_directed_searches_get_far_from_their_roots():
    data = inputs.directed("rmat10")
    kept = np.random.default_rng(1).random(len(data.src)) < views.SHARE
    roots = views.inner_roots(data, kept, 8, 1)
    assert len(set(roots)) == 8
    graph = pd.DataFrame({"src": data.src, "dst": data.dst, "kept": kept}).trav.graph(directed=True)
    for root in roots:
        for how in ({"where": "kept"}, {"direction": "in"}, {"direction": "both"}):
            assert graph.bfs(root, **how)["distance"].notna().sum() > data.n / 4
    few = inputs.Data("g", 3, np.array([0, 1], np.int32), np.array([1, 2], np.int32), directed=True)
    assert views.inner_roots(few, np.array([True, True]), 8, 1) == [1]


def test_repeated_edges_and_loops_are_left_out():
    data = inputs.Data("g", 4, *(np.array(end, np.int32) for end in ([0, 1, 2, 3, 3], [1, 0, 2, 1, 1])))
    left = inputs.simple(data)
    assert (left.src.tolist(), left.dst.tolist()) == ([0, 1], [1, 3])


def test_answers_are_compared():
    assert contest.equal(np.array([1, 2]), np.array([1, 2])) and not contest.equal(
        np.array([1]), np.array([2])
    )
    assert contest.equal(np.array([1.0, np.inf]), np.array([1, np.inf]))
    assert not contest.equal(np.array([1, 2]), np.array([1, 2, 3]))
    assert answers.unreached([0.0, np.inf, 2**31 - 1, 3]).tolist() == [0, -1, -1, 3]
    assert answers.same_parts(np.array([5, 5, 7]), np.array([1, 1, 0]))
    assert not answers.same_parts(np.array([5, 5, 7]), np.array([1, 0, 0]))
    assert answers.same_ranks(np.array([0.5, 0.5]), np.array([0.2, 0.2]))
    assert not answers.same_ranks(np.array([0.5, 0.5]), np.array([0.2, 0.3]))
    assert answers.same_counts(np.array([0, 1, 1, -1]), np.array([1, 2]))
    assert not answers.same_reached(np.array([0, -1]), np.array([True, True]))


def test_the_command(tmp_path):
    rows = tmp_path / "rows.jsonl"
    arguments = ["--only", "bfs", "--graph", "grid5", "--seconds", "0", "--roots", "2", "--json", str(rows)]
    done = CliRunner().invoke(bench_cpu.main, arguments, env={"GAP_FOLDER": None, "LAGRAPH_FOLDER": None})
    assert done.exit_code == 0, done.output
    assert "| BFS, 5 x 5 grid |" in done.output and "gap: not asked for" in done.output
    kept = [json.loads(line) for line in rows.read_text().splitlines()]
    assert all(row["run"] and row["digest"] and row["versions"] for row in kept)


def test_rivals_are_chosen_by_name():
    arguments = ["--only", "bfs", "--graph", "grid5", "--seconds", "0"]
    done = CliRunner().invoke(bench_cpu.main, [*arguments, "--rival", "gap"], env={"GAP_FOLDER": None})
    assert done.exit_code == 0 and "scipy" not in done.output and "gap: not asked for" in done.output
    done = CliRunner().invoke(bench_cpu.main, [*arguments, "--rival", "gop"])
    assert done.exit_code == 2 and "no rival is called 'gop': there are scipy, igraph" in done.output
