"""Provenance of a measurement: its sources, machine and run."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("kernels", "rapids_trav", "tests")
SUFFIXES = (".py", ".cu", ".cuh")
COMMIT = "RAPIDS_TRAV_COMMIT"  # names the commit in a copy without .git
GPU_PACKAGES = ("cudf", "cugraph", "cupy")
CUDA_SUFFIXES = ("", "-cu13", "-cu12", "-cuda13x", "-cuda12x")  # of distribution names
DASK_PACKAGES = ("dask", "distributed", "dask-cuda")
CPU_PACKAGES = ("numpy", "pandas", "numba", "scipy", "igraph", "networkit")


def digest(root: Path = ROOT) -> str:
    """Return the SHA-256 over the paths and contents of the sources."""
    total = hashlib.sha256()
    files = (path for folder in SOURCES for path in (root / folder).rglob("*") if path.suffix in SUFFIXES)
    for path in sorted(files):
        total.update(f"{path.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def commit(root: Path = ROOT, environment: Mapping[str, str] = os.environ) -> str | None:
    """Return the commit that is checked out, marked "-dirty" if tracked files differ from it.

    Without git, return the environment variable `RAPIDS_TRAV_COMMIT`, or None.
    """
    head = _git(root, "rev-parse", "HEAD") if (root / ".git").exists() else None
    if head is None:
        return environment.get(COMMIT) or None
    changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/rows")
    return f"{head}-dirty" if changed else head


def _git(root: Path, *arguments: str) -> str | None:
    try:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def of_run() -> dict[str, Any]:
    """Return the facts common to all rows of one run, on any machine; `run` is drawn at random."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    return {"run": uuid.uuid4().hex[:12], "date": date, "commit": commit(), "digest": digest()}


def of_gpu() -> dict[str, Any]:
    """Return the card, its driver and the versions of the packages that use it."""
    versions = _versions(tuple(name + suffix for name in GPU_PACKAGES for suffix in CUDA_SUFFIXES))
    versions = {"python": platform.python_version(), **versions}
    return {"card": _smi("name"), "driver": _smi("driver_version"), "versions": versions}


def of_cpu() -> dict[str, Any]:
    """Return the processor, the cores that this process may use, and the versions of compared packages."""
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "versions": {"python": platform.python_version(), **_versions(CPU_PACKAGES)},
    }


def of_cluster(cpu: bool) -> dict[str, Any]:
    """Return the facts of `of_cpu` or `of_gpu`, with the versions of Dask."""
    facts = of_cpu() if cpu else of_gpu()
    return facts | {"versions": facts["versions"] | _versions(DASK_PACKAGES)}


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str | None:
    """Return the name of the processor, if the system reports it."""
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, None) or platform.processor() or None


def _smi(field: str) -> str | None:
    query = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return next(iter(done.stdout.splitlines()), None)


def _versions(names: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
