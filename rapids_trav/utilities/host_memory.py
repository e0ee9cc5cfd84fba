"""Available host memory, of the machine and of the container if there is one."""

from __future__ import annotations

from pathlib import Path

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
