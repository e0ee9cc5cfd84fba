"""Decorator of questions: it runs them within the memory budget and converts memory errors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Concatenate, ParamSpec, TypeVar

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.storage.memory_errors import telling_of_memory
from rapids_trav.utilities.progress import shown

Asked = TypeVar("Asked", bound=TraversableGraph)
Arguments = ParamSpec("Arguments")
Found = TypeVar("Found")


def question(
    method: Callable[Concatenate[Asked, Arguments], Found],
) -> Callable[Concatenate[Asked, Arguments], Found]:
    """Decorate a method of a graph so that it runs within the graph's budget, if there is one.

    If other questions hold the memory that it needs, the method waits for it and runs again.  The `progress`
    of its options is told.
    """

    @functools.wraps(method)
    def asked(graph: Asked, /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Found:
        wanted = next((one.progress for one in arguments if hasattr(one, "progress")), False)
        with shown(method.__name__, wanted):
            if graph.budget is None:
                return answered(graph, method.__name__, lambda: method(graph, *arguments, **options))
            again = [reusable(argument) for argument in arguments]  # the method may run more than once
            named = {name: reusable(option) for name, option in options.items()}
            work = lambda: method(graph, *again, **named)  # type: ignore[arg-type]  # noqa: E731
            return answered(graph, method.__name__, work)

    return asked


def answered(graph: TraversableGraph, name: str, work: Callable[[], Found]) -> Found:
    """Return the result of `work`, which a question called `name` consists of; it may run more than once."""
    with telling_of_memory(name, graph.engine):
        return work() if graph.budget is None else graph.budget.ask(work)


def reusable(argument: object) -> object:
    """Return an iterator as a list, which can be read again; convert the fields of a dataclass as well."""
    if is_dataclass(argument) and not isinstance(argument, type):
        once = {part.name: getattr(argument, part.name) for part in fields(argument)}
        lists = {name: list(value) for name, value in once.items() if isinstance(value, Iterator)}
        return replace(argument, **lists) if lists else argument
    return list(argument) if isinstance(argument, Iterator) else argument
