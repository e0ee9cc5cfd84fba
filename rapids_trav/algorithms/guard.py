"""Queries run within the memory budget, and failed allocations become memory errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.storage.memory_errors import telling_of_memory

Found = TypeVar("Found")


def answered(graph: TraversableGraph, name: str, work: Callable[[], Found]) -> Found:
    """Return the result of `work`, of which a query called `name` consists.

    If other queries hold the memory that it needs, it waits for them and runs again.
    """
    with telling_of_memory(name, graph.engine):
        return work() if graph.budget is None else graph.budget.ask(work)


def reusable(argument: object) -> object:
    """Return an iterator as a list, which can be read again; convert the fields of a dataclass as well."""
    if is_dataclass(argument) and not isinstance(argument, type):
        once = {part.name: getattr(argument, part.name) for part in fields(argument)}
        lists = {name: list(value) for name, value in once.items() if isinstance(value, Iterator)}
        return replace(argument, **lists) if lists else argument
    return list(argument) if isinstance(argument, Iterator) else argument
