"""GPUs, free host memory and package versions of this machine, found without importing a GPU package."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

GPU_PACKAGES = ("cudf", "cupy", "rmm")  # packages that the CUDA engine needs
EXTRAS = ("cu13", "cu12")  # newest first
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
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


def find_version(name: str) -> str | None:
    """Return the version of an installed package, by its plain name or that of a CUDA build, or None."""
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


def find_driver(load: Callable[[str], ctypes.CDLL] = ctypes.CDLL) -> Driver:
    """Query the driver's own library, which needs no Python package."""
    try:
        cuda = load("libcuda.so.1")
    except OSError:
        return Driver()
    if (code := cuda.cuInit(0)) not in (0, NO_DEVICE):
        return Driver(problem=f"the NVIDIA driver does not start, CUDA error {code}")
    number, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    cuda.cuDeviceGetCount(ctypes.byref(count))  # none after `NO_DEVICE`
    version = f"{number.value // 1000}.{number.value % 1000 // 10}"
    return Driver(version, [_find_gpu(cuda, index) for index in range(count.value)])


def _find_gpu(cuda: ctypes.CDLL, index: int) -> Gpu:
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


MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
RESERVE = 1 << 30  # bytes left for the system and the caller
_UNLIMITED = 1 << 60


def available_bytes() -> int:
    """Return the bytes of memory available without swapping."""
    free = _UNLIMITED
    for line in _read(MEMINFO).splitlines():
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    return min(free, _container_bytes())


def _container_bytes() -> int:
    """Return the bytes left within the control group's memory limit; cached files count as available."""
    limit = _read(CGROUP / "memory.max").strip()
    used = _read(CGROUP / "memory.current").strip()
    if not (limit.isdigit() and used.isdigit()):
        return _UNLIMITED
    cached = 0
    for line in _read(CGROUP / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        cached += int(value) if name in ("inactive_file", "active_file") else 0
    return max(int(limit) - int(used) + cached, 0)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
