"""Compare the backend `trav` with NetworkX, function by function, on an R-MAT graph.

    python -m benchmarks networkx --scale 16
    python -m benchmarks networkx --scale 18 --only pagerank --only connected_components
    python -m benchmarks networkx --thresholds       # from which size on a conversion pays

A row has the seconds of NetworkX on its own graph, and of the backend on a graph converted beforehand
(cached), on one that is converted in the call (first call), and directly from the frame, where NetworkX's
time includes its `from_pandas_edgelist`; beside each is how often NetworkX takes it (`_x`).  If nx-rustworkx
or nx-cugraph is installed, its cached calls have a column too.  `slower` names what is slower than another.
The first run on a machine compiles; it is not timed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from types import MappingProxyType

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks import provenance
from benchmarks.harness import Recorder, Row, short, show
from rapids_trav import generators

RIVALS = ("rustworkx", "cugraph")  # names of other backends, shown if they are installed


@dataclass(frozen=True)
class Case:
    """A function and its arguments."""

    name: str
    arguments: Callable[[object, object], tuple] = lambda source, target: ()
    options: tuple = ()

    def call(self, graph: nx.Graph, source: object, target: object, backend: str | None = None) -> object:
        found = getattr(nx, self.name)(
            graph, *self.arguments(source, target), **dict(self.options), backend=backend
        )
        return [*found] if isinstance(found, Iterator) else found


def one(source: object, target: object) -> tuple:
    return (source,)


def two(source: object, target: object) -> tuple:
    return source, target


CASES = (
    Case("single_source_shortest_path_length", one),
    Case("single_source_shortest_path", one),
    Case("bfs_edges", one),
    Case("bfs_tree", one),
    Case("bfs_successors", one),
    Case("bfs_layers", one),
    Case("bfs_labeled_edges", one),
    Case("descendants", one),
    Case("descendants_at_distance", lambda source, target: (source, 3)),
    Case("connected_components"),
    Case("number_connected_components"),
    Case("is_connected"),
    Case("node_connected_component", one),
    Case("pagerank"),
    Case("single_source_dijkstra_path_length", one),
    Case("single_source_dijkstra", one),
    Case("shortest_path", two),
    Case("has_path", two),
    Case("ego_graph", one),
)


WAYS = ("cached", "first call", "from frame")
COLUMNS = (
    "graph", "name", "networkx_s", *(f"{way}_{what}" for way in WAYS for what in "sx"),
    *(f"{name}_s" for name in RIVALS), "slower",
)  # fmt: skip


def best(call: Callable[[], object], repeats: int) -> float:
    """Return the least seconds of some calls, without the time to free their answers."""
    seconds = []
    for _ in range(repeats):
        began = perf_counter()
        answer = call()
        seconds.append(perf_counter() - began)
        del answer
    return min(seconds)


def rmat(scale: int) -> pd.DataFrame:
    frame = generators.rmat(scale, seed=1)
    return pd.DataFrame({"source": frame.iloc[:, 0], "target": frame.iloc[:, 1]})


def compare(frame: pd.DataFrame, cases: Iterable[Case], repeats: int) -> Iterator[Row]:
    """Yield a row for each function, in seconds."""
    began = perf_counter()
    graph = nx.from_pandas_edgelist(frame, backend="networkx")
    reading = perf_counter() - began
    source = max(graph, key=graph.degree)
    target = list(graph)[len(graph) // 2]
    own = nx.from_pandas_edgelist(frame, backend="trav")
    built = best(lambda: nx.from_pandas_edgelist(frame, backend="trav"), repeats)
    yield row_of("from_pandas_edgelist", reading, {"from frame": built}, 0.0)
    for case in cases:

        def from_frame(case: Case = case) -> object:
            return case.call(nx.from_pandas_edgelist(frame, backend="trav"), source, target)

        def first_call(case: Case = case) -> object:
            graph.__networkx_cache__.clear()
            return case.call(graph, source, target, "trav")

        case.call(own, source, target)  # compiles
        networkx = best(lambda case=case: case.call(graph, source, target, "networkx"), 1)
        first = best(first_call, 1)
        cached = best(lambda case=case: case.call(graph, source, target, "trav"), repeats)
        ours = {"cached": cached, "first call": first, "from frame": best(from_frame, repeats)}
        others = {name: rival(name, case, graph, source, target, repeats) for name in installed()}
        yield row_of(case.name, networkx, ours, reading, others)


def row_of(
    name: str,
    networkx: float,
    ours: dict[str, float],
    reading: float,
    others: Mapping[str, float | None] = MappingProxyType({}),
) -> Row:
    row: Row = {"name": name, "networkx_s": short(networkx)}
    slower = []
    for way, seconds in ours.items():
        times = (networkx + (reading if way == "from frame" else 0.0)) / seconds
        row |= {f"{way}_s": short(seconds), f"{way}_x": short(times)}
        slower += [way] if times < 1 else []
    for other, seconds in others.items():
        if seconds is not None:
            row[f"{other}_s"] = short(seconds)
            slower += [f"than {other}"] if seconds < ours["cached"] else []
    return row | {"slower": ", ".join(slower) or None}


def installed() -> list[str]:
    """Return the other backends that are installed."""
    return [name for name in RIVALS if name in nx.utils.backends.backends]


def rival(
    name: str, case: Case, graph: nx.Graph, source: object, target: object, repeats: int
) -> float | None:
    """Return the seconds of another backend on a graph it has converted; None if it lacks the function."""
    try:
        case.call(graph, source, target, name)
    except (NotImplementedError, TypeError):
        return None
    return best(lambda: case.call(graph, source, target, name), repeats)


def thresholds(repeats: int) -> None:
    """Print, by shape and size, how a first and a cached call compare with NetworkX."""
    shapes: dict[str, Callable[[int], nx.Graph]] = {
        "path": nx.path_graph,
        "grid": lambda n: nx.convert_node_labels_to_integers(nx.grid_2d_graph(int(n**0.5), int(n**0.5))),
        "random": lambda n: nx.gnm_random_graph(n, 4 * n, seed=1),
        "R-MAT": lambda n: nx.from_pandas_edgelist(rmat(max(int(np.log2(n)) - 2, 4))),
        "star": nx.star_graph,
    }
    names = ("single_source_shortest_path_length", "connected_components", "bfs_edges", "pagerank")
    names += ("single_source_dijkstra_path_length", "all_pairs_shortest_path_length", "descendants")
    for case in (case for case in (*CASES, Case("all_pairs_shortest_path_length")) if case.name in names):
        for shape, make in shapes.items():
            for n in (30, 100, 300, 1000, 3000, 10_000, 30_000):
                if case.name.startswith("all_pairs") and n > 300:
                    continue
                graph = make(n)
                source = next(iter(graph))
                case.call(graph, source, source, "trav")
                cached = best(lambda: case.call(graph, source, source, "trav"), repeats)  # noqa: B023
                theirs = best(lambda: case.call(graph, source, source, "networkx"), repeats)  # noqa: B023
                first = []
                for _ in range(repeats):
                    graph.__networkx_cache__.clear()
                    first.append(best(lambda: case.call(graph, source, source, "trav"), 1))  # noqa: B023
                ends = 2 * graph.number_of_edges()
                print(
                    f"{case.name:36}{shape:8}{ends:8,} edge ends: NetworkX {theirs:.6f} s, "
                    f"cached {theirs / cached:6.2f}x, first call {theirs / min(first):6.2f}x"
                )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=16, help="of the R-MAT graph")
    parser.add_argument("--only", action="append", help="a function; may be given several times")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="append the rows to this file")
    parser.add_argument("--thresholds", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # NetworkX warns at each call that a conversion was cached
    if options.thresholds:
        thresholds(options.repeats)
        return
    cases = [case for case in CASES if not options.only or case.name in options.only]
    recorder = Recorder(options.json, facts=provenance.of_run() | provenance.of_cpu())
    for row in compare(rmat(options.scale), cases, options.repeats):
        recorder.add({"benchmark": "networkx", "table": "networkx", "graph": f"rmat{options.scale}", **row})
    show(recorder.rows, {"networkx": {"networkx": COLUMNS}})
