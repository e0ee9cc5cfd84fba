"""NetworkX's own tests, run through the backend, and the check of their outcomes."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("networkx")
ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "ci"))

from networkx_suite import complaints  # noqa: E402


@pytest.mark.slow
def test_networkx_tests_pass_and_every_function_is_dispatched():
    done = subprocess.run(
        [sys.executable, "ci/networkx_suite.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


def test_each_thing_that_is_wrong_is_told():
    found = {"outcomes": {"a": "passed", "b": "failed", "c": "failed", "d": "passed"}, "counts": {"f": 3}}
    assert complaints(found, {"b": "known", "d": "known"}, {"f", "g"}) == [
        "c failed, and ci/networkx_xfails.toml does not permit it.",
        "d passed: take it out of ci/networkx_xfails.toml.",
        "g was never run by the backend.",
    ]
    assert complaints({"outcomes": {}, "counts": {}}, {}, set()) == ["No test was run."]
