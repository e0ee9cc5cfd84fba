"""What fits the screen: tables, cut between columns and showing both ends, and a part of a search's tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from rapids_trav.algorithms.pictures import rank_costs, rows_alone
from rapids_trav.algorithms.search_tree import SearchTree
from rapids_trav.cli.report import count, seconds
from rapids_trav.frames.columns import Frame
from rapids_trav.io.write import to_pandas
from rapids_trav.utilities.figures import is_uneven, shares

BAR_WIDTH = 24
LEAST_BAR = 8
BORDER = 3  # characters of a column beside its text; a table has one more
MOST_ROWS = 40
SHARE = "share"  # of the time
MOST_VERTICES, DEEPEST = 16, 8  # of a tree
LONGEST = 40  # letters of an id in it
KEYS = ("batch", "level", "iteration")  # repeated in each part of a table that is cut

Rows = Sequence[Sequence[str]]


def level_counts(result: Frame, n_vertices: int | None = None) -> pd.DataFrame:
    """Count vertices by distance, null for unreached, of `n_vertices` if the result leaves some out."""
    distance = to_pandas(result[["distance"]])["distance"]
    counts = distance.value_counts().sort_index()
    unreached = int(distance.isna().sum() if n_vertices is None else n_vertices - counts.sum())
    rest = [(pd.NA, unreached)] if unreached else []
    table = pd.DataFrame([*counts.items(), *rest], columns=["distance", "vertices"], dtype="Int64")
    table["cumulative"] = table["vertices"].cumsum()
    return table


def level_table(levels: pd.DataFrame, screen: Console) -> Table:
    """Return the summary as a table, with a bar for each level if there is room."""
    rows, counts = [], []
    for part, is_left_out in _ends(levels):
        distance, n_vertices = part["distance"].iloc[0], int(part["vertices"].sum())
        name = f"{distance:,}" if distance is not pd.NA else "unreached"
        cumulative = "" if is_left_out else f"{part['cumulative'].iloc[0]:,}"
        rows.append([_left_out(part) if is_left_out else name, f"{n_vertices:,}", cumulative])
        counts.append(0 if is_left_out else n_vertices)
    headings = ["distance", "vertices", "cumulative"]
    room = screen.width - 1 - sum(_widths(headings, rows)) - BORDER * (len(headings) + 1)
    if room >= LEAST_BAR:
        log, sign = is_uneven(counts), "#" if screen.options.ascii_only else "█"
        width = min(room, BAR_WIDTH)
        for row, share in zip(rows, shares(counts, log), strict=True):
            row.append(sign * (max(round(width * share), 1) if share else 0))
        headings.append("log scale" if log else "")
    table = _numbers(headings, rows)
    if room >= LEAST_BAR:
        table.columns[-1].justify = "left"
    return table


def trace_tables(trace: pd.DataFrame, screen: Console) -> Group:
    """Return the trace as tables that fit the screen, and the sums of each rank."""
    ranks = _rank_sums(trace)
    trace = rows_alone(trace)
    total = float(trace["milliseconds"].sum()) if "milliseconds" in trace else 0.0
    headings, rows = list(trace.columns), []
    for part, is_left_out in _ends(trace):
        spent = float(part["milliseconds"].sum()) if total else 0.0
        values = {"milliseconds": spent} if is_left_out else part.iloc[0].to_dict()
        row = [_cell(name, values.get(name)) for name in headings]
        if is_left_out:
            row[0] = _left_out(part)
        if total:
            row.insert(headings.index("milliseconds") + 1, f"{spent / total:.1%}")
        rows.append(row)
    if total:
        headings.insert(headings.index("milliseconds") + 1, SHARE)
    by = next((name for name in KEYS[1:] if name in trace), "row")
    title = f"trace: {count(len(trace), by)}" + (f", {seconds(total / 1e3)}" if total else "")
    return Group(*_parts(headings, rows, screen, title), *ranks)


def _rank_sums(trace: pd.DataFrame) -> list[Table]:
    costs = rank_costs(trace).drop(columns="level")
    if costs.empty:
        return []
    sums = costs.groupby("rank", as_index=False).sum()
    rows = [[_cell(name, row[name]) for name in sums] for row in sums.astype("object").to_dict("records")]
    return [_numbers(list(sums), rows, "time and bytes sent, by rank")]


def without_idle(trace: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return a trace without those of these columns that are 0 or null throughout."""
    return trace.drop(columns=[name for name in columns if name in trace and not trace[name].fillna(0).any()])


def _parts(headings: Sequence[str], rows: Rows, screen: Console, title: str) -> Iterator[Table]:
    """Yield a table or, if it is wider than the screen, several with some of the columns each."""
    widths = _widths(headings, rows)
    keys = [i for i, name in enumerate(headings) if name in KEYS]
    # A share stands beside its time.
    rest = [[i, i + 1] if SHARE in headings[i + 1 : i + 2] else [i] for i in range(len(headings))]
    rest = [columns for columns in rest if columns[0] not in keys and headings[columns[0]] != SHARE]
    while rest:
        taken = keys + rest.pop(0)
        while rest and 1 + sum(widths[i] + BORDER for i in taken + rest[0]) <= screen.width:
            taken += rest.pop(0)
        yield _numbers([headings[i] for i in taken], [[row[i] for i in taken] for row in rows], title)
        title = "trace, further columns"


def _widths(headings: Sequence[str], rows: Rows) -> list[int]:
    return [max(map(len, column)) for column in zip(headings, *rows, strict=True)]


def _numbers(headings: Sequence[str], rows: Rows, title: str | None = None) -> Table:
    """Return a table of numbers that wraps on a narrow screen instead of cutting digits."""
    table = Table(title=title)
    for name in headings:
        table.add_column(name, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def _ends(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, bool]]:
    """Yield single rows and, if there are many, those between both ends together, which are left out."""
    last = len(frame) - MOST_ROWS // 2
    for i in range(len(frame)):
        if len(frame) <= MOST_ROWS or i < MOST_ROWS // 2 or i >= last:
            yield frame.iloc[i : i + 1], False
        elif i == MOST_ROWS // 2:
            yield frame.iloc[i:last], True


def _left_out(rows: pd.DataFrame) -> str:
    return f"... {len(rows):,} more"


def _cell(name: str, value: float | str | None) -> str:
    if isinstance(value, str) or pd.isna(value):
        return str(value) if isinstance(value, str) else ""
    if name == "residual":  # residuals fall by powers of ten
        return f"{value:.2e}"
    return f"{value:,.3f}" if isinstance(value, float) else f"{value:,}"


def tree_text(tree: SearchTree, encoding: str = "utf-8") -> Tree:
    """Return the vertices of the largest branches, each below its predecessor, for a screen's encoding."""
    part = tree.part(MOST_VERTICES, DEEPEST)
    whole = len(part) == len(tree.parent)
    some = "" if whole else f", {len(part)} of {len(tree.parent):,} vertices: the largest branches"
    top = Tree(f"{tree.title}{some}")
    above = [top]
    for shown, name in zip(part, tree.names([shown.row for shown in part]), strict=True):
        del above[shown.depth + 1 :]
        name = name.encode(encoding, "backslashreplace").decode(encoding)
        above.append(above[-1].add(Text(_tree_label(name, shown.children, shown.below))))
    return top


def _tree_label(name: str, children: int, below: int) -> str:
    name = " ".join(name.split())
    name = name if len(name) <= LONGEST else name[: LONGEST - 3] + "..."
    if not below:
        return name
    deeper = "" if below == children else f", {below:,} below"
    return f"{name}: {count(children, 'child', 'children')}{deeper}"
