"""The CPU engine beside SciPy, igraph and NetworKit on this machine, all from the same roots.

    python ci/bench_cpu.py                     # R-MAT of scale 18 and 20, grid, path, star, 256 sources
    python ci/bench_cpu.py --scale 22 --roots 16 --only rmat
    python ci/bench_cpu.py --scale 18 --scale 20 --roots 8 --only rmat --json ci/cpu-benchmark.jsonl
    python ci/bench_cpu.py --only threads      # questions a second of 1 to 8 threads on the Facebook graph

Each library gets the graph in its own form beforehand, multi-edges and self-loops included, and one call to
warm up.  Only traversal is timed: ours with its result arrays; SciPy's order and predecessors; igraph's
distances, and its search with parents; NetworKit's `run()`, without fetching the result.
A library that is not installed has no rows.  With --json every row is kept, with the run, the date, the
commit and digest of the sources, the processor and the versions; ci/write_tables.py makes the README's table
of them.
Needs scipy and rich; python-igraph and networkit are the `bench` extra.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
from bench import provenance, threads
from bench.rows import Recorder, of_times
from rich.console import Console
from rich.table import Table

from rapids_trav import datasets, generators
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions

ENGINE = CpuEngine()


def build(frame, n_vertices: int) -> SimpleNamespace:
    src, dst = frame["src"].to_numpy(), frame["dst"].to_numpy()
    adjacency = ENGINE.build_adjacency(lambda: iter([(src, dst)]), n_vertices, symmetric=True)
    return SimpleNamespace(n_vertices=n_vertices, out=adjacency, into=adjacency, src=src, dst=dst)


def ours(view) -> Iterator[tuple[str, Callable]]:
    for predecessors in (True, False):
        options = BfsOptions(predecessors=predecessors)
        name = "rapids_trav" if predecessors else "rapids_trav, distances only"
        yield name, lambda root, options=options: ENGINE.bfs(view, np.array([root]), options)


def scipy(view) -> Iterator[tuple[str, Callable]]:
    from scipy.sparse import csgraph, csr_array

    columns, offsets = view.out.column_indices, view.out.row_offsets
    if view.out.n_edges < 2**31:
        offsets = offsets.astype(np.int32)
    matrix = csr_array((np.ones(len(columns)), columns, offsets), shape=(view.n_vertices,) * 2)
    yield "scipy breadth_first_order", lambda root: csgraph.breadth_first_order(matrix, root)


def igraph(view) -> Iterator[tuple[str, Callable]]:
    import igraph

    graph = igraph.Graph(n=view.n_vertices, edges=np.stack([view.src, view.dst], 1).astype(np.int64))
    yield "igraph distances", lambda root: graph.distances(source=int(root))
    yield "igraph bfs", lambda root: graph.bfs(int(root))


def networkit(view) -> Iterator[tuple[str, Callable]]:
    import networkit

    ends = view.src.astype(np.uint64), view.dst.astype(np.uint64)
    graph = networkit.GraphFromCoo(ends, n=view.n_vertices)
    for store_paths in (True, False):
        name = f"networkit BFS, {'with' if store_paths else 'without'} paths"
        yield name, lambda root, paths=store_paths: networkit.distance.BFS(graph, int(root), paths).run()


LIBRARIES = (ours, scipy, igraph, networkit)


def milliseconds(calls: dict[str, Callable], roots) -> dict[str, np.ndarray]:
    """Times of each call from each root; calls take turns, so that a busy machine is as busy for all."""
    times = {name: [] for name in calls}
    for call in calls.values():
        call(roots[0])
    for root in roots:
        for name, call in calls.items():
            begin = time.perf_counter()
            result = call(root)
            times[name].append(1e3 * (time.perf_counter() - begin))
            del result
    return {name: np.array(values) for name, values in times.items()}


def compare(
    title: str,
    graph: str,
    frame,
    n_vertices: int,
    roots: int | list[int],
    console: Console,
    recorder: Recorder,
) -> None:
    """One table, and a row for each search in it: every library on one graph."""
    begin = time.perf_counter()
    view = build(frame, n_vertices)
    seconds = time.perf_counter() - begin
    if isinstance(roots, int):
        candidates = np.flatnonzero(np.diff(view.out.row_offsets))
        roots = np.random.default_rng(1).choice(candidates, min(roots, len(candidates)), replace=False)
    installed = [library for library in LIBRARIES if library is ours or find_spec(library.__name__)]
    calls = {name: call for library in installed for name, call in library(view)}
    rows = milliseconds(calls, roots)
    others = {name: np.median(times) for name, times in rows.items() if not name.startswith("rapids_trav")}
    fastest = min(others, key=others.get)

    table = Table(title=f"{title}: {n_vertices:,} vertices, {len(view.src):,} edges, {len(roots)} roots")
    for column in ("search", "median ms", "quartiles", "least", "ns/vertex", f"{fastest} takes"):
        table.add_column(column, justify="left" if column == "search" else "right")
    for name, times in rows.items():
        low, middle, high = np.quantile(times, [0.25, 0.5, 0.75])
        table.add_row(
            name, f"{middle:.2f}", f"{low:.2f} - {high:.2f}", f"{times.min():.2f}",
            f"{1e6 * middle / n_vertices:.1f}", f"{others[fastest] / middle:.1f}x",
        )  # fmt: skip
        facts = {"benchmark": "cpu", "table": "traversal", "graph": graph, "name": name}
        recorder.add({**facts, "vertices": n_vertices, "edges": len(view.src), **of_times(times)})
    console.print(table)
    console.print(f"our adjacency was built in {seconds:.2f} s\n")


def compare_each(scale: int, n_sources: int, console: Console, recorder: Recorder) -> None:
    """Many searches together and one after another, both into one (sources, vertices) result."""
    n_vertices = 1 << scale
    view = build(generators.rmat(scale), n_vertices)
    candidates = np.flatnonzero(np.diff(view.out.row_offsets))
    sources = np.random.default_rng(1).choice(candidates, n_sources, replace=False)
    table = Table(title=f"{n_sources} sources, R-MAT scale {scale}")
    for column in ("result", "together ms", "one by one ms", "one by one, stacked ms", "ratio", "stacked"):
        table.add_column(column, justify="right")
    for predecessors in (True, False):
        options = BfsOptions(predecessors=predecessors)
        stacked = BfsOptions("direction", predecessors=predecessors)
        calls = (
            lambda _, options=options: ENGINE.bfs_each(view, sources, options),
            lambda _, options=options: [ENGINE.bfs(view, s, options) and None for s in sources[:, None]],
            lambda _, options=stacked: ENGINE.bfs_each(view, sources, options),
        )
        rows = milliseconds(dict(enumerate(calls)), range(5))
        together, single, stack = (np.median(times) for times in rows.values())
        for name, times in zip(("together", "one by one", "one by one, stacked"), rows.values(), strict=True):
            facts = {"benchmark": "cpu", "table": "each", "graph": f"rmat{scale}", "name": name}
            recorder.add({**facts, "sources": n_sources, "predecessors": predecessors, **of_times(times)})
        table.add_row(
            "with predecessors" if predecessors else "distances only", f"{together:.0f}", f"{single:.0f}",
            f"{stack:.0f}", f"{single / together:.1f}x", f"{stack / together:.1f}x",
        )  # fmt: skip
    console.print(table)


def compare_threads(roots: int, console: Console) -> None:
    """Questions a second by number of threads, on the Facebook graph."""
    edges = datasets.load("facebook")
    graph = edges.trav.graph()
    sources = np.random.default_rng(0).choice(edges["src"].unique(), roots).tolist()
    table = Table(
        "question", *(f"{n} threads" for n in threads.THREADS), title="facebook, questions a second"
    )
    rows = list(threads.compare(graph, sources, ENGINE.synchronize))
    for name in dict.fromkeys(row["name"] for row in rows):
        table.add_row(name, *(f"{row['questions_a_second']:.0f}" for row in rows if row["name"] == name))
    console.print(table)


@click.command()
@click.option("--scale", type=int, multiple=True, default=(18, 20), show_default=True, help="R-MAT scales.")
@click.option("--roots", default=32, show_default=True, help="Roots, of degree 1 or more.")
@click.option("--sources", default=256, show_default=True, help="Sources searched together.")
@click.option("--only", type=click.Choice(["rmat", "long", "each", "threads"]), help="Only this part.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Append the rows to this file.")
def main(scale: tuple[int, ...], roots: int, sources: int, only: str | None, path: Path | None) -> None:
    """Print the tables, and keep the rows."""
    console = Console(width=130)
    recorder = Recorder(path, lambda line: None, provenance.of_run() | provenance.of_cpu())
    if only in (None, "rmat"):
        for s in scale:
            compare(f"R-MAT scale {s}", f"rmat{s}", generators.rmat(s), 1 << s, roots, console, recorder)
    if only in (None, "long"):
        side, n = 2000, 1_000_000
        long = (
            ("grid", f"grid{side}", generators.grid(side, side), side**2, [0, 2_001_000, side**2 - 1]),
            ("path", f"path{n}", generators.path(n), n, [0, n // 2, n - 1]),
            ("star", f"star{n}", generators.star(n), n, [0, 1, n - 1]),
        )
        for title, graph, frame, n_vertices, some in long:
            compare(title, graph, frame, n_vertices, some, console, recorder)
    if only in (None, "each"):
        for s in scale:
            compare_each(s, sources, console, recorder)
    if only in (None, "threads"):
        compare_threads(roots, console)


if __name__ == "__main__":
    main()
