"""What is given to the driver's launch of a kernel that takes one struct, and when CuPy launches it."""

import ctypes
from types import SimpleNamespace

import pytest

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.loader import Kernels
from rapids_trav.jit.launches import count_launches

LEGACY_STREAM = 1  # of CUDA's driver


class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int64), ("second", ctypes.c_int64)]


class Driver:
    """A driver that notes what it is given, with the struct that it finds at the address."""

    def __init__(self, error=0):
        self.launches, self._error = [], error

    def cuLaunchKernel(self, *given):
        *given, extra = given
        assert extra == 0
        return self._noted("plain", *given)

    def cuLaunchCooperativeKernel(self, *given):
        return self._noted("cooperative", *given)

    def _noted(self, kind, function, *given):
        *shape, stream, parameters = given
        (address,) = (ctypes.c_void_p * 1).from_address(parameters)
        pair = Pair.from_address(address)
        self.launches.append((kind, function, tuple(shape), stream, (pair.first, pair.second)))
        return (self._error,)


class Kernel:
    """A kernel of CuPy."""

    ptr = 77

    def __init__(self, by_cupy):
        self._by_cupy = by_cupy

    def __call__(self, grid, block, parameters, **how):
        self._by_cupy.append((grid, block, [one.tobytes() for one in parameters], how))


@pytest.fixture
def launch(monkeypatch):
    """Return a function that launches a kernel with a driver, and returns the launches of CuPy."""

    def launched(driver, *arguments, stream=0, **how):
        by_cupy = []
        current = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=stream))
        modules = None if driver is None else (driver, SimpleNamespace(cuda=current))
        monkeypatch.setattr(loader, "_modules", lambda: modules)
        module = SimpleNamespace(get_function=lambda name: Kernel(by_cupy))
        with count_launches() as counts:
            Kernels(module).launch_grid("a_kernel", (3,), *arguments, block=64, **how)
        assert counts == {"a_kernel": 1}
        return by_cupy

    return launched


@pytest.mark.parametrize(("cooperative", "kind"), [(False, "plain"), (True, "cooperative")])
@pytest.mark.parametrize(("stream", "number"), [(0, LEGACY_STREAM), (2, 2), (1 << 40, 1 << 40)])
def test_one_struct_is_launched_by_the_driver(launch, cooperative, kind, stream, number):
    driver = Driver()
    by_cupy = launch(driver, Pair(5, -6), stream=stream, cooperative=cooperative, shared_bytes=1024)
    assert by_cupy == []
    assert driver.launches == [(kind, 77, (3, 1, 1, 64, 1, 1, 1024), number, (5, -6))]


def test_other_arguments_are_launched_by_cupy(launch):
    driver = Driver()
    assert len(launch(driver, Pair(5, -6), 7)) == 1
    assert len(launch(driver, 7)) == 1
    assert driver.launches == []


@pytest.mark.parametrize("driver", [None, Driver(error=201)], ids=["no cuda.bindings", "an error"])
def test_what_the_driver_cannot_launch_is_launched_by_cupy(launch, driver):
    by_cupy = launch(driver, Pair(5, -6), shared_bytes=1024)
    assert by_cupy == [((3,), (64,), [bytes(Pair(5, -6))], {"shared_mem": 1024})]
    (*_, how) = launch(driver, Pair(5, -6), cooperative=True)[0]
    assert how == {"shared_mem": 0, "enable_cooperative_groups": True}
