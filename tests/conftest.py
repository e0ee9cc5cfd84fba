"""What the tests share: GPU tests are skipped where there is none, and frames come from either library."""

from __future__ import annotations

import os

import pytest
from common import gpu_count, rotate_gpus


def pytest_configure(config):
    rotate_gpus(os.environ)
    config.addinivalue_line("markers", "gpu: needs an NVIDIA GPU and the cu12 or cu13 extra")
    config.addinivalue_line("markers", "multigpu: needs at least two NVIDIA GPUs")


def pytest_collection_modifyitems(items):
    for item in items:
        needed = 2 if item.get_closest_marker("multigpu") else 1 if item.get_closest_marker("gpu") else 0
        if needed and gpu_count() < needed:
            item.add_marker(pytest.mark.skip(reason=f"needs {needed} GPU{'s' if needed > 1 else ''}"))


@pytest.fixture(params=["pandas", pytest.param("cudf", marks=pytest.mark.gpu)])
def frame_library(request):
    """The module pandas or cudf: the same test runs on the frames, and so on the engine, of both."""
    return pytest.importorskip(request.param)


@pytest.fixture
def without_client(monkeypatch):
    """No current client of Dask, whatever other tests of this process have left."""

    def none(*_: object, **__: object) -> None:
        raise ValueError("no client")

    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "get_client", none)
