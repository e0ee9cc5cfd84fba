"""What this machine can run: engines, GPUs, versions, and the command that brings what is missing.

Nothing here imports a GPU package to look at it: versions come from the metadata of what is installed, GPUs
from the driver itself.  Only the trial of the CUDA engine does, where a GPU and the packages were found.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from importlib import metadata
from typing import Any

BASE_PACKAGES = ("numpy", "pandas", "pyarrow", "numba", "scipy")
GPU_PACKAGES = ("cudf", "cupy", "rmm")  # what the CUDA engine needs
MORE_GPU_PACKAGES = (
    "dask-cudf",
    "dask-cuda",
    "pylibcugraph",
    "cugraph",
)  # for many GPUs, and for comparisons
EXTRAS = ("cu13", "cu12")  # newest first
COMPUTE_CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR


@dataclass(frozen=True)
class Gpu:
    """A GPU as the driver describes it."""

    name: str
    memory_bytes: int
    compute_capability: str


@dataclass(frozen=True)
class Driver:
    """The NVIDIA driver: the newest CUDA that it runs, e.g. "13.0" (None without a driver), and its GPUs."""

    cuda: str | None = None
    gpus: list[Gpu] = field(default_factory=list)
    problem: str | None = None


@dataclass(frozen=True)
class Trial:
    """Whether an engine answered a small question."""

    engine: str
    works: bool
    seconds: float
    message: str = ""


@dataclass(frozen=True)
class Report:
    """All that `rapids-trav doctor` prints."""

    version: str
    python: str
    platform: str
    cores: int
    driver: Driver
    packages: dict[str, str | None]
    trials: list[Trial]
    advice: list[str]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @property
    def healthy(self) -> bool:
        """Whether some engine works and none that has all its parts fails."""
        return bool(self.trials) and all(trial.works for trial in self.trials)


def examine() -> Report:
    """Look at the machine; never raises."""
    driver = find_driver()
    packages = {name: find_version(name) for name in (*BASE_PACKAGES, *GPU_PACKAGES, *MORE_GPU_PACKAGES)}
    trials = [try_engine("cpu")]
    if driver.gpus and all(packages[name] for name in GPU_PACKAGES):
        trials.append(try_engine("cuda"))
    return Report(
        version=find_version("rapids-trav") or "not installed",
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        driver=driver,
        packages=packages,
        trials=trials,
        advice=advise(driver, packages),
    )


def choose_engine() -> str:
    """The name "cuda" where there is a GPU with the packages that use it, else "cpu"."""
    return "cuda" if find_driver().gpus and all(find_version(name) for name in GPU_PACKAGES) else "cpu"


def find_version(name: str) -> str | None:
    """Version of an installed package, under its plain name or that of a CUDA build, or None."""
    if name == "cupy":
        candidates = ["cupy", *(f"cupy-cuda{extra[2:]}x" for extra in EXTRAS)]
    else:
        candidates = [name, *(f"{name}-{extra}" for extra in EXTRAS)]
    for candidate in candidates:
        try:
            return metadata.version(candidate)
        except metadata.PackageNotFoundError:
            continue
    return None


def find_driver(load: Callable[[str], Any] = ctypes.CDLL) -> Driver:
    """Ask the driver's own library, which needs no Python package."""
    try:
        cuda = load("libcuda.so.1")
    except OSError:
        return Driver()
    if code := cuda.cuInit(0):
        return Driver(problem=f"the NVIDIA driver is installed but does not start (CUDA error {code})")
    number, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    cuda.cuDeviceGetCount(ctypes.byref(count))
    version = f"{number.value // 1000}.{number.value % 1000 // 10}"
    return Driver(version, [_find_gpu(cuda, index) for index in range(count.value)])


def _find_gpu(cuda: Any, index: int) -> Gpu:
    device, name, memory = ctypes.c_int(), ctypes.create_string_buffer(128), ctypes.c_size_t()
    cuda.cuDeviceGet(ctypes.byref(device), index)
    cuda.cuDeviceGetName(name, len(name), device)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device)
    capability = []
    for attribute in COMPUTE_CAPABILITY:
        value = ctypes.c_int()
        cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        capability.append(str(value.value))
    return Gpu(name.value.decode(errors="replace"), memory.value, ".".join(capability))


def try_engine(name: str) -> Trial:
    """Search a path of four vertices, as a user's first call would."""
    start = time.perf_counter()
    try:
        import pandas as pd

        from rapids_trav.graph import Graph

        edges: Any = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
        if name == "cuda":
            import cudf

            edges = cudf.DataFrame(edges)
        distance = Graph.from_edges(edges, engine=name).bfs(0)["distance"]
        works = list(distance.to_numpy()) == [0, 1, 2, 3]
        message = (
            "" if works else f"gave the distances {list(distance.to_numpy())} for a path of four vertices"
        )
    except Exception as error:  # a doctor reports what it meets, whatever it is
        works, message = False, f"{type(error).__name__}: {error}".splitlines()[0]
    return Trial(name, works, time.perf_counter() - start, message)


def advise(driver: Driver, packages: dict[str, str | None]) -> list[str]:
    """What to do next, one sentence each; empty if nothing is missing."""
    advice = []
    missing = [name for name in BASE_PACKAGES if packages.get(name) is None]
    if missing:
        advice.append(f"{', '.join(missing)} missing: pip install rapids-trav")
    missing = [name for name in GPU_PACKAGES if packages.get(name) is None]
    if driver.problem:
        advice.append(f"The CUDA engine cannot run, because {driver.problem}: see what nvidia-smi says.")
    elif driver.cuda is None:
        advice.append(
            "No NVIDIA driver was found, so work runs on the CPU; a GPU needs a driver for CUDA 12 or later."
        )
    elif not driver.gpus:
        advice.append("The NVIDIA driver shows no GPU, so work runs on the CPU: check CUDA_VISIBLE_DEVICES.")
    elif missing:
        extra = extra_for(driver.cuda)
        if extra:
            advice.append(
                f"For the CUDA engine ({', '.join(missing)} missing): pip install 'rapids-trav[{extra}]'"
            )
        else:
            advice.append(
                f"The driver runs CUDA {driver.cuda} and the GPU packages need 12 or later: update it."
            )
    return advice


def extra_for(cuda: str) -> str | None:
    """The extra with the newest packages that a driver runs."""
    major = int(re.match(r"\d+", cuda)[0])  # type: ignore[index]
    return next((extra for extra in EXTRAS if int(extra[2:]) <= major), None)
