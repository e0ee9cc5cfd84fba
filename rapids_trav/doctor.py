"""Report on this machine: engines, GPUs, versions, and commands that install what is missing.

Only the trial of the CUDA engine imports GPU packages, if a GPU and the packages were found.
"""

from __future__ import annotations

import os
import platform
import re
import time
from dataclasses import asdict, dataclass

from rapids_trav.frames.columns import Frame
from rapids_trav.utilities.machine import EXTRAS, GPU_PACKAGES, Driver, find_driver, find_version

BASE_PACKAGES = ("numpy", "pandas", "pyarrow", "numba")
# For --plot, Matrix Market files, graphs on workers, the backend; frames and graphs of other libraries.
MORE_PACKAGES = ("matplotlib", "scipy", "dask", "networkx", "polars", "duckdb", "igraph")
# For several GPUs, and for comparisons.
MORE_GPU_PACKAGES = ("dask-cudf", "dask-cuda", "nvidia-nccl", "pylibcugraph", "cugraph")


@dataclass(frozen=True)
class Trial:
    """Result of a small query on an engine."""

    engine: str
    works: bool
    seconds: float
    message: str = ""


@dataclass(frozen=True)
class Examination:
    """All data that `rapids-trav doctor` prints."""

    version: str
    python: str
    platform: str
    cores: int
    driver: Driver
    packages: dict[str, str | None]
    trials: list[Trial]
    advice: list[str]

    def as_dict(self) -> dict[str, object]:
        """Return the report as a dict, for JSON."""
        return asdict(self)

    @property
    def healthy(self) -> bool:
        """Whether some engine works and no engine that has all its parts fails."""
        return bool(self.trials) and all(trial.works for trial in self.trials)


def examine() -> Examination:
    """Examine the machine; never raises an error."""
    driver = find_driver()
    names = (*BASE_PACKAGES, *MORE_PACKAGES, *GPU_PACKAGES, *MORE_GPU_PACKAGES)
    packages = {name: find_version(name) for name in names}
    trials = [try_engine("cpu")]
    if driver.gpus and all(packages[name] for name in GPU_PACKAGES):
        trials.append(try_engine("cuda"))
    return Examination(
        version=find_version("rapids-trav") or "not installed",
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.release()} {platform.machine()}",
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        driver=driver,
        packages=packages,
        trials=trials,
        advice=advise(driver, packages),
    )


def try_engine(name: str) -> Trial:
    """Search a path of four vertices, as a user's first call would."""
    start = time.perf_counter()
    try:
        import pandas as pd

        from rapids_trav.graph import Graph

        edges: Frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})
        if name == "cuda":
            import cudf

            edges = cudf.DataFrame(edges)
        distance = Graph.from_edges(edges, engine=name).bfs(0)["distance"]
        works = list(distance.to_numpy()) == [0, 1, 2, 3]
        message = (
            "" if works else f"gave the distances {list(distance.to_numpy())} for a path of four vertices"
        )
    except Exception as error:  # the report includes errors of any kind
        works, message = False, f"{type(error).__name__}: {error}".splitlines()[0]
    return Trial(name, works, time.perf_counter() - start, message)


def advise(driver: Driver, packages: dict[str, str | None]) -> list[str]:
    """Return what to do next, one sentence each; empty if nothing is missing."""
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
    """Return the extra with the newest packages that a driver supports."""
    major = int(re.match(r"\d+", cuda)[0])  # type: ignore[index]
    return next((extra for extra in EXTRAS if int(extra[2:]) <= major), None)
