"""One query, answered by this package and by others in turns, and the comparison of their answers.

Each contestant answers the first input once, untimed: this warms it up, and its answer is compared with
ours.  Then all take turns, in alternating order, each from the same inputs in the same sequence, until it has
used up its time.  A turn of a quick call is several calls with the same input.  The first of them does not
count, since its cache state depends on another contestant.  A contestant whose first answer took longer than
`Pace.slow` seconds is not asked again, and the time of that answer is used.  Rows state the `load`, the share
of the cores that other processes used meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from benchmarks.harness import Row, collector_off, of_times, reason

TRIALS = 5  # calls in a turn of a call that takes up to QUICK_MS, after one that is not counted
QUICK_MS = 50.0
IDLE = (3, 4)  # columns of /proc/stat: idle, and waiting for input or output
Role = Literal["ours", "frame", "ours too", "other"]


def equal(ours: Any, theirs: Any) -> bool:
    """Compare two arrays: integers exactly, others to nine digits."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape:
        return False
    if "f" in ours.dtype.kind + theirs.dtype.kind:
        return bool(np.allclose(ours, theirs, rtol=1e-9, atol=0))
    return bool(np.array_equal(ours, theirs))


@dataclass(frozen=True)
class Contestant:
    """A library, or a program, that answers a query.

    Attributes
    ----------
    name : str
    run : callable
        Answers an input that `prepare` has prepared; this is timed.
    answer : callable, optional
        Converts a result to the form that is compared; None: the answer is not compared.
    role : {"ours", "frame", "ours too", "other"}
        The others are compared with "ours"; "frame" is the same query up to the frame of the answer; "ours
        too" is shown and not judged.
    same : callable(our answer, their answer) -> bool
    prepare : callable, optional
        Prepares an input, each time before the clock starts.
    predecessors : bool
        Whether a search by weight also finds predecessors.
    clock : callable, optional
        For a program that times its own trials: milliseconds of each trial from an input.
    """

    name: str
    run: Callable[[Any], Any]
    answer: Callable[[Any], Any] | None = None
    role: Role = "other"
    same: Callable[[Any, Any], bool] = equal
    prepare: Callable[[Any], Any] | None = None
    predecessors: bool = False
    clock: Callable[[Any], list[float]] | None = None


@dataclass(frozen=True)
class Contest:
    """A query with its contestants, ours first, and the inputs that all of them get."""

    question: str
    table: str
    graph: str
    contestants: Sequence[Contestant]
    inputs: Sequence[Any]
    facts: Row = field(default_factory=dict)


@dataclass(frozen=True)
class Pace:
    """Limits of a contestant's timing: `seconds` in all, from `least` to `most` turns."""

    seconds: float = 1.0
    least: int = 3
    most: int = 24
    slow: float = 10.0


class Timing:
    """The times of one contestant."""

    def __init__(self, contestant: Contestant, pace: Pace) -> None:
        self.contestant, self.pace = contestant, pace
        self.ms: list[float] = []
        self.turns, self.seconds = 0, 0.0
        self.told: Row = {}
        self.done = False

    def first(self, given: Any, expected: Any) -> Any:
        """Answer once, compare with `expected` (None: nothing yet), and return the answer."""
        one = self.contestant
        try:
            ready = given if one.prepare is None else one.prepare(given)
            begin = time.perf_counter()
            result = one.run(ready)
            seconds = time.perf_counter() - begin
        except Exception as error:
            if one.role != "other":
                raise
            self.told, self.done = {"note": f"not measured, {reason(error)}"}, True
            return None
        if seconds > self.pace.slow and not one.clock:
            self.ms, self.done = [1e3 * seconds], True
        if one.answer is None:
            self.told["note"] = "not compared"
            return None
        answer = one.answer(result)
        if expected is not None:
            self.told["checked"] = bool(one.same(expected, answer))
            if not self.told["checked"]:
                self.told["wrong"] = f"another answer than ours to input {given!r:.40}"
        return answer

    def turn(self, given: Any) -> None:
        """Take one turn: several calls of a quick one, of which the first warms the caches and is dropped."""
        times = self.contestant.clock(given) if self.contestant.clock else self._calls(given)
        self.ms += times
        self.turns += 1
        self.seconds += sum(times) / 1e3
        enough = self.turns >= self.pace.least and self.seconds >= self.pace.seconds
        self.done = enough or self.turns >= self.pace.most

    def _calls(self, given: Any) -> list[float]:
        one, times = self.contestant, []
        for _ in range(1 + TRIALS):
            ready = given if one.prepare is None else one.prepare(given)
            begin = time.perf_counter()
            result = one.run(ready)
            times.append(1e3 * (time.perf_counter() - begin))
            del result
            if one.prepare is not None or times[0] > QUICK_MS:
                return times
        return times[1:]

    def row(self) -> Row:
        times = of_times(self.ms) if self.ms else {}
        if times:
            times["calls"] = times.pop("roots")
        return {"name": self.contestant.name, "role": self.contestant.role, **times, **self.told}


def measure(contest: Contest, pace: Pace) -> Iterator[Row]:
    """Yield a row for each contestant; one with `wrong` has given another answer than ours."""
    timings = [Timing(contestant, pace) for contestant in contest.contestants]
    expected = None
    for timing in timings:
        answer = timing.first(contest.inputs[0], expected)
        expected = answer if expected is None else expected
    with collector_off():
        turn, load = 0, Load()
        while not all(timing.done for timing in timings):
            for timing in timings if turn % 2 else reversed(timings):
                if not timing.done:
                    timing.turn(contest.inputs[turn % len(contest.inputs)])
            turn += 1
        facts = {"benchmark": "cpu", "table": contest.table, "graph": contest.graph, "load": load.share()}
    for timing in timings:
        yield {**facts, "question": contest.question, **timing.row(), **contest.facts}


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
