"""The loop of programs needs only what `Executor` declares; here with a short NumPy executor."""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.iterations import RunProgress, iterate
from rapids_trav.engines.runs import Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

COUNTING = Program("counting", "int64", "min")


class Counting:
    """Executor that adds 1 to every value per iteration; `left` gives the numbers of active vertices."""

    residual, used_total, policy = float("nan"), 0.5, {}

    def __init__(self, left: list[int]) -> None:
        self._left = iter(left)
        self.values, self._active = np.zeros(3, np.int64), np.ones(3, bool)
        self.n_active, self.counters = next(self._left), {"steps": 0}

    def step(self, progress: RunProgress) -> None:
        active, self.n_active = self.n_active, next(self._left)
        self.values += 1
        self.counters["steps"] += 1
        progress.record("pull", active, 7, self.residual, Moved(2, 64))

    def settle(self) -> np.ndarray:
        return self._active


def run(executor: Counting, **options: object):
    start = RunState(executor.values, executor.settle(), iteration=4)
    return iterate(executor, COUNTING, start, RunOptions(**options))


def test_it_ends_when_no_vertex_is_active():
    done = run(Counting([3, 2, 1, 0]), trace=True)
    assert done.values.tolist() == [3, 3, 3]
    assert (done.iterations, done.converged, done.counters) == (7, True, {"steps": 3})
    assert [row[:6] for row in map(vars_of, done.trace)] == [
        (5, "pull", 3, 7, 2, 64), (6, "pull", 2, 7, 2, 64), (7, "pull", 1, 7, 2, 64)
    ]  # fmt: skip


def vars_of(row):
    return tuple(vars(row).values())


def test_a_checkpoint_has_what_an_iteration_left():
    seen = []

    def checkpoint(state: RunState, last: bool) -> None:
        seen.append((state.iteration, state.values.tolist(), state.total, last))

    done = run(Counting([3, 3, 3, 3]), checkpoint=checkpoint, max_iterations=7)
    assert seen == [(5, [1] * 3, 0.5, False), (6, [2] * 3, 0.5, False), (7, [3] * 3, 0.5, True)]
    assert not done.converged
