"""graph-tool, which is not on PyPI and needs a separate Python: a process of that interpreter answers.

It reads the edges from a file once, and answers each query with a line of JSON that has the milliseconds of
its call.  Distances are returned in a file, for the comparison.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu.answers import ALPHA, TOL, same_parts, same_ranks, unreached
from benchmarks.cpu.contest import Contestant
from benchmarks.cpu.inputs import Data

WORKER = Path(__file__).with_name("graph_tool_worker.py")


class GraphTool:
    name = "graph-tool"

    def __init__(self, python: str | None, scratch: Path) -> None:
        self.python, self.scratch = python, scratch
        self.versions: dict[str, str] = {}
        self._worker: subprocess.Popen[str] | None = None

    def __enter__(self) -> GraphTool:
        return self

    def __exit__(self, *error: object) -> None:
        if self._worker is not None:
            self._worker.communicate()

    def absent(self) -> str | None:
        """Start the process; return why it cannot run, or None."""
        if self.python is None:
            return "not asked for: --graph-tool PYTHON names an interpreter that imports graph_tool"
        try:
            self._worker = subprocess.Popen(
                [self.python, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.versions = self._ask(ready=True)
        except (OSError, ValueError) as error:
            return f"not started, {error}"
        return None

    def bfs(self, data: Data) -> Iterator[Contestant]:
        yield self._contestant(data, "shortest_distance", unreached)

    def sssp(self, data: Data, root: int) -> Iterator[Contestant]:
        yield self._contestant(data, "shortest_distance", _infinite)

    def components(self, data: Data) -> Iterator[Contestant]:
        yield self._contestant(data, "label_components", np.asarray, same=same_parts)

    def pagerank(self, data: Data) -> Iterator[Contestant]:
        yield self._contestant(data, "pagerank", np.asarray, same=same_ranks)

    def _contestant(self, data: Data, question: str, answer: Any, **how: Any) -> Contestant:
        file = data.converted("graph-tool", lambda: self._written(data))

        def ask(root: int | None, save: bool = False) -> dict[str, Any]:
            facts = {"graph": str(file), "root": root, "question": question, "save": save}
            return self._ask(**facts, damping=ALPHA, tol=TOL)

        return Contestant(
            f"graph-tool {question}",
            lambda root: ask(root, save=True),
            lambda found: answer(np.load(found["saved"])),
            clock=lambda root: [ask(root)["ms"]],
            **how,
        )

    def _written(self, data: Data) -> Path:
        path = self.scratch / f"graph-tool-{len(list(self.scratch.iterdir()))}.npz"
        weights = {} if data.weight is None else {"weight": data.weight}
        np.savez(path, n=data.n, directed=data.directed, edges=np.stack([data.src, data.dst], 1), **weights)
        return path

    def _ask(self, **question: Any) -> dict[str, Any]:
        worker = self._worker
        if worker is None or worker.stdin is None or worker.stdout is None:
            raise OSError("there is no process")
        worker.stdin.write(json.dumps(question) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        if not line:
            raise OSError("the process has ended")
        found: dict[str, Any] = json.loads(line)
        return found


def _infinite(distances: np.ndarray) -> np.ndarray:
    found = np.asarray(distances, np.float64)
    largest = np.iinfo(np.int32).max if distances.dtype.kind == "i" else np.finfo(np.float64).max
    return np.where(found >= largest, np.inf, found)
