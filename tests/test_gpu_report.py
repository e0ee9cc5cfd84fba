"""The record of the last GPU run is whole; its digest may be older than the sources."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
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
    if report["digest"] != script.digest():
        print("ci/gpu-report.json was recorded with other sources than these")


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


def test_steps_are_kept_for_the_same_sources_alone(script, tmp_path):
    path = tmp_path / "report.json"
    assert script.kept_steps(path, "a") == {}
    path.write_text(json.dumps({"digest": "a", "steps": {"tests": {}}}))
    assert script.kept_steps(path, "a") == {"tests": {}}
    assert script.kept_steps(path, "b") == {}


def test_digest_is_stable(script):
    assert script.digest() == script.digest()
    assert len(script.digest()) == 64


@pytest.mark.parametrize(
    ("asked", "cores", "expected"),
    [
        ("", 16, ["-n", "16", "--dist", "worksteal"]),
        ("", 2, ["-n", "2", "--dist", "worksteal"]),
        ("", 64, ["-n", "16", "--dist", "worksteal"]),  # 80 GB
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


def test_without_xdist_nothing_is_shared_out(script, monkeypatch):
    monkeypatch.setattr(script, "find_spec", lambda name: None)
    assert script.share_out("") == ([], {})
