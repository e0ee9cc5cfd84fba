"""(h) `mode="each"`: hundreds of searches run together, against the same searches one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rapids_trav.engines.interface import BfsOptions, Search

from . import graphs
from .checks import verdict
from .pictures import bars
from .rows import Row, of_times, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Lab

GRAPHS = ("facebook", "rmat18", "rmat20")
SOURCES = (64, 256, 512)
REPEATS = 5
COLUMNS = (
    "graph", "sources", "name", "median_ms", "min_ms", "max_ms", "us_a_search", "over_together", "checked",
    "wrong", "note",
)  # fmt: skip
TABLES = {"each": COLUMNS}


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        edges, directed = lab.load(name), graphs.is_directed(name)
        graph = lab.graph(edges, directed=directed)
        candidates = graphs.with_neighbor(*lab.ends(edges), directed, lab.xp)
        for count in SOURCES:
            sources = graphs.draw(candidates, count, lab.seed, lab.xp)
            for row in one(lab, graph, sources):
                facts = {"graph": name, "sources": len(sources), "seed": lab.seed}
                yield {"benchmark": "each", "table": "each", **facts, **row}


def one(lab: Lab, graph: Graph, sources: Sequence[int]) -> Iterator[Row]:
    """Yield searches together; one after another into the same arrays; and with each result dropped."""
    view, engine = graph.storage.view("out"), graph.engine
    chosen = lab.xp.concatenate([lab.ours(graph).prepare(source) for source in sources])
    singly = [chosen[i : i + 1] for i in range(len(sources))]

    def together() -> Search:
        return engine.search_each(view, chosen, BfsOptions())

    def thrown_away() -> None:
        for source in singly:
            engine.search(view, source, BfsOptions())

    def kept() -> list[Search]:
        return [engine.search(view, source, BfsOptions()) for source in singly]

    wrong = disagreements(lab.xp, together(), kept())
    base: Row = {}
    for name, call in (("together", together), ("one by one, kept", kept), ("one by one", thrown_away)):
        call()
        times = of_times([1e3 * lab.timed(call)[1] for _ in range(REPEATS)])
        times.pop("roots")
        base = base or times
        over = ratio(times["median_ms"], base["median_ms"])
        a_search = round(1e3 * times["median_ms"] / len(sources), 3)
        checked = verdict(len(sources), wrong) if name == "together" else {}
        yield {"name": name, **times, "us_a_search": a_search, "over_together": over, **checked}


def disagreements(xp: Any, together: Search, singly: Sequence[Search]) -> list[str]:
    """Return the searches whose distances differ between the two ways."""
    return [
        f"source number {i}: other distances together than alone"
        for i, alone in enumerate(singly)
        if not bool(xp.array_equal(together.distance[i], alone.distance))
    ]


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    bars(axes, [{**row, "name": f"{row['sources']} {row['name']}"} for row in rows], "median_ms", "median ms")
