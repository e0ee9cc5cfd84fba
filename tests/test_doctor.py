"""The doctor on several kinds of machines: no driver, a broken driver, GPUs without packages."""

import ctypes
import sys

import pytest

from rapids_trav import doctor
from rapids_trav.utilities.machine import GPU_PACKAGES, Driver, Gpu, find_driver, find_version

COMPLETE = dict.fromkeys((*doctor.BASE_PACKAGES, *GPU_PACKAGES, *doctor.MORE_GPU_PACKAGES), "1.0")
CPU_ONLY = COMPLETE | dict.fromkeys((*GPU_PACKAGES, *doctor.MORE_GPU_PACKAGES))
H100 = Gpu("NVIDIA H100", 80 << 30, "9.0")


class FakeDriver:
    """Imitation of the few functions of libcuda.so.1 that are called, for a machine with two GPUs."""

    def __init__(self, init=0):
        self.init = init

    def cuInit(self, flags):
        return self.init

    def cuDriverGetVersion(self, out):
        out._obj.value = 13010

    def cuDeviceGetCount(self, out):
        out._obj.value = 2

    def cuDeviceGet(self, out, index):
        out._obj.value = index

    def cuDeviceGetName(self, buffer, size, device):
        buffer.value = f"GPU {device.value}".encode()

    def cuDeviceTotalMem_v2(self, out, device):
        out._obj.value = 1 << 33

    def cuDeviceGetAttribute(self, out, attribute, device):
        out._obj.value = {75: 9, 76: 0}[attribute]


def no_library(name):
    raise OSError(name)


def test_machines():
    assert find_driver(no_library) == Driver()
    assert "does not start" in find_driver(lambda name: FakeDriver(init=999)).problem
    driver = find_driver(lambda name: FakeDriver())
    assert driver.cuda == "13.1"
    assert driver.gpus == [Gpu(f"GPU {i}", 1 << 33, "9.0") for i in range(2)]


@pytest.mark.parametrize(
    ("driver", "packages", "sentence"),
    [
        (Driver(), CPU_ONLY, "No NVIDIA driver"),
        (Driver(problem="it is broken"), CPU_ONLY, "because it is broken"),
        (Driver("13.0"), CPU_ONLY, "CUDA_VISIBLE_DEVICES"),
        (Driver("13.1", [H100]), CPU_ONLY, "pip install 'rapids-trav[cu13]'"),
        (Driver("12.4", [H100]), CPU_ONLY, "pip install 'rapids-trav[cu12]'"),
        (Driver("14.0", [H100]), CPU_ONLY, "pip install 'rapids-trav[cu13]'"),
        (Driver("11.8", [H100]), CPU_ONLY, "update it"),
        (Driver("13.1", [H100]), COMPLETE | {"numba": None}, "numba missing: pip install"),
    ],
)
def test_advice(driver, packages, sentence):
    advice = doctor.advise(driver, packages)
    assert len(advice) == 1
    assert sentence in advice[0]


def test_no_advice_where_nothing_is_missing():
    assert doctor.advise(Driver("13.1", [H100]), COMPLETE) == []


def test_versions():
    assert find_version("numpy")
    assert find_version("no-such-package-here") is None


def test_this_machine():
    report = doctor.examine()
    assert report.trials[0].engine == "cpu"
    assert report.healthy, report.trials
    assert report.as_dict()["packages"]["numba"]
    assert {"matplotlib", "scipy", "dask", "networkx", "polars", "duckdb", "igraph"} <= report.packages.keys()


def test_a_broken_engine_is_reported_not_raised(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapids_trav.graph", None)
    trial = doctor.try_engine("cpu")
    assert not trial.works
    assert "ImportError" in trial.message or "ModuleNotFoundError" in trial.message


def test_the_real_library_can_be_asked():
    """Without the library there is no driver; a driver reports its version, or why it does not start."""
    driver = find_driver(ctypes.CDLL)
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        assert driver == Driver()
    else:
        assert (driver.cuda is None) != (driver.problem is None)


@pytest.mark.gpu
def test_a_gpu_is_seen_and_used():
    report = doctor.examine()
    assert report.driver.gpus
    assert [trial.engine for trial in report.trials] == ["cpu", "cuda"]
    assert report.healthy, report.trials
