"""Fixtures of the tests that need a GPU; the tests are skipped without CuPy or a device."""

import threading

import pytest
from common import long_tests_first


@pytest.hookimpl(trylast=True)  # once the tests that were not asked for have been left out
def pytest_collection_modifyitems(config, items):
    """Begin with the tests marked `long`, so that no worker is left with them at the end."""
    n_workers = config.workerinput["workercount"] if hasattr(config, "workerinput") else 1
    items[:] = long_tests_first(items, lambda item: item.get_closest_marker("long") is not None, n_workers)


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

    return CudaEngine(least_pull=0)  # changes direction by the ratio alone, since most graphs here are small


@pytest.fixture(scope="session")
def cpu():
    from rapids_trav.engines.cpu import CpuEngine

    return CpuEngine()


@pytest.fixture(scope="session")
def cugraph_libraries(cupy):
    """Skip a test that compares with cuGraph if cuGraph or a library that it needs is not installed."""
    for name in ("cudf", "cugraph", "pylibcugraph"):
        pytest.importorskip(name)


@pytest.fixture(scope="module")
def client():
    """Yield a client of a cluster with one worker for each GPU; it is not the current client."""
    dask_cuda = pytest.importorskip("dask_cuda")
    distributed = pytest.importorskip("distributed")
    with (
        dask_cuda.LocalCUDACluster(dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def cpu_takes_part(monkeypatch):
    """Have the CPU take part in the iterations of a hybrid run from the first on, even if that is slower."""
    from rapids_trav.published.garaph import hybrid as shared

    monkeypatch.setattr(shared, "PATIENCE", 0)
    monkeypatch.setattr(shared.Dispatcher, "shares", lambda dispatcher: True)


@pytest.fixture
def cpu_takes_one_page(monkeypatch):
    """Have the CPU take one page of an iteration that it shares, before the GPU takes any."""
    from rapids_trav.published.garaph.dispatcher import CPU, Dispatcher

    begin, take = Dispatcher.begin, Dispatcher.take
    taken: dict[Dispatcher, threading.Event] = {}

    def begin_again(dispatcher):
        taken[dispatcher] = threading.Event()
        begin(dispatcher)

    def take_in_turn(dispatcher, side):
        if side != CPU:
            assert taken[dispatcher].wait(60)
            return take(dispatcher, side)
        if taken[dispatcher].is_set():
            return None
        page = take(dispatcher, side)
        taken[dispatcher].set()
        return page

    monkeypatch.setattr(Dispatcher, "begin", begin_again)
    monkeypatch.setattr(Dispatcher, "take", take_in_turn)
