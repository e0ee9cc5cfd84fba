"""Measurement of the machine's load by other processes while contestants are timed."""

from __future__ import annotations

import os
import time
from pathlib import Path

IDLE = (3, 4)  # columns of /proc/stat: idle, and waiting for input or output


class Load:
    """Processor seconds used by processes other than this one and its children, from now on."""

    def __init__(self) -> None:
        self._begin = self._now()

    def share(self) -> float | None:
        """Return their share of the cores this process may use; None if the system does not report it."""
        (begin, busy, own), (end, busy_now, own_now) = self._begin, self._now()
        if busy is None or busy_now is None:
            return None
        seconds = (end - begin) * len(os.sched_getaffinity(0))
        return round(max(0.0, (busy_now - busy - own_now + own) / max(seconds, 1e-9)), 3)

    @staticmethod
    def _now() -> tuple[float, float | None, float]:
        return time.perf_counter(), busy_seconds(), own_seconds()


def busy_seconds(stat: Path = Path("/proc/stat")) -> float | None:
    """Return the seconds that all processors have worked since the machine was started."""
    if not stat.exists():
        return None
    ticks = [int(field) for field in stat.read_text().splitlines()[0].split()[1:9]]
    return sum(n for i, n in enumerate(ticks) if i not in IDLE) / os.sysconf("SC_CLK_TCK")


def own_seconds(processes: Path = Path("/proc")) -> float:
    """Return the seconds of this process and of its children, including running ones."""
    total = sum(os.times()[:4])
    listed = processes / "self" / "task" / str(os.getpid()) / "children"
    for child in listed.read_text().split() if listed.exists() else ():
        try:
            fields = (processes / child / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total
