"""Fixtures shared by all tests: GPU tests are skipped without a GPU, and frames come from both libraries."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest
from common import gpu_count, share_gpus
from hypothesis import HealthCheck, settings

# The same examples in every run, however slow the machine: a change fails on an example of its own.
settings.register_profile(
    "tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")

pytest_plugins = ("recorded",)

# One cache of compiled functions for all workers, runs and checkouts of a machine.
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rapids_trav")
os.environ.setdefault("NUMBA_CACHE_DIR", str(CACHE / "numba"))


def pytest_configure(config):
    share_gpus(os.environ, one_each="not multigpu" in config.option.markexpr)
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU and the cu12 or cu13 extra")
    config.addinivalue_line("markers", "multigpu: needs at least two NVIDIA GPUs")


def pytest_collection_modifyitems(items):
    for item in items:
        needed = 2 if item.get_closest_marker("multigpu") else 1 if item.get_closest_marker("gpu") else 0
        if needed and gpu_count() < needed:
            item.add_marker(pytest.mark.skip(reason=f"needs {needed} GPU{'s' if needed > 1 else ''}"))


@pytest.fixture
def interruptible():
    """Have an interrupt raise an error, also where the shell that started the tests ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True, scope="module")
def short_collections():
    """Spare the garbage collector the tests, modules and compiled functions that are there by now.

    They last until the end, and it would look at all of them wherever a test, or what it tests, asks for a
    collection.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(params=["pandas", pytest.param("cudf", marks=pytest.mark.gpu)])
def frame_library(request):
    """Return the module pandas or cudf: a test runs on the frames, and so on the engine, of each."""
    return pytest.importorskip(request.param)


@pytest.fixture
def without_client(monkeypatch):
    """Hide the current Dask client that other tests of this process may have left."""

    def none(*_: object, **__: object) -> None:
        raise ValueError("no client")

    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "get_client", none)
