"""The one way into a question: it waits for the memory that others hold."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from rapids_trav.storage.memory_errors import telling_of_memory

Method = TypeVar("Method", bound=Callable[..., Any])


def question(method: Method) -> Method:
    """Make a method of `Graph` a question: asked within the graph's budget, if there is one."""

    @functools.wraps(method)
    def asked(graph: Any, *arguments: Any, **options: Any) -> Any:
        with telling_of_memory(method.__name__, graph.engine):
            if graph.budget is None:
                return method(graph, *arguments, **options)
            again = [_reusable(argument) for argument in arguments]  # it may be asked more than once
            options = {name: _reusable(option) for name, option in options.items()}
            return graph.budget.ask(lambda: method(graph, *again, **options))

    return cast("Method", asked)


def _reusable(argument: Any) -> Any:
    """An iterator, which gives its values once, as a list of them."""
    return list(argument) if isinstance(argument, Iterator) else argument
