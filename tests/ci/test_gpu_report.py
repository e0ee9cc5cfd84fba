"""Record of the last GPU test run: it is complete, and `--check` tells whether it is of these sources."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from common import long_tests_first, share_gpus

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "ci" / "gpu-report.json"
SCRIPT = ROOT / "ci" / "gpu_report.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("gpu_report", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not REPORT.exists(), reason="no GPU run is recorded")
def test_recorded_run(script):
    report = json.loads(REPORT.read_text())
    assert report["machine"]["gpus"], "the run saw no GPU"
    assert {"driver", "cuda", "python", "versions"} <= set(report["machine"])
    assert set(report["steps"]) <= set(script.STEPS)
    for step in report["steps"].values():
        assert {"command", "returncode", "seconds", "date"} <= set(step)
    tests = report["steps"]["tests"]
    assert tests["tests"] > 0
    assert len(tests["failed"]) == tests["failures"] + tests["errors"]


def test_junit_counts_and_names(script, tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text(
        '<testsuites><testsuite tests="4" failures="1" errors="1" skipped="1">'
        '<testcase classname="tests.a" name="ok"/>'
        '<testcase classname="tests.a" name="bad"><failure/></testcase>'
        '<testcase classname="tests.b" name="worse"><error/></testcase>'
        '<testcase classname="tests.b" name="not here"><skipped/></testcase>'
        "</testsuite></testsuites>"
    )
    assert script.read_junit(path) == {
        "tests": 4,
        "failures": 1,
        "errors": 1,
        "skipped": 1,
        "failed": ["tests.a::bad", "tests.b::worse"],
    }
    assert script.read_junit(tmp_path / "none.xml")["tests"] == 0


SANITIZER = """#!/bin/sh
for part; do :; done
echo "of $part"
case $part in paged) kill -11 $$;; grid) sleep 60;; esac
"""


def test_what_tests_measured_is_kept(script, tmp_path):
    (tmp_path / "test_it.py").write_text(
        "def test_one(record_property):\n    record_property('seconds', 1.5)\n\ndef test_two(): pass\n"
    )
    junit = tmp_path / "junit.xml"
    options = ["-o", "junit_family=xunit1", f"--junitxml={junit}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *options, str(tmp_path / "test_it.py")]
    subprocess.run(command, check=True, cwd=tmp_path)
    assert script.read_junit(junit)["measured"] == {"test_it::test_one": {"seconds": "1.5"}}


def test_parts_that_fail_or_hang_under_the_sanitizer_are_named(script, monkeypatch, capsys, tmp_path):
    program = tmp_path / "compute-sanitizer"
    program.write_text(SANITIZER)
    program.chmod(0o755)
    monkeypatch.setattr(script.shutil, "which", lambda name: str(program))
    monkeypatch.setattr(script, "SANITIZER_SECONDS", 1)
    step = script.STEPS["memcheck"](tmp_path)
    assert step["failed"] == ["paged", "grid"] and step["returncode"] == 124
    assert "--tool memcheck" in step["command"]
    printed = capsys.readouterr().out
    assert all(f"of {part}" in printed for part in step["parts"])
    assert set(step["parts"]) - set(script.STEPS["racecheck"](tmp_path)["parts"]) == {"ranks", "together"}


def test_steps_are_kept_for_the_same_sources_alone(script, tmp_path):
    path = tmp_path / "report.json"
    assert script.kept_steps(path, "a") == {}
    path.write_text(json.dumps({"digest": "a", "steps": {"tests": {}}}))
    assert script.kept_steps(path, "a") == {"tests": {}}
    assert script.kept_steps(path, "b") == {}


def test_digest_is_of_names_and_contents(script, tmp_path):
    (tmp_path / "kernels").mkdir()
    seen = [script.digest(tmp_path)]
    for name, text in (("a.cu", "1"), ("a.cu", "2"), ("b.cuh", "2"), ("c.py", "")):
        (tmp_path / "kernels" / name).write_text(text)
        seen.append(script.digest(tmp_path))
    assert len(set(seen)) == len(seen) == 5
    (tmp_path / "kernels" / "notes.txt").write_text("no source")
    assert script.digest(tmp_path) == seen[-1]
    (tmp_path / "kernels" / "c.py").rename(tmp_path / "kernels" / "d.py")
    assert script.digest(tmp_path) not in seen


def checked(script, monkeypatch, capsys, path):
    monkeypatch.setattr(script.sys, "argv", ["gpu_report.py", "--check", "--report", str(path)])
    code = script.main()
    return code, capsys.readouterr()


def test_check_tells_an_old_record_from_one_of_these_sources(script, monkeypatch, capsys, tmp_path):
    path = tmp_path / "report.json"
    code, printed = checked(script, monkeypatch, capsys, path)
    assert code == 1 and "is missing" in printed.err and printed.err.count("\n") == 1
    steps = {"tests": {"returncode": 0}, "memcheck": {"returncode": 0}}
    path.write_text(json.dumps({"digest": "another", "steps": steps}))
    code, printed = checked(script, monkeypatch, capsys, path)
    assert code == 1 and "older than the sources" in printed.err and printed.err.count("\n") == 1
    path.write_text(json.dumps({"digest": script.digest(), "steps": steps}))
    code, printed = checked(script, monkeypatch, capsys, path)
    assert code == 0 and "tests, memcheck" in printed.out and not printed.err
    path.write_text(json.dumps({"digest": script.digest(), "steps": steps | {"tests": {"returncode": 1}}}))
    code, printed = checked(script, monkeypatch, capsys, path)
    assert code == 1 and "tests failed" in printed.err


def test_check_takes_no_steps(script, monkeypatch):
    monkeypatch.setattr(script.sys, "argv", ["gpu_report.py", "--check", "tests"])
    with pytest.raises(SystemExit, match="2"):
        script.main()


@pytest.mark.parametrize(
    ("asked", "cores", "expected"),
    [
        ("", 16, ["-n", "16", "--dist", "worksteal"]),
        ("", 2, ["-n", "2", "--dist", "worksteal"]),
        ("", 64, ["-n", "16", "--dist", "worksteal"]),  # limited by the 80 GiB of the GPU
        ("-p no:cacheprovider -n 14", 16, ["--dist", "worksteal"]),
        ("--numprocesses=3", 16, ["--dist", "worksteal"]),
        ("-n 4 --dist load", 16, []),
    ],
)
def test_tests_are_shared_out(script, monkeypatch, asked, cores, expected):
    monkeypatch.setattr(script, "find_spec", lambda name: name)
    monkeypatch.setattr(script, "gpu_memory", lambda: [80 << 30])
    monkeypatch.setattr(script.os, "sched_getaffinity", lambda process: range(cores))
    assert script.share_out(asked)[0] == expected


def test_workers_take_turns_over_several_gpus(script, monkeypatch):
    monkeypatch.setattr(script, "find_spec", lambda name: name)
    monkeypatch.setattr(script, "gpu_memory", lambda: [80 << 30, 80 << 30])
    monkeypatch.setattr(script.os, "sched_getaffinity", lambda process: range(64))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    options, environment = script.share_out("")
    assert options[:2] == ["-n", "32"]
    workers = ({}, {"PYTEST_XDIST_WORKER": "gw0"}, {"PYTEST_XDIST_WORKER": "gw3"})
    for one_each, expected in ((True, ["0,1", "0", "1"]), (False, ["0,1", "0,1", "1,0"])):
        seen = []
        for worker in workers:
            one = environment | worker
            share_gpus(one, one_each)
            seen.append(one["CUDA_VISIBLE_DEVICES"])
        assert seen == expected
        share_gpus(alone := dict(worker), one_each)
        assert alone == worker


@pytest.mark.parametrize("n_workers", [1, 2, 3, 8, 32])
def test_each_worker_begins_with_its_share_of_the_long_tests(n_workers):
    """Each part is a worker's at the start, as "worksteal" cuts the list."""
    tests = [*range(300), *(f"long {i}" for i in range(50)), *range(300, 600)]
    is_long = lambda test: isinstance(test, str)  # noqa: E731
    ordered = long_tests_first(tests, is_long, n_workers)
    assert sorted(map(str, ordered)) == sorted(map(str, tests))
    assert [test for test in ordered if not is_long(test)] == [*range(600)]
    share = 50 // n_workers
    for worker in range(n_workers):
        begin, end = (len(ordered) * place // n_workers for place in (worker, worker + 1))
        part = ordered[begin:end]
        assert all(map(is_long, part[:share]))
        assert not any(map(is_long, part[share + 1 :]))


def test_without_xdist_nothing_is_shared_out(script, monkeypatch):
    monkeypatch.setattr(script, "find_spec", lambda name: None)
    assert script.share_out("") == ([], {})
