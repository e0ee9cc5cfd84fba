"""Expected answers, computed without the library."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pandas as pd

from rapids_trav import TravError


def distances(pairs: Iterable[tuple[Hashable, Hashable]], sources: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return the fewest edges from the nearest source to each reachable vertex of an undirected graph."""
    neighbors: dict[Hashable, set[Hashable]] = {}
    for u, v in pairs:
        neighbors.setdefault(u, set()).add(v)
        neighbors.setdefault(v, set()).add(u)
    found = dict.fromkeys(sources, 0)
    queue = deque(found)
    while queue:
        vertex = queue.popleft()
        for other in neighbors.get(vertex, ()):
            if other not in found:
                found[other] = found[vertex] + 1
                queue.append(other)
    return found


def counted(answer: pd.DataFrame) -> list[int]:
    """Return the distances of an answer in ascending order, without nulls."""
    return sorted(int(value) for value in answer["distance"].dropna())


def expect(condition: bool, told: Any = "the answer is wrong") -> None:
    """Raise an AssertionError unless the condition holds; `python -O` would remove an assert."""
    if not condition:
        raise AssertionError(told)


def answered(run: Callable[[], object]) -> None:
    """Run a query that has an answer and therefore must not be refused."""
    try:
        run()
    except TravError as error:
        raise AssertionError("this has an answer") from error
