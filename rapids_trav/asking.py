"""The one way into a question: it waits for the room that others hold, and an allocation that fails is told.

Memory runs out in many places, of which some have an exception of their own: NumPy and CuPy raise kinds of
`MemoryError`, and so do RMM and cuDF for an allocation; the CUDA runtime, its driver and Thrust raise a
`RuntimeError` that carries a code or the words.  Whatever it was, a caller gets a `TravMemoryError`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from .errors import TravMemoryError, first_line
from .sizes import readable

CUDA_OUT_OF_MEMORY = 2  # the code of the runtime and of the driver
WORDS = ("out_of_memory", "out of memory", "bad_alloc", "bad allocation", "cudaErrorMemoryAllocation")

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


@contextmanager
def telling_of_memory(task: str, engine: Any) -> Iterator[None]:
    """Raise a `TravMemoryError` for an allocation that fails, whichever library tells of it.

    `engine` is one or, before it is chosen, its name.
    """
    try:
        yield
    except TravMemoryError:
        raise
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        place, remedy = "memory", "close what is no longer needed"
        if getattr(engine, "name", engine) == "cuda":
            place, remedy = "GPU memory", "free frames that are no longer needed or choose engine='cpu'"
        raise TravMemoryError(
            f"{task} ran out of {place} ({first_line(error)}){_left(engine)}: {remedy}, ask for less at a "
            f"time, or give a memory_limit."
        ) from error


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception says that an allocation has failed."""
    if isinstance(error, MemoryError):
        return True
    if getattr(error, "status", None) == CUDA_OUT_OF_MEMORY:
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in WORDS)


def _reusable(argument: Any) -> Any:
    """An iterator, which gives its values once, as a list of them."""
    return list(argument) if isinstance(argument, Iterator) else argument


def _left(engine: Any) -> str:
    """How much memory is left, if the engine can be asked."""
    try:
        return f", with {readable(engine.free_bytes())} left"
    except (AttributeError, MemoryError, RuntimeError, OSError):
        return ""
