"""Compare the backend `trav` with NetworkX, function by function, on an R-MAT graph.

    python -m benchmarks networkx --scale 16
    python -m benchmarks networkx --scale 18 --only pagerank --only connected_components
    python -m benchmarks networkx --thresholds       # from which size on a conversion pays

A row has the seconds of NetworkX on its own graph, and of the backend on a graph converted beforehand
(cached), on one that is converted in the call (first call), and directly from the frame, where NetworkX's
time includes its `from_pandas_edgelist`.  With nx-rustworkx or nx-cugraph installed, their cached calls are
shown beside them.  Cells in which the backend is slower are printed again below.  The first run on a machine
compiles; it is not timed.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter

import networkx as nx
import numpy as np
import pandas as pd

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


def compare(frame: pd.DataFrame, cases: Iterable[Case], repeats: int) -> list[dict]:
    """Return a row for each function, in seconds."""
    began = perf_counter()
    graph = nx.from_pandas_edgelist(frame, backend="networkx")
    reading = perf_counter() - began
    source = max(graph, key=graph.degree)
    target = list(graph)[len(graph) // 2]
    rows = [
        {
            "function": "from_pandas_edgelist",
            "NetworkX": reading,
            "from frame": best(lambda: nx.from_pandas_edgelist(frame, backend="trav"), repeats),
        }
    ]
    own = nx.from_pandas_edgelist(frame, backend="trav")
    for case in cases:

        def from_frame(case: Case = case) -> object:
            return case.call(nx.from_pandas_edgelist(frame, backend="trav"), source, target)

        def first_call(case: Case = case) -> object:
            graph.__networkx_cache__.clear()
            return case.call(graph, source, target, "trav")

        case.call(own, source, target)  # compiles
        row = {"function": case.name}
        row["NetworkX"] = best(lambda case=case: case.call(graph, source, target, "networkx"), 1)
        row["first call"] = best(first_call, 1)
        row["cached"] = best(lambda case=case: case.call(graph, source, target, "trav"), repeats)
        row["from frame"] = best(from_frame, repeats)
        for other in installed():
            row[other] = rival(other, case, graph, source, target, repeats)
        rows.append(row)
        print(".", end="", file=sys.stderr, flush=True)
    for row in rows[1:]:
        row["reading"] = reading
    return rows


def installed() -> list[str]:
    """Return the other backends that are installed."""
    return [name for name in RIVALS if name in nx.utils.backends.backends]


def rival(name: str, case: Case, graph: nx.Graph, source: object, target: object, repeats: int) -> float:
    """Return the seconds of another backend on a graph it has converted; NaN if it lacks the function."""
    try:
        case.call(graph, source, target, name)
    except (NotImplementedError, TypeError):
        return float("nan")
    return best(lambda: case.call(graph, source, target, name), repeats)


def table(rows: list[dict]) -> str:
    """Format the rows as text: seconds, and speedup over NetworkX."""
    others = "".join(f"{name:>12}" for name in installed())
    lines = [f"{'function':36}{'NetworkX':>10}{'cached':>18}{'first call':>18}{'from frame':>18}{others}"]
    for row in rows:
        cells = [f"{row['function']:36}{row['NetworkX']:9.3f}s"]
        for name in ("cached", "first call", "from frame"):
            cells.append(f"{row[name]:8.4f}s {times(row, name):7.1f}x" if name in row else f"{'':18}")
        for other in installed():
            seconds = row.get(other, float("nan"))
            cells.append(f"{'':12}" if np.isnan(seconds) else f"{seconds:11.4f}s")
        lines.append("".join(cells).rstrip())
    return "\n".join(lines)


def times(row: dict, name: str) -> float:
    """Return the speedup of a cell over NetworkX."""
    whole = row["NetworkX"] + (row.get("reading", 0.0) if name == "from frame" else 0.0)
    return whole / row[name]


def losing(rows: list[dict]) -> list[str]:
    """Return a sentence for each cell in which NetworkX, or another backend, is faster."""
    found = []
    for row in rows:
        for name in ("cached", "first call", "from frame"):
            if name in row and times(row, name) < 1:
                found.append(
                    f"{row['function']}, {name}: {1 / times(row, name):.1f} times slower than NetworkX"
                )
        for other in installed():
            if row.get(other, np.inf) < row.get("cached", 0):
                found.append(f"{row['function']}: {row['cached'] / row[other]:.1f} times slower than {other}")
    return found


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


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=16, help="of the R-MAT graph")
    parser.add_argument("--only", action="append", help="a function; may be given several times")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--thresholds", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # NetworkX warns at each call that a conversion was cached
    if options.thresholds:
        thresholds(options.repeats)
        return 0
    cases = [case for case in CASES if not options.only or case.name in options.only]
    rows = compare(rmat(options.scale), cases, options.repeats)
    print(f"\nR-MAT {options.scale}")
    print(table(rows))
    print("\n".join(["Losing cells:", *losing(rows)]) if losing(rows) else "No cell loses.")
    return 0
