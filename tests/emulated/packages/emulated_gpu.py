"""Plugin of pytest that runs the tests marked `gpu` on a CPU.

It compiles vertex programs for the CPU, skips the tests that left_out.toml names, and fails a run in which far
fewer tests pass than suite.toml says.  That file also assigns each test file to one of ten parts, of about equal
time, and lists the kernels that it launches.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import emulated_programs
import pytest

from rapids_trav.engines.cuda.programs import link

TABLE = Path(__file__).parents[1] / "left_out.toml"
SUITE = Path(__file__).parents[1] / "suite.toml"
KERNELS = Path(__file__).parents[3] / "kernels"
PARTS = 10
ENOUGH = 0.9  # of the tests that passed when suite.toml was written
_ENTRY = re.compile(r'extern "C" __global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(')


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--part", type=int, help=f"run one of {PARTS} parts, 0 or more")
    parser.addoption("--always", action="append", default=[], help="a file that runs whatever the part")
    parser.addoption("--long", action="store_true", help="run the tests that take long as well")
    parser.addoption("--record", type=Path, help="a folder for what a run writes to make suite.toml anew")


def pytest_configure(config: pytest.Config) -> None:
    link._compiled = emulated_programs.compiled
    if config.getoption("--record"):
        from cupy._kernels import Kernel

        launch = Kernel.launch

        def noted(kernel: Kernel, *arguments: object) -> None:
            _launched.add(kernel.name)
            launch(kernel, *arguments)

        Kernel.launch = noted


_launched: set[str] = set()  # names of kernels, since the last test


def pytest_report_header() -> str:
    import cupy

    return f"CuPy {cupy.__version__}: {Path(cupy.__file__).parent}"


def left_out(long: bool) -> dict[str, str]:
    """Return why tests are left out, by name."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return table["never"] | ({} if long else table["long"])


def reason_of(test: str, table: dict[str, str]) -> str | None:
    """Return why a test is left out; a name stands for all tests that begin with it, and * for anything."""
    for name, why in table.items():
        if re.match(re.escape(name).replace(r"\*", ".*"), test):
            return why
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    part, suite = config.getoption("--part"), tomllib.loads(SUITE.read_text())
    if part is not None:
        always = config.getoption("--always")
        mine = {item: suite.get(_file(item.nodeid), {"part": part})["part"] == part for item in items}
        chosen = [item for item in items if mine[item] or _file(item.nodeid) in always]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    table = left_out(config.getoption("--long"))
    for item in items:
        if why := reason_of(item.nodeid.removeprefix("tests/"), table):
            item.add_marker(pytest.mark.skip(reason=f"not emulated: {why}"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each test an order of its own, so that it does not depend on those that ran before."""
    from cupy._queues import seed_order

    seed_order(item.nodeid)


def pytest_runtest_teardown(item: pytest.Item) -> None:
    if folder := item.config.getoption("--record"):
        folder.mkdir(exist_ok=True)
        with (folder / getattr(item.config, "workerinput", {"workerid": "one"})["workerid"]).open(
            "a"
        ) as file:
            file.write(f"{_file(item.nodeid)} {' '.join(sorted(_launched))}\n")
        _launched.clear()


def _file(nodeid: str) -> str:
    return nodeid.partition("::")[0]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which too few tests passed; the processes of pytest-xdist report to the first one."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(session.config, "workerinput"):
        return
    passed = Counter(_file(report.nodeid) for report in reporter.stats.get("passed", []))
    if folder := session.config.getoption("--record"):
        _write_suite(folder, passed, reporter)
    part, always = session.config.getoption("--part"), session.config.getoption("--always")
    suite = tomllib.loads(SUITE.read_text())
    expected = {f: row["passed"] for f, row in suite.items() if part == row["part"] or f in always}
    fewest = int(ENOUGH * sum(expected.values()))
    if passed.total() < fewest and session.exitstatus in (
        pytest.ExitCode.OK,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        reporter.write_line(f"{passed.total()} tests passed, and at least {fewest} should.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _write_suite(folder: Path, passed: Counter[str], reporter: pytest.TerminalReporter) -> None:
    """Write suite.toml: the files from the dearest on go to the part that has the fewest seconds so far."""
    of_entry = {
        entry: path.name for path in KERNELS.glob("*.cu") for entry in _ENTRY.findall(path.read_text())
    }
    kernels: dict[str, set[str]] = defaultdict(set)
    for path in folder.iterdir():
        for line in path.read_text().splitlines():
            file, *names = line.split()
            kernels[file] |= {of_entry[name] for name in names if name in of_entry}
    seconds: Counter[str] = Counter()
    for report in [report for reports in reporter.stats.values() for report in reports]:
        seconds[_file(getattr(report, "nodeid", ""))] += dict(getattr(report, "user_properties", ())).get(
            "seconds", 0
        )
    totals = [0.0] * PARTS
    rows = {}
    for file in sorted(kernels, key=lambda file: (-seconds[file], file)):
        part = totals.index(min(totals))
        totals[part] += seconds[file]
        named = ", ".join(f'"{kernel}"' for kernel in sorted(kernels[file]))
        rows[file] = f'"{file}" = {{part = {part}, passed = {passed[file]}, kernels = [{named}]}}\n'
    head = "# Each emulated test file: its part, how many of its tests passed, and the kernels that it launches.\n"
    SUITE.write_text(
        head + "# Written by `ci/test_emulated.sh record`.\n\n" + "".join(rows[file] for file in sorted(rows))
    )
    reporter.write_line(f"suite.toml: {[round(total) for total in totals]} seconds")
