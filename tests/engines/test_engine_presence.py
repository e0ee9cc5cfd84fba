"""A machine without a GPU, or without the packages for it, uses the CPU; a GPU that fails is reported."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from common import gpu_count

from rapids_trav import Graph, engines
from rapids_trav.engines import select
from rapids_trav.errors import TravError

WORKING_CUPY = """
class cuda:
    class runtime:
        getDeviceCount = staticmethod(lambda: {count})
"""


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a saved graph."""
    pd.DataFrame({"src": [0, 1], "dst": [1, 2]}).trav.graph().save(tmp_path / "graph")
    return tmp_path / "graph"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Make packages with the given sources importable instead of the real ones."""
    for name in [name for name in sys.modules if name.partition(".")[0] in engines.PACKAGES]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path / "packages")
    watches = [
        finder for finder in sys.meta_path if type(finder).__module__ == "rapids_trav.utilities.import_hooks"
    ]
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if finder not in watches])

    def write(**sources):
        for name, source in sources.items():
            package = tmp_path / "packages" / name
            package.mkdir(parents=True)
            (package / "__init__.py").write_text(source)

    yield write
    for name in engines.PACKAGES:
        sys.modules.pop(name, None)


def driver(initial=0, count=1):
    """Return a stand-in for the driver's library."""

    def get_count(pointer):
        pointer._obj.value = 0 if initial else count
        return initial

    others = ("DriverGetVersion", "DeviceGet", "DeviceGetName", "DeviceTotalMem_v2", "DeviceGetAttribute")
    return SimpleNamespace(
        cuInit=lambda flags: initial,
        cuDeviceGetCount=get_count,
        **{f"cu{name}": lambda *arguments: 0 for name in others},
    )


@pytest.fixture
def one_gpu(monkeypatch):
    monkeypatch.setattr(engines, "count_gpus", lambda: 1)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("raise ImportError('libcudf.so: undefined symbol')", "ImportError: libcudf.so: undefined symbol"),
        ("import not_there_at_all", "ModuleNotFoundError: No module named 'not_there_at_all'"),
        ("raise OSError('libnvrtc.so: cannot open\\nmore')", r"OSError: libnvrtc.so: cannot open\)"),
        ("raise RuntimeError('cudaErrorInsufficientDriver')", "RuntimeError: cudaErrorInsufficientDriver"),
    ],
)
def test_a_broken_package_is_told(folder, install, one_gpu, source, said):
    install(cudf=source, cupy=WORKING_CUPY.format(count=1))
    with pytest.raises(
        TravError, match=rf"engine='auto' selects the GPU here.*{said}.*or use engine='cpu'\.$"
    ):
        Graph.open(folder)
    assert Graph.open(folder, engine="cpu").engine.name == "cpu"


def test_a_gpu_that_the_packages_do_not_see_is_told(folder, install, one_gpu):
    install(cudf="", cupy=WORKING_CUPY.format(count=0))
    with pytest.raises(TravError, match="CuPy finds none"):
        Graph.open(folder)


def test_both_and_they_work(install, one_gpu):
    install(cudf="", cupy=WORKING_CUPY.format(count=1))
    assert engines.gpu_is_there()


def test_broken_packages_do_not_matter_without_a_gpu(folder, install, monkeypatch):
    install(cudf="raise ImportError('no libcuda.so.1')", cupy="")
    monkeypatch.setattr(engines, "count_gpus", lambda: 0)
    assert Graph.open(folder).engine.name == "cpu"


@pytest.mark.parametrize("missing", engines.PACKAGES)
def test_packages_that_are_not_installed(folder, monkeypatch, one_gpu, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    assert Graph.open(folder).engine.name == "cpu"


def test_a_folder_of_the_name_is_no_package(folder, tmp_path, monkeypatch, one_gpu):
    for name in engines.PACKAGES:
        (tmp_path / "empty" / name).mkdir(parents=True)
    monkeypatch.delitem(sys.modules, "cudf", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "empty")])
    assert not engines.gpu_is_there()


def test_the_driver_says_how_many():
    def not_there(name):
        raise OSError(name)

    assert engines.count_gpus(not_there) == 0
    assert engines.count_gpus(lambda name: driver(count=2)) == 2
    assert engines.count_gpus(lambda name: driver(initial=100)) == 0  # 100: no device
    with pytest.raises(TravError, match="driver does not start, CUDA error 803"):
        engines.count_gpus(lambda name: driver(initial=803))


def test_an_error_that_stands_for_another_is_told_by_that():
    try:
        raise ImportError("=====\nFailed to import CuPy.") from OSError("libnvrtc.so: cannot open")
    except ImportError as error:
        assert engines.cause(error) == "OSError: libnvrtc.so: cannot open"


@pytest.mark.skipif(gpu_count() > 0, reason="there is a GPU")
def test_the_cuda_engine_by_name_without_a_gpu():
    """The error is a clear one, and not a CUDA error from the first kernel."""
    with pytest.raises(TravError, match=r"engine='cuda' (needs|finds no GPU).*engine='cpu'\.$"):
        pd.DataFrame({"src": [0], "dst": [1]}).trav.bfs(0, engine="cuda")


def test_the_cuda_engine_by_name_without_devices(install):
    install(cupy=WORKING_CUPY.format(count=0))
    with pytest.raises(TravError, match=r"engine='cuda' finds no GPU: .*engine='cpu'\.$"):
        select("cuda", "pandas")
