"""GAP rival, with stand-ins for the GAP programs that read the same files and print the same lines."""

import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ci"))

from benchmarks.cpu import contest, gap, graphtool, inputs, lagraph
from benchmarks.cpu.searches import bfs, each, sssp

QUICK = contest.Pace(seconds=0, least=2, most=2)
STAND_IN = '''#!{python}
"""Breadth-first search or Dijkstra over a serialised graph, told as GAP does."""
import heapq, sys
import numpy as np

arguments = sys.argv[1:]
value = lambda flag, default: arguments[arguments.index(flag) + 1] if flag in arguments else default
path, root, trials = value("-f", ""), int(value("-r", 0)), int(value("-n", 1))
data = open(path, "rb").read()
directed, (m, n) = bool(data[0]), np.frombuffer(data, np.int64, 2, 1)
offsets = np.frombuffer(data, np.int64, n + 1, 17)
weighted = path.endswith(".wsg")
rest = np.frombuffer(data, np.int32, m * (2 if weighted else 1), 17 + 8 * (n + 1))
cells = rest.reshape(-1, 2) if weighted else np.stack([rest, np.ones_like(rest)], 1)
distance, heap = {{}}, [(0, root)]
while heap:
    d, u = heapq.heappop(heap)
    if u not in distance:
        distance[u] = d
        for v, w in cells[offsets[u] : offsets[u + 1]].tolist():
            heapq.heappush(heap, (d + w, v))
for trial in range(trials):
    print(f"Trial Time:          {{0.001 * (trial + 1):.5f}}")
if "-l" in arguments:
    sizes = np.bincount(list(distance.values()))[1:]
    for i, size in enumerate(sizes):
        print(f"   {{'td' if i % 2 else 'bu'}} {{size + {extra}:10}}     0.00603")
    print("   td          0     0.01777")
if sys.argv[0].endswith("sssp"):
    print(f"SSSP Tree reaches {{len(distance)}} nodes")
print("Verification:           {verdict}")
'''


@pytest.fixture
def folder(tmp_path):
    """Return a function that makes a GAP checkout with stand-ins and returns the rival."""

    def make(extra=0, verdict="PASS"):
        checkout, scratch = tmp_path / "gapbs", tmp_path / "scratch"
        checkout.mkdir()
        scratch.mkdir()
        (checkout / "Makefile").write_text("bfs sssp cc pr:\n")
        for program in ("bfs", "sssp"):
            file = checkout / program
            file.write_text(STAND_IN.format(python=sys.executable, extra=extra, verdict=verdict))
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return gap.Gap(checkout, scratch)

    return make


def rows_of(contests):
    return [row for one in contests for row in contest.measure(one, QUICK) if row["name"].startswith("gap")]


@pytest.mark.parametrize("data", [inputs.load("rmat6"), inputs.load("grid5"), inputs.directed("rmat6")])
def test_it_gets_our_very_graph_and_its_times_are_kept(folder, data):
    rival = folder()
    assert rival.absent() is None
    (row,) = rows_of(bfs(data, [rival], data.roots(2, 1)))
    assert row["checked"] and "wrong" not in row
    assert (row["calls"], row["min_ms"], row["max_ms"]) == (2 * gap.TRIALS, 2.0, 6.0)  # the first is dropped


def test_a_wrong_level_is_told(folder):
    data = inputs.load("grid5")
    (row,) = rows_of(bfs(data, [folder(extra=1)], data.roots(2, 1)))
    assert "another answer than ours" in row["wrong"]


def test_its_own_verification_must_pass(folder):
    data = inputs.load("grid5")
    (row,) = rows_of(bfs(data, [folder(verdict="FAIL")], data.roots(2, 1)))
    assert row["note"] == "not measured, RuntimeError: its own verification fails" and "median_ms" not in row


def test_weights_and_the_best_bucket_width(folder):
    data = inputs.load("grid5", weights="integers")
    (row,) = rows_of(sssp(data, [folder()], data.roots(2, 1), "integers"))
    assert row["checked"] and row["name"] == f"gap sssp, delta {gap.DELTAS[0]}"


def test_weights_that_are_not_integers_are_not_for_it(folder):
    data = inputs.load("grid5", weights="floats")
    assert rows_of(sssp(data, [folder()], data.roots(2, 1), "floats")) == []


def test_searches_one_after_another_are_added_up(folder):
    (row,) = rows_of(each(inputs.load("rmat6"), [folder()], [3], 1))
    assert row["checked"] and row["median_ms"] == 3 * np.median([2, 3, 4, 5, 6])


def test_what_is_not_there_is_told(tmp_path):
    assert "--gap" in gap.Gap(None, tmp_path).absent()
    assert "--lagraph" in lagraph.LAGraph(None).absent()
    assert "not loaded" in lagraph.LAGraph(tmp_path).absent()
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "not built" in gap.Gap(empty, tmp_path).absent()
    with graphtool.GraphTool(None, tmp_path) as rival:
        assert "--graph-tool" in rival.absent()
    with graphtool.GraphTool(str(tmp_path / "python"), tmp_path) as rival:
        assert "not started" in rival.absent()


def test_a_folder_that_is_not_there_is_cloned(tmp_path, monkeypatch):
    source = tmp_path / "source"
    source.mkdir()
    (source / "Makefile").write_text("bfs sssp cc pr:\n\t@touch $@\n")
    command = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*command, *arguments], check=True)
    monkeypatch.setattr(gap, "SOURCE", str(source))
    rival = gap.Gap(tmp_path / "gapbs", tmp_path)
    assert rival.absent() is None
    assert (tmp_path / "gapbs" / "pr").exists() and len(rival.versions["gapbs"]) == 10
