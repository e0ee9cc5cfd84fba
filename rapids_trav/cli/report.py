"""Output of the command line beside the result: consoles, progress, counts and times in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise  # rich would exit with 1; the command line has its own exit code


def console(stderr: bool = False) -> Console:
    """Return a console that prints names of files and vertices without interpreting markup."""
    return _Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: 1 step, 2 steps."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def progress(task: str) -> AbstractContextManager:
    """Show a spinner and the elapsed time on standard error if that is a terminal."""
    bar = _bar()
    bar.add_task(task, total=None)
    return nullcontext() if bar.disable else bar  # rich before 14 ends with an empty line even so


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows a step's name, the number done and the total, on a terminal only."""
    bar = _bar(BarColumn(), MofNCompleteColumn())
    task = bar.add_task("", total=None)

    def notify(step: str, done: int, total: int) -> None:
        bar.update(task, description=step, completed=done, total=total if total > 1 else None)

    with bar:
        yield notify


def _bar(*columns: ProgressColumn) -> Progress:
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *columns, TimeElapsedColumn())
    return Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal)


def seconds(value: float) -> str:
    """Format a time: 12 ms, 3.4 s."""
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"
