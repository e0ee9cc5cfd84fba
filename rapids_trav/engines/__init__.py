"""Engines: the back ends that run searches, on the CPU (Numba) or on a GPU (CuPy), behind one interface.

`engines.interface.Engine` lists the methods and properties of an engine.

Whether there is a GPU the driver is asked through its own library, which needs no Python package.  A GPU
whose packages are broken can thus be distinguished from a machine without a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib.util import find_spec

from rapids_trav.engines.interface import DeviceEngine, Engine
from rapids_trav.errors import TravError, first_line, written
from rapids_trav.utilities.machine import find_driver

__all__ = ["NAMES", "gpu_is_there", "select"]

NAMES = ("auto", "cpu", "cuda")
PACKAGES = ("cudf", "cupy")
DOCTOR = "run `rapids-trav doctor` for details"


def select(name: str | Engine, frame_library: str) -> Engine:
    """Return the engine called `name`, or `name` if it is one; "auto" is "cuda" for cuDF and else "cpu"."""
    if isinstance(name, Engine):
        return name
    if not isinstance(name, str) or name not in NAMES:
        raise TravError(f"engine={written(name)} is not known: choose one of {', '.join(map(repr, NAMES))}.")
    if name == "cpu" or (name == "auto" and frame_library != "cudf"):
        from rapids_trav.engines.cpu import CpuEngine

        return CpuEngine()
    try:
        from rapids_trav.engines.cuda import CudaEngine

        engine: DeviceEngine = CudaEngine()
        n_gpus = engine.xp.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise TravError(
            f"engine='cuda' needs {error.name or 'CuPy'}, which cannot be imported ({cause(error)}): "
            f"install rapids-trav[cu13] or rapids-trav[cu12], or use engine='cpu'."
        ) from error
    except RuntimeError as error:  # raised by CUDA: no driver, an old one, no GPU
        raise TravError(
            f"engine='cuda' finds no GPU ({cause(error)}): {DOCTOR}, or use engine='cpu'."
        ) from error
    if n_gpus == 0:
        raise TravError(f"engine='cuda' finds no GPU: {DOCTOR}, or use engine='cpu'.")
    return engine


def gpu_is_there() -> bool:
    """Return whether there is a GPU with the packages that the CUDA engine and cuDF frames need.

    Raises
    ------
    TravError
        If the GPU and the packages are there but do not work.
    """
    if not all(map(_installed, PACKAGES)) or count_gpus() == 0:
        return False
    try:
        import cudf  # noqa: F401
        import cupy

        if cupy.cuda.runtime.getDeviceCount() > 0:
            return True
        problem = "CuPy finds none"
    except Exception as error:  # a missing library, a wrong version, an old driver: anything
        raise TravError(_broken(cause(error))) from error
    raise TravError(_broken(problem))


def count_gpus(load: Callable[[str], ctypes.CDLL] = ctypes.CDLL) -> int:
    """Return the number of GPUs, 0 without a driver; refuse a driver that does not start."""
    driver = find_driver(load)
    if driver.problem:
        raise TravError(_broken(driver.problem))
    return len(driver.gpus)


def cause(error: Exception) -> str:
    """Return the type and the first line of an error, or of the error that caused it."""
    origin = error.__cause__ if isinstance(error.__cause__, Exception) else error
    return f"{type(origin).__name__}: {first_line(origin)}"


def _broken(problem: str) -> str:
    return (
        f"engine='auto' selects the GPU here, which does not work ({problem}): {DOCTOR}, or use engine='cpu'."
    )


def _installed(package: str) -> bool:
    """Return whether a package is installed; a bare directory of that name does not count."""
    spec = find_spec(package)
    return spec is not None and spec.origin is not None
