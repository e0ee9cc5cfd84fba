"""Plugin of pytest that runs the tests marked `gpu` on a CPU.

It compiles vertex programs for the CPU, and skips the tests that left_out.toml names.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import emulated_programs
import pytest

from rapids_trav.engines.cuda.programs import link

pytest_plugins = ("emulated_suite",)
TABLE = Path(__file__).parents[1] / "left_out.toml"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests that take long as well")


def pytest_configure() -> None:
    link._compiled = emulated_programs.compiled


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
    table = left_out(config.getoption("--long"))
    for item in items:
        if why := reason_of(item.nodeid.removeprefix("tests/"), table):
            item.add_marker(pytest.mark.skip(reason=f"not emulated: {why}"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each test an order of its own, so that it does not depend on those that ran before."""
    from cupy._queues import seed_order

    seed_order(item.nodeid)
