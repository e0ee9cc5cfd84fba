"""Run NetworkX's own tests through the backend `trav`, and count the dispatched calls.

    python ci/networkx_suite.py        # the parts that concern its functions
    python ci/networkx_suite.py --all  # all of NetworkX's tests, many of them slow

Without `--all`, one of its tests, which would take most of the time, is run for one in eleven of its 500
random graphs.

Exits with 1 if a test fails that `ci/networkx_xfails.toml` does not permit, if one that it names passes, or
if a function of the backend was never run: a run in which nothing was dispatched would pass every test.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
PARTS = (
    "networkx.algorithms.traversal",
    "networkx.algorithms.components",
    "networkx.algorithms.shortest_paths",
    "networkx.algorithms.tests.test_dag",
    "networkx.algorithms.tests.test_distance_measures",
    "networkx.algorithms.link_analysis",
    "networkx.algorithms.centrality",
    "networkx.generators.tests.test_ego",
    "networkx.tests.test_convert_pandas",
)
MANY = "test_use_bounds_on_off_consistency"  # random graphs of ten seeds, ten sizes and five densities
STEP = 11  # run one in this many of them, which covers each seed, size and density
COUNTS = "RAPIDS_TRAV_DISPATCHES"  # environment variable: the file to which the plugin writes
EVERY = "RAPIDS_TRAV_EVERY"  # environment variable: run one in this many of the tests `MANY`


class Counting(logging.Handler):
    """Logging handler that counts the functions that the backend has run with its own code."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.counts: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == "running %s" and isinstance(record.args, tuple):
            self.counts[str(record.args[0])] += 1


class Plugin:
    """Plugin that counts dispatches and keeps the outcome of each test, for `main` in the parent process."""

    def __init__(self, path: str, step: int) -> None:
        self.path = Path(path)
        self.step = step
        self.outcomes: dict[str, str] = {}
        self.counting = Counting()
        logger = logging.getLogger("rapids_trav.backends.dispatch")
        logger.setLevel(logging.DEBUG)
        logger.addHandler(self.counting)
        logger.propagate = False

    def pytest_collection_modifyitems(self, items) -> None:
        many = [item for item in items if getattr(item, "originalname", None) == MANY]
        left_out = {item for i, item in enumerate(many) if i % self.step}
        items[:] = [item for item in items if item not in left_out]

    def pytest_runtest_logreport(self, report) -> None:
        name = report.nodeid.rpartition("networkx/")[2]
        if report.when == "call" or report.outcome != "passed":
            expected = hasattr(report, "wasxfail")
            self.outcomes[name] = "xfailed" if expected and report.skipped else report.outcome

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps({"counts": self.counting.counts, "outcomes": self.outcomes}))


def run_inside(arguments: list[str]) -> int:
    """Run pytest in this process, with the plugin."""
    import pytest

    return int(pytest.main(arguments, plugins=[Plugin(os.environ[COUNTS], int(os.environ[EVERY]))]))


def run_suite(parts: tuple[str, ...], step: int) -> dict:
    """Return the counts of dispatches and the outcome of each test; one in `step` of `MANY` is run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "counts.json"
        environment = os.environ | {
            "NETWORKX_TEST_BACKEND": "trav",
            "NETWORKX_FALLBACK_TO_NX": "1",
            COUNTS: str(path),
            EVERY: str(step),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        }
        command = [sys.executable, str(HERE), "--inside", "-q", "-p", "no:cacheprovider", "--no-header"]
        command += ["--tb=short", "--rootdir", folder, "--pyargs", *parts]
        done = subprocess.run(command, env=environment, check=False, cwd=folder)
        if not path.exists():
            sys.exit(f"pytest ended with {done.returncode} before it had run the tests.")
        return json.loads(path.read_text())


def complaints(found: dict, permitted: dict[str, str], listed: set[str]) -> list[str]:
    """Return a sentence for each problem found."""
    wrong = []
    failed = {name for name, outcome in found["outcomes"].items() if outcome == "failed"}
    for name in sorted(failed - permitted.keys()):
        wrong.append(f"{name} failed, and ci/networkx_xfails.toml does not permit it.")
    for name in sorted(permitted.keys() & found["outcomes"].keys() - failed):
        wrong.append(f"{name} passed: take it out of ci/networkx_xfails.toml.")
    for name in sorted(listed - found["counts"].keys()):
        wrong.append(f"{name} was never run by the backend.")
    if not found["outcomes"]:
        wrong.append("No test was run.")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="all of NetworkX's tests")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from rapids_trav_networkx import FUNCTIONS

    found = run_suite(("networkx",), 1) if options.all else run_suite(PARTS, STEP)
    for name, count in sorted(found["counts"].items()):
        print(f"{count:8,}  {name}")
    tally = Counter(found["outcomes"].values())
    print(", ".join(f"{count:,} {outcome}" for outcome, count in tally.items()))
    permitted = tomllib.loads((HERE.parent / "networkx_xfails.toml").read_text())["permitted"]
    wrong = complaints(found, permitted, set(FUNCTIONS))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    inside = sys.argv[1:2] == ["--inside"]
    sys.exit(run_inside(sys.argv[2:]) if inside else main())
