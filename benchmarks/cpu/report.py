"""The rows as one Markdown table: ours beside the best other of each query."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks.harness import Row, number, ratio
from benchmarks.harness import markdown as table

HEAD = ("query", "ours, ms", "best other", "other, ms", "times ours", "")
MOST_LOAD = 0.1
LOSES = "**slower**"


@dataclass(frozen=True)
class Verdict:
    """This package's median for a query and the best of the others', if there are any."""

    question: str
    ours: float
    other: float | None = None
    name: str = ""

    @property
    def ratio(self) -> float | None:
        """Time of the best other over ours."""
        return ratio(self.other, self.ours)

    @property
    def loses(self) -> bool:
        return self.other is not None and self.other < self.ours


def question(row: Row) -> str:
    """Return the query that a row answers."""
    return row.get("question") or f"BFS, {row['graph']}"


def role(row: Row) -> str:
    """Return the role of a row, or the role by name for rows that do not state it."""
    names = {"rapids_trav": "ours", "rapids_trav, distances only": "ours too"}
    return row.get("role") or names.get(row["name"], "other")


def verdicts(rows: Iterable[Row]) -> Iterator[Verdict]:
    """Yield a verdict for each query, and one for its frame where that was timed as well."""
    asked: dict[str, list[Row]] = {}
    for row in rows:
        if row["table"] not in ("absent", "threads"):
            asked.setdefault(question(row), []).append(row)
    for words, answers in asked.items():
        others = [
            row for row in answers if role(row) == "other" and "median_ms" in row and "wrong" not in row
        ]
        best = min(others, key=lambda row: row["median_ms"], default=None)
        for row in answers:
            if (kind := role(row)) in ("ours", "frame"):
                words_too = words if kind == "ours" else f"{words}, to the frame"
                theirs = (None, "") if best is None else (best["median_ms"], best["name"])
                yield Verdict(words_too, row["median_ms"], *theirs)


def markdown(rows: Iterable[Row]) -> list[str]:
    """Return the lines of the table."""
    body = []
    for found in verdicts(rows):
        times = "-" if found.ratio is None else f"{number(found.ratio)}x"
        mark = LOSES if found.loses else ""
        body.append([found.question, number(found.ours), found.name or "-", number(found.other), times, mark])
    return table(HEAD, body)


def told(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a line for what is missing or wrong, and for queries timed while other processes were busy."""
    rows = list(rows)
    loads = {question(row): row.get("load") or 0 for row in rows if row["table"] != "absent"}
    for words, load in loads.items():
        if load > MOST_LOAD:
            yield f"{words}: other processes took {load:.0%} of the cores, so measure it again"
    for row in rows:
        where = f"{question(row)}: " if row["table"] != "absent" else ""
        for key in ("note", "wrong"):
            if text := row.get(key):
                yield f"{where}{row['name']}: {text}"
