"""`iterate` needs only what `engines.interface.Executor` declares; here with a short NumPy executor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from rapids_trav.engines.cuda.programs.run import iterate
from rapids_trav.engines.runs import Moved, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState

COUNTING = Program("counting", "int64", "min")


class Tally(NamedTuple):
    active: int
    scout: int = 80
    edges: int = 7
    residual: float = 0.0
    total: float = 0.5


@dataclass
class State:
    """Values that an executor updates when it settles."""

    values: np.ndarray
    active: np.ndarray
    tally: Tally
    n_edges: int = 100

    @property
    def n_active(self) -> int:
        return self.tally.active


class Counting:
    """Executor that adds 1 to every value per iteration, in its own copy; `left` gives the active counts."""

    may_push, penalty = False, None

    def __init__(self, left: list[int]) -> None:
        self._left = iter(left)
        self._ahead = np.zeros(3, np.int64)
        self.moved, self.counters, self.policy = Moved(), {"steps": 0}, {}
        self.state = State(self._ahead.copy(), np.ones(3, bool), self._tally())
        self.asked: list[str] = []

    def _tally(self) -> Tally:
        return Tally(next(self._left))

    def step(self, mode: str) -> str:
        self.asked.append(mode)
        self._ahead += 1
        self.counters["steps"] += 1
        self.moved = Moved(2, 64)
        self.state.tally = self._tally()
        return "pull"

    def settle(self) -> None:
        self.state.values[...] = self._ahead

    def restart(self, start: RunState) -> None:
        self._ahead[...] = start.values
        self.state.active = start.active
        self.state.tally = self._tally()


def run(executor: Counting, **options: object):
    start = RunState(executor.state.values, executor.state.active, iteration=4)
    return iterate(executor, COUNTING, start, RunOptions(**options))


def test_it_ends_when_no_vertex_is_active_with_what_has_settled():
    executor = Counting([3, 2, 1, 0])
    done = run(executor, trace=True)
    assert done.values.tolist() == [3, 3, 3]
    assert (done.iterations, done.converged, done.counters) == (7, True, {"steps": 3})
    assert [row[:6] for row in map(vars_of, done.trace)] == [
        (5, "pull", 3, 7, 2, 64), (6, "pull", 2, 7, 2, 64), (7, "pull", 1, 7, 2, 64)
    ]  # fmt: skip


def vars_of(row):
    return tuple(vars(row).values())


@pytest.mark.parametrize(("mode", "asked"), [("push", "notify"), ("notify", "notify"), ("auto", "pull")])
def test_what_an_executor_cannot_do_is_not_asked_of_it(mode, asked):
    executor = Counting([3, 3, 0])
    run(executor, mode=mode)
    assert executor.asked == [asked] * 2


def test_a_checkpoint_has_what_has_settled():
    seen = []

    def checkpoint(state: RunState, last: bool) -> None:
        seen.append((state.iteration, state.values.tolist(), state.total, last))

    done = run(Counting([3, 3, 3, 3]), checkpoint=checkpoint, max_iterations=7)
    assert seen == [(5, [1] * 3, 0.5, False), (6, [2] * 3, 0.5, False), (7, [3] * 3, 0.5, True)]
    assert not done.converged


def test_a_run_goes_on_from_what_is_made_between_iterations():
    seen = []

    def between(state: RunState) -> RunState:
        seen.append((state.iteration, state.values.tolist()))
        return RunState(10 * state.values, ~state.active)

    executor = Counting([3, 3, 2, 1, 0])  # a restart takes one of the counts as well
    done = run(executor, between=between, between_from=6)
    assert seen == [(6, [2] * 3)]
    assert done.values.tolist() == [21] * 3
    assert not executor.state.active.any()
