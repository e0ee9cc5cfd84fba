"""Detection of a GPU for the CUDA engine: present, absent, or present but not working.

The driver is asked through its own library, which needs no Python package.  A GPU whose packages are broken
can thus be distinguished from a machine without a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib.util import find_spec

from rapids_trav.errors import TravError, first_line
from rapids_trav.utilities.machine import find_driver

PACKAGES = ("cudf", "cupy")
DOCTOR = "run `rapids-trav doctor` for details"


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
