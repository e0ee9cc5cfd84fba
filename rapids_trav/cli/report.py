"""Output of the command line beside the result: progress, a summary by level, the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import pandas as pd
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from rapids_trav.frames.columns import Frame
from rapids_trav.io.write import to_pandas

BAR_WIDTH = 24
NUMBERS_WIDTH = 46  # approximate width of the other columns
MOST_ROWS = 40  # longer tables show only both ends


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
    screen = console(stderr=True)
    if not screen.is_terminal:
        return nullcontext()
    bar = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
    )
    bar.add_task(task, total=None)
    return bar


@contextmanager
def steps() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows progress, given a step's name, the number done and the total.

    It draws a bar with the time on standard error if that is a terminal, else nothing.
    """
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(
        *columns, TimeElapsedColumn(), console=screen, transient=True, disable=not screen.is_terminal
    )
    task = bar.add_task("", total=None)

    def notify(step: str, done: int, total: int) -> None:
        bar.update(task, description=step, completed=done, total=total if total > 1 else None)

    with bar:
        yield notify


def level_counts(result: Frame, n_vertices: int | None = None) -> pd.DataFrame:
    """Count vertices by distance: `distance`, `vertices`, `cumulative`; null means unreached.

    With `n_vertices`, vertices that the result leaves out count as unreached.
    """
    distance = to_pandas(result[["distance"]])["distance"]
    counts = distance.value_counts().sort_index()
    unreached = int(distance.isna().sum() if n_vertices is None else n_vertices - counts.sum())
    rest = [(pd.NA, unreached)] if unreached else []
    table = pd.DataFrame([*counts.items(), *rest], columns=["distance", "vertices"], dtype="Int64")
    table["cumulative"] = table["vertices"].cumsum()
    return table


def level_table(levels: pd.DataFrame, screen: Console) -> Table:
    """Return the summary as a table with a bar for each level."""
    table = _numbers("distance", "vertices", "cumulative")
    width = max(min(BAR_WIDTH, screen.width - NUMBERS_WIDTH), 0)
    sign = "#" if screen.options.ascii_only else "█"
    if width:
        table.add_column()
    most = max(int(levels["vertices"].max()), 1)
    for row in _ends(levels):
        if row is None:
            table.add_row("...")
            continue
        distance = "unreached" if row.distance is pd.NA else f"{row.distance:,}"
        bar = [sign * max(round(width * row.vertices / most), 1)] if width else []
        table.add_row(distance, f"{row.vertices:,}", f"{row.cumulative:,}", *bar)
    return table


def trace_table(trace: pd.DataFrame) -> Table:
    """Return the trace as a table with a row for each level."""
    table = _numbers(*trace.columns, title="trace")
    for row in _ends(trace):
        values = zip(trace.columns, row or trace.columns, strict=True)
        table.add_row(*("..." if row is None else _cell(name, value) for name, value in values))
    return table


def _numbers(*names: str, title: str | None = None) -> Table:
    """Return a table of numbers that wraps on a narrow screen instead of cutting digits."""
    table = Table(title=title)
    for name in names:
        table.add_column(name, justify="right", overflow="fold")
    return table


def _ends(frame: pd.DataFrame) -> list:
    rows = list(frame.itertuples(index=False))
    if len(rows) <= MOST_ROWS:
        return rows
    return [*rows[: MOST_ROWS // 2], None, *rows[-MOST_ROWS // 2 :]]


def _cell(name: str, value: float | str | None) -> str:
    if isinstance(value, str) or pd.isna(value):
        return str(value) if isinstance(value, str) else ""
    if name == "residual":  # residuals fall by powers of ten
        return f"{value:.2e}"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


def seconds(value: float) -> str:
    """Format a time: 12 ms, 3.4 s."""
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.1f} s"
