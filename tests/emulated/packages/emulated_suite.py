"""Plugin of pytest that chooses files of the emulated suite, and notices tests that are skipped unawares.

A table, tests/emulated/suite.toml, has a row for each file: its part of ten that take about as long, how many
of its tests passed, and the kernels that they launch.  `--record` writes it anew.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PARTS = 10
LEAST = 0.5  # of the tests of a file that passed before, those that must pass
FUNCTION = r"__global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\("
KERNELS = Path(__file__).parents[3] / "kernels"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--suite", type=Path, help="table of all files, by which to choose and to count")
    parser.addoption("--part", type=int, choices=range(PARTS), help="run this part of the table")
    parser.addoption("--always", action="append", default=[], help="file to run whatever its part")
    parser.addoption("--record", type=Path, help="write the table, from a run of all files")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--suite"):
        config.pluginmanager.register(Choice(config))
    if config.getoption("--record"):
        config.pluginmanager.register(Recorder(config))


def file_of(report: pytest.TestReport) -> str:
    return report.nodeid.partition("::")[0]


def first_reporter(session: pytest.Session) -> pytest.TerminalReporter | None:
    """Return the reporter of the first process, to which the workers of pytest-xdist report."""
    is_worker = hasattr(session.config, "workerinput")
    return None if is_worker else session.config.pluginmanager.get_plugin("terminalreporter")


class Choice:
    """The files that run; those that the table does not have run as well."""

    def __init__(self, config: pytest.Config) -> None:
        self.rows = tomllib.loads(config.getoption("--suite").read_text(encoding="utf-8"))
        self.part, self.always = config.getoption("--part"), config.getoption("--always")
        self.passed: defaultdict[str, int] = defaultdict(int)

    def runs(self, file: str) -> bool:
        row = self.rows.get(file)
        return row is None or self.part in (None, row["part"]) or file in self.always

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        left_out = collection_path.is_file() and not self.runs(
            collection_path.relative_to(config.rootpath).as_posix()
        )
        return True if left_out else None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Say what runs, and why; the header of pytest would not be shown with `-q`."""
        if reporter := first_reporter(session):
            chosen = [file for file, row in self.rows.items() if row["part"] == self.part]
            n_left_out = sum(not self.runs(file) for file in self.rows)
            part = f"part {self.part} of {PARTS}: {' '.join(chosen)}"
            reporter.write_line(f"all {PARTS} parts" if self.part is None else part)
            reporter.write_line(f"whatever their part: {' '.join(self.always) or 'none'}")
            reporter.write_line(f"not run: {n_left_out} files")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.passed[file_of(report)] += report.when == "call" and report.passed

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run in which most tests of a file did not pass."""
        reporter = first_reporter(session)
        if not reporter or session.exitstatus not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            return
        for file in filter(self.runs, self.rows):
            before = self.rows[file]["passed"]
            if self.passed[file] < LEAST * before:
                reporter.write_line(f"{file}: {self.passed[file]} tests passed, and {before} did", red=True)
                session.exitstatus = pytest.ExitCode.TESTS_FAILED


class Recorder:
    """What the tests of each file take, by processor time, and the kernels that they launch."""

    def __init__(self, config: pytest.Config) -> None:
        from cupy._kernels import Kernel

        self.path = config.getoption("--record")
        self.began, self.launched = sum(os.times()[:4]), set[str]()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.passed: defaultdict[str, int] = defaultdict(int)
        self.kernels: defaultdict[str, set[str]] = defaultdict(set)
        launch = Kernel.launch

        def noted(kernel: Kernel, *given: object) -> None:
            self.launched.add(kernel.name)
            launch(kernel, *given)

        Kernel.launch = noted

    def pytest_collection_finish(self) -> None:
        self.began = sum(os.times()[:4])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        """Give the last report of a test what it took since the test before, for the first process."""
        if call.when == "teardown":
            now = sum(os.times()[:4])
            item.user_properties.append(("took", (now - self.began, sorted(self.launched))))
            self.began = now
            self.launched.clear()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = file_of(report)
        self.passed[file] += report.when == "call" and report.passed
        for name, took in report.user_properties:
            if name == "took":
                self.seconds[file] += took[0]
                self.kernels[file] |= set(took[1])

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if first_reporter(session) and session.exitstatus == pytest.ExitCode.OK:
            self.path.write_text("".join(self._table()), encoding="utf-8")

    def _table(self) -> Iterator[str]:
        yield "# Files of the emulated suite, from `ci/test_emulated.sh record`: see emulated_suite.py.\n"
        files_of = defaultdict(set)
        for path in KERNELS.glob("*.cu"):
            for name in re.findall(FUNCTION, path.read_text(encoding="utf-8")):
                files_of[name].add(path.name)
        part_of, taken = {}, [0.0] * PARTS
        for file in sorted(self.seconds, key=lambda file: (-self.seconds[file], file)):
            part_of[file] = part = taken.index(min(taken))
            taken[part] += self.seconds[file]
        for file in sorted(part_of):
            kernels = sorted(set().union(*(files_of[name] for name in self.kernels[file])))
            row = f"part = {part_of[file]}\npassed = {self.passed[file]}\nkernels = {kernels}"
            yield f'\n["{file}"]\n{row}\n'.replace("'", '"')
