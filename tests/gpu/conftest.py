"""Fixtures of the tests that need a GPU; without CuPy or a device each is skipped."""

import pytest


@pytest.fixture(scope="session")
def cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        pytest.skip(f"no CUDA device: {error}")
    if n_devices == 0:
        pytest.skip("no CUDA device")
    return cupy


@pytest.fixture(scope="session")
def engine(cupy):
    from rapids_trav.engines.cuda import CudaEngine

    return CudaEngine(least_pull=0)  # turns by the ratio alone: most graphs here are small


@pytest.fixture(scope="session")
def cugraph_libraries(cupy):
    """Skip a test that compares with cuGraph where it, or a library that it needs, is not installed."""
    for name in ("cudf", "cugraph", "pylibcugraph"):
        pytest.importorskip(name)
