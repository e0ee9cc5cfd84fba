"""The reference code of the GAP benchmark suite (S. Beamer, K. Asanovic, D. Patterson, arXiv:1508.03619).

It is built by its own Makefile in a given folder; a folder that does not exist is cloned from GAP.  Each
graph is written in GAP's serialised form, with the same adjacency that ours searches, and each program runs
in its own process with a thread for each core.  The times are those that it reports.  Of `TRIALS` + 1 trials
from a root, one after another, the first is dropped as a warm-up; the roots are the same for all.

GAP's bfs returns predecessors only.  Compared are its numbers of vertices at each level (bfs), the numbers
of vertices reached (sssp) and of components (cc), and the five highest ranks (pr); its own verification of
the first trial must also pass.  Its sssp takes integer weights; its bucket width is the best of `DELTAS` for
the first root.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu.answers import MAX_ITER, TOL, same_counts
from benchmarks.cpu.contest import TRIALS, Contestant
from benchmarks.cpu.inputs import Data

SOURCE = "https://github.com/sbeamer/gapbs"
PROGRAMS = ("bfs", "sssp", "cc", "pr")
LONG_SECONDS = 1.0  # if one trial takes this long, only two are run, of which one is dropped
MOST_PROCESSES = 8  # for several sources, one process each
DELTAS = (1, 4, 16, 64, 256, 1024)
LEVEL = re.compile(r"^ +(?:td|bu) +(\d+) ", re.MULTILINE)
TRIAL = re.compile(r"^Trial Time: +([\d.]+)", re.MULTILINE)
BUILD = re.compile(r"^Build Time: +([\d.]+)", re.MULTILINE)
PASSED = re.compile(r"^Verification: +PASS", re.MULTILINE)


class Gap:
    name = "gap"

    def __init__(self, folder: Path | None, scratch: Path) -> None:
        self.folder, self.scratch = folder, scratch
        self.threads = len(os.sched_getaffinity(0))

    def absent(self) -> str | None:
        """Clone and build what is missing; return why it cannot run, or None."""
        if self.folder is None:
            return "not asked for: --gap FOLDER builds it"
        try:
            if not self.folder.exists():
                _done(["git", "clone", "--depth", "1", SOURCE, str(self.folder)])
            _done(["make", "-C", str(self.folder), *PROGRAMS])
        except (OSError, subprocess.CalledProcessError) as error:
            return f"not built, {str(getattr(error, 'stderr', '') or error).strip().splitlines()[-1]}"
        return None

    @property
    def versions(self) -> dict[str, str]:
        command = ["git", "-C", str(self.folder), "rev-parse", "HEAD"]
        try:
            return {"gapbs": _done(command)[:10]}
        except (OSError, subprocess.CalledProcessError):
            return {"gapbs": "of an unknown commit"}

    def bfs(self, data: Data) -> Iterator[Contestant]:
        yield self._contestant("bfs", data, levels, same_counts)

    def each(self, data: Data, number: int) -> Iterator[Contestant]:
        """Yield a contestant that adds up the trial times of single sources."""
        if number > MOST_PROCESSES:
            return
        (one,) = self.bfs(data)

        def clock(roots: Sequence[int]) -> list[float]:
            assert one.clock is not None
            return [sum(float(np.median(one.clock(root))) for root in roots)]

        yield Contestant(
            "gap bfs, one after another", lambda roots: one.run(roots[0]), one.answer, clock=clock,
            same=lambda ours, theirs: one.same(ours[0], theirs),
        )  # fmt: skip

    def build(self, root: int, data: Data) -> Iterator[Contestant]:
        """Yield GAP's builder, from a list of edges in memory; it drops self-loops and repeated edges."""
        file = self.scratch / f"{data.name}.el"
        if not file.exists():
            data.frame[["src", "dst"]].to_csv(file, sep=" ", header=False, index=False)
        yield Contestant(
            "gap builder, ids as they are", lambda _: self._built(file, root), levels,
            clock=lambda _: [1e3 * float(seconds) for seconds in BUILD.findall(self._built(file, root))],
        )  # fmt: skip

    def _built(self, file: Path, root: int) -> str:
        assert self.folder is not None
        command = [str(self.folder / "bfs"), "-f", str(file), "-s", "-n", "1", "-r", str(root), "-l"]
        return _done(command, OMP_NUM_THREADS=str(self.threads))

    def sssp(self, data: Data, root: int) -> Iterator[Contestant]:
        if data.weight is None or data.weight.dtype.kind != "i":
            return
        first = {delta: min(self._trials("sssp", data, 2, root, "-d", str(delta))) for delta in DELTAS}
        delta = min(first, key=first.__getitem__)

        def reached(text: str) -> np.ndarray:
            return np.array([int(re.findall(r"reaches (\d+) nodes", text)[0])])

        yield self._contestant(
            "sssp", data, reached, lambda ours, theirs: int(np.isfinite(ours).sum()) == theirs[0],
            "-d", str(delta), label=f"gap sssp, delta {delta}",
        )  # fmt: skip

    def components(self, data: Data) -> Iterator[Contestant]:
        def number(text: str) -> np.ndarray:
            return np.array([int(re.findall(r"There are (\d+) components", text)[0])])

        yield self._contestant("cc", data, number, lambda ours, theirs: len(np.unique(ours)) == theirs[0])

    def pagerank(self, data: Data) -> Iterator[Contestant]:
        def highest(text: str) -> np.ndarray:
            return np.array([(int(v), float(r)) for v, r in re.findall(r"^(\d+):([\d.e-]+)$", text, re.M)])

        def proportional(ours: np.ndarray, theirs: np.ndarray) -> bool:
            ratio = ours[theirs[:, 0].astype(int)] / theirs[:, 1]
            return len(theirs) == 5 and bool(np.ptp(ratio) < 0.01 * ratio.mean())

        yield self._contestant(
            "pr", data, highest, proportional, "-t", str(TOL), "-i", str(MAX_ITER), label="gap pr, float32"
        )

    def _contestant(
        self, program: str, data: Data, answer: Any, same: Any, *options: str, label: str = ""
    ) -> Contestant:
        def run(root: int | None) -> str:
            text = self._run(
                program, data, 1, root, "-v", "-a", *(["-l"] if program == "bfs" else []), *options
            )
            if not PASSED.search(text):
                raise RuntimeError("its own verification fails")
            return text

        state = {"trials": TRIALS + 1}

        def clock(root: int | None) -> list[float]:
            ms = self._trials(program, data, state["trials"], root, *options)
            if ms[0] > 1e3 * LONG_SECONDS:
                state["trials"] = 2
            return ms

        return Contestant(label or f"gap {program}", run, answer, same=same, clock=clock)

    def _trials(self, program: str, data: Data, trials: int, root: int | None, *options: str) -> list[float]:
        """Return the milliseconds of all trials but the first."""
        text = self._run(program, data, trials, root, *options)
        return [1e3 * float(seconds) for seconds in TRIAL.findall(text)][1:]

    def _run(self, program: str, data: Data, trials: int, root: int | None, *options: str) -> str:
        assert self.folder is not None
        file = self.written(data, weighted=program == "sssp")
        start = [] if root is None else ["-r", str(root)]
        command = [str(self.folder / program), "-f", str(file), "-n", str(trials), *start, *options]
        return _done(command, OMP_NUM_THREADS=str(self.threads))

    def written(self, data: Data, weighted: bool) -> Path:
        """Write the adjacency in GAP's serialised form: int64 offsets, int32 neighbours, perhaps weights."""

        def write() -> Path:
            path = self.scratch / f"{len(list(self.scratch.iterdir()))}.{'wsg' if weighted else 'sg'}"
            offsets, columns, weights = data.matrix
            sides = [(offsets, columns)]
            if data.directed:
                sides.append((data.view.into.row_offsets, data.view.into.column_indices))
            with path.open("wb") as file:
                file.write(np.array([data.directed], np.bool_).tobytes())
                file.write(np.array([len(columns), data.n], np.int64).tobytes())
                for starts, neighbors in sides:
                    file.write(starts.astype(np.int64, copy=False))
                    if weighted:
                        neighbors = np.stack([neighbors, weights], 1)
                    file.write(np.ascontiguousarray(neighbors, np.int32))
            return path

        return data.converted(f"gap {weighted}", write)


def levels(text: str) -> np.ndarray:
    """Return the numbers of vertices at each distance that its bfs logs."""
    found = [int(size) for size in LEVEL.findall(text)]
    return np.array([1, *(size for size in found if size)])


def _done(command: Sequence[str], **environment: str) -> str:
    """Run a command and return its output."""
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **environment}
    ).stdout
