"""Plugin of pytest that shows failures as they happen and records the processor time of each test.

It appends a line for each test to the file that TEST_SECONDS names, if any: its seconds, those of the
processes that it started included, and its name.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

BEGAN = pytest.StashKey[float]()


def spent() -> float:
    """Return the processor seconds of this process and of those that it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    item.stash[BEGAN] = spent()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    if call.when == "teardown" and "TEST_SECONDS" in os.environ:
        report.user_properties.append(("seconds", round(spent() - item.stash[BEGAN], 3)))
    return report


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the first process, to which the workers of pytest-xdist report
        config.pluginmanager.register(_Recorder(config))


class _Recorder:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._file = os.environ.get("TEST_SECONDS")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and (terminal := self._config.pluginmanager.get_plugin("terminalreporter")):
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message.partition("\n")[0] if crash else ""
            terminal.write_line(f"\n{report.nodeid} failed: {reason}", red=True)
        if self._file and report.when == "teardown":
            seconds = dict(report.user_properties).get("seconds", 0)
            with Path(self._file).open("a") as file:
                file.write(f"{seconds} {report.nodeid}\n")
