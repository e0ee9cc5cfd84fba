"""Provenance of benchmark rows, tables of the pages made from them, and comparison of two source trees."""

import importlib.util
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_bench import CpuLab

from benchmarks import harness as rows
from benchmarks import provenance
from benchmarks.gpu import lab
from benchmarks.pages import main as write_tables
from benchmarks.pages import tables as readme_tables

ROOT = Path(__file__).parents[2]


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


compare_trees = script("compare_trees")
FACTS = {"run": "a", "digest": "d", "date": "2026-01-02T03:04:05", "commit": "c" * 40, "versions": {"x": "1"}}


@pytest.fixture
def checkout(tmp_path):
    """Return a Git repository with one source file."""
    (tmp_path / "rapids_trav").mkdir()
    (tmp_path / "rapids_trav" / "a.py").write_text("1\n")
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


def test_commit_and_digest_tell_changes(checkout):
    clean, digest = provenance.commit(checkout, {}), provenance.digest(checkout)
    assert len(clean) == 40 and len(digest) == 64
    (checkout / "README.md").write_text("untracked\n")
    assert (provenance.commit(checkout, {}), provenance.digest(checkout)) == (clean, digest)
    (checkout / "rapids_trav" / "a.py").write_text("2\n")
    assert provenance.commit(checkout, {}) == f"{clean}-dirty"
    assert provenance.digest(checkout) != digest


def test_a_copy_without_git_is_told_its_commit(tmp_path):
    assert provenance.commit(tmp_path, {}) is None
    assert provenance.commit(tmp_path, {provenance.COMMIT: "abc"}) == "abc"
    assert len(provenance.digest(tmp_path)) == 64


def test_the_record_of_the_gpu_suite_has_the_same_digest():
    assert script("gpu_report").digest is provenance.digest


def test_rows_of_a_recorder_share_their_facts(tmp_path):
    facts = provenance.of_run() | provenance.of_cpu()
    assert {"run", "date", "commit", "digest", "processor", "cores", "versions"} == set(facts)
    assert facts["cores"] >= 1 and "numpy" in facts["versions"]
    assert provenance.of_run()["run"] != facts["run"]
    recorder = rows.Recorder(tmp_path / "rows.jsonl", lambda line: None, facts)
    recorder.add({"benchmark": "cpu", "name": "a"})
    assert json.loads((tmp_path / "rows.jsonl").read_text()) == {"benchmark": "cpu", "name": "a", **facts}


def test_a_processor_by_its_name(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text("processor : 0\nmodel name\t: AMD EPYC 7B13\n")
    assert provenance.processor(path) == "AMD EPYC 7B13"


def cpu_row(name="rapids_trav", graph="rmat18", **more):
    return (
        {"benchmark": "cpu", "table": "traversal", "graph": graph, "name": name, "median_ms": 5.94}
        | FACTS
        | more
    )


def test_a_table_is_made_of_rows(tmp_path):
    found = [cpu_row(), cpu_row("scipy", median_ms=1234.5), cpu_row(graph="rmat20", median_ms=0.1234)]
    lines = readme_tables.cpu_traversal(readme_tables.Run(found))
    assert lines == [
        "| median ms | scale 18 | scale 20 |",
        "| --- | ---: | ---: |",
        "| **rapids_trav** | 5.94 | 0.123 |",
        "| scipy | 1,234 | - |",
    ]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([], "There are no rows"),
        ([cpu_row(), cpu_row("b", run="other")], "2 different runs"),
        ([cpu_row(), cpu_row("b", digest="other")], "2 different digests"),
        ([cpu_row() | {"run": None}], "do not tell their run"),
        ([cpu_row(), cpu_row()], "2 rows of cpu"),
    ],
)
def test_rows_of_several_runs_are_refused(found, said):
    with pytest.raises(readme_tables.RowsError, match=said):
        readme_tables.cpu_traversal(readme_tables.Run(found))


def test_parts_of_a_table_are_of_one_run():
    build = {
        "benchmark": "variants",
        "table": "build",
        "graph": "rmat20",
        "name": "rapids_trav",
        "median_ms": 1.0,
    }
    call = build | {"table": "whole call", "name": "cugraph.bfs"}
    readme_tables.whole_call(readme_tables.Run([build | FACTS, call | FACTS]))
    with pytest.raises(readme_tables.RowsError, match="different run"):
        readme_tables.whole_call(readme_tables.Run([build | FACTS, call | FACTS | {"run": "b"}]))


def test_tables_are_written_and_checked(tmp_path, capsys):
    page, cpu_rows = tmp_path / "page.md", tmp_path / "cpu-benchmark.jsonl"
    page.write_text("before\n<!-- table: cpu-traversal -->\nold\n<!-- end of table -->\nafter\n")
    cpu_rows.write_text(json.dumps(cpu_row()) + "\n")
    where = ["--page", str(page), "--rows", str(tmp_path)]
    assert write_tables.main([*where, "--check"]) == 1
    assert write_tables.main(where) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- table: cpu-traversal -->\n\n| median") and text.endswith(
        "-->\nafter\n"
    )
    assert "old" not in text and "| **rapids_trav** | 5.94 |" in text
    assert write_tables.main([*where, "--check"]) == 0
    cpu_rows.write_text("".join(json.dumps(cpu_row(run=run)) + "\n" for run in "ab"))
    assert write_tables.main([*where, "--check"]) == 2
    assert "Table cpu-traversal: Rows of cpu are of 2 different runs" in capsys.readouterr().err
    cpu_rows.unlink()
    assert write_tables.main(where) == 0 and page.read_text() == text
    page.write_text("<!-- table: speed -->\n<!-- end of table -->\n")
    assert write_tables.main(where) == 2
    assert "No table is called 'speed'" in capsys.readouterr().err


@pytest.mark.parametrize("files", readme_tables.TABLES, ids="+".join)
def test_the_pages_are_what_the_rows_say(files):
    """Files are skipped if they are not there, or if their rows were measured before rows named their run."""
    text = "".join(page.read_text() for page in write_tables.PAGES)
    assert all(f"<!-- table: {name} -->" in text for name in readme_tables.TABLES[files])
    for file in files:
        if not (write_tables.ROWS / file).exists():
            pytest.skip(f"{file} has not been measured")
        kept = [json.loads(line) for line in (write_tables.ROWS / file).read_text().splitlines()]
        if not any("run" in row for row in kept):
            pytest.skip(f"{file} has no rows that tell their run")
    marked = "".join(m[0] for m in write_tables.MARKED.finditer(text) if m[2] in readme_tables.TABLES[files])
    assert write_tables.written(marked, ROOT / "ci") == marked


def test_the_summary_shows_the_fastest_other_library():
    of_cpu = [cpu_row(cores=2), cpu_row("igraph", median_ms=99.0), cpu_row("scipy", median_ms=11.9)]
    of_cpu.append(cpu_row("faster and wrong", median_ms=1.0, wrong="a distance"))
    of_gpu = [
        {"benchmark": "variants", "table": "whole call", "graph": "rmat20", "name": name, "median_ms": ms}
        | {"card": "NVIDIA card", **FACTS}
        for name, ms in (("rapids_trav graph.bfs", 0.5), ("cugraph.bfs", 6.0))
    ]
    for benchmark, table in (("variants", "build"), ("programs", "programs")):
        of_gpu.append({"benchmark": benchmark, "table": table, "card": "NVIDIA card", **FACTS})
    lines = readme_tables.summary(readme_tables.Run(of_cpu), readme_tables.Run(of_gpu))
    assert [line.strip("| ").split(" | ") for line in lines[2:5]] == [
        ["BFS, scale 18", "2 CPU cores", "5.94", "11.9", "scipy"],
        ["BFS, scale 20", "card", "0.500", "6.00", "cuGraph"],
        ["BFS, scale 24", "card", "-", "-", "cuGraph"],
    ]


def test_figures_have_three_digits():
    written = [
        readme_tables.number(value) for value in (None, 0.00041, 0.0522, 5.2075, 43.66, 100, 692.4, 1877.2)
    ]
    assert written == ["-", "0.00041", "0.0522", "5.21", "43.7", "100", "692", "1,877"]


def test_a_search_that_waits_for_the_host_is_timed_by_itself():
    """Each search is timed between two events, and slow contenders get fewer roots."""
    events = []

    class Event:
        def record(self):
            events.append("mark")

    cuda = SimpleNamespace(Event=Event, get_elapsed_time=lambda before, after: 700.0)
    bench = lab.Lab.__new__(lab.Lab)
    bench.xp, bench.slow_seconds = SimpleNamespace(cuda=cuda), 2.0
    bench.synchronize = lambda: events.append("wait")
    contender = lab.Contender("x", int, lambda root, limit=None: events.append(root) or -root, waits=True)
    checked = []
    ms = bench.device_timings(contender, [4, 5, 6, 7], lambda *what: checked.append(what))
    assert ms == [700.0] * 3
    assert checked == [(4, -4), (5, -5), (6, -6)]
    assert events[:6] == [4, "wait", "mark", 4, "mark", "wait"]


def test_two_trees_are_compared_by_their_medians():
    row = compare_trees.of_batches([[1.0, 1.1, 9.0], [1.2, 1.1, 1.0]], [[1.0, 1.0, 1.0], [1.0, 2.0, 2.0]])
    assert row["ratio"] == pytest.approx(1.1)
    assert (row["least_ratio"], row["most_ratio"]) == pytest.approx((1.1 / 2, 1.1))
    assert (row["batches"], row["searches"]) == (2, 6)


def test_a_worker_uses_the_package_of_its_tree(tmp_path):
    with compare_trees.worker(ROOT) as process:
        used = compare_trees.ask(process, {})["package"]
    assert Path(used).is_relative_to(ROOT)
    with pytest.raises(RuntimeError, match="was imported"), compare_trees.worker(tmp_path):
        pass


def test_a_worker_times_a_search_from_each_root(monkeypatch):
    """The laboratory is that of the benchmarks, with the CPU in place of the device."""
    monkeypatch.setattr(lab, "Lab", lambda roots, seed, pool: CpuLab(roots, seed))
    batch = compare_trees.prepared("rmat6", 3)
    assert len(batch()) == len(batch()) == 3
