"""Every BFS variant on one GPU, side by side with cuGraph in the same run.

    python ci/bench_gpu.py                                  # R-MAT scale 20, 22, 24 and a 4096 x 4096 grid
    python ci/bench_gpu.py --graphs rmat20,facebook --roots 16 --json rows.jsonl

Three tables: the traversal alone (arrays in, arrays out), the whole call (ids in, frame out), and building the
graph from the edge frame (time and peak of the memory that RMM gave out).  Both sides allocate from the same
RMM pool.  Roots are random vertices with at least one edge; medians with the first and third quartile.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cudf
import cugraph
import cupy
import numpy as np
import pylibcugraph
import rmm
import rmm.statistics
from rich.console import Console
from rich.table import Table

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav import datasets, generators
from rapids_trav.structures import BfsOptions

VARIANTS = ("auto", "direction", "private", "frontier", "edge", "pull", "push")
# Textbook variants that touch every vertex or edge in every level need seconds on a long thin graph.
SLOW_SECONDS = 4.0


def load(name: str) -> cudf.DataFrame:
    """The edge frame of `rmat<scale>`, `grid<side>`, `path<n>` or a shipped data set."""
    for kind in ("rmat", "grid", "path"):
        if name.startswith(kind) and name[len(kind) :].isdigit():
            size = int(name[len(kind) :])
            if kind == "grid":
                return generators.grid(size, size, library="cudf")
            return getattr(generators, kind)(size, library="cudf")
    return datasets.load(name, library="cudf")


def seconds(call: Callable[[], object]) -> float:
    """Wall-clock time of a call with the device idle before and after."""
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    call()
    cupy.cuda.Device().synchronize()
    return time.perf_counter() - start


def peak_bytes(call: Callable[[], object]) -> tuple[object, float, int]:
    """Result, seconds and the most bytes held at once, beyond those held before."""
    gc.collect()
    cupy.cuda.Device().synchronize()
    with rmm.statistics.statistics():
        start = time.perf_counter()
        result = call()
        cupy.cuda.Device().synchronize()
        took = time.perf_counter() - start
        peak = rmm.statistics.get_statistics().peak_bytes
    return result, took, peak


def timings(call: Callable[[int], object], roots: list[int]) -> list[float]:
    """Milliseconds for each root, after one call to warm up; stops early when a root takes long."""
    call(roots[0])
    spent, out = 0.0, []
    for root in roots:
        took = seconds(lambda root=root: call(root))
        out.append(took * 1e3)
        spent += took
        if spent > SLOW_SECONDS and len(out) >= 3:
            break
    return out


def row(table: str, graph: str, name: str, ms: list[float], **more: object) -> dict[str, object]:
    q1, median, q3 = np.percentile(ms, [25, 50, 75])
    return {
        "table": table, "graph": graph, "name": name, "roots": len(ms), "median_ms": round(float(median), 4),
        "q1_ms": round(float(q1), 4), "q3_ms": round(float(q3), 4), "min_ms": round(min(ms), 4),
        "max_ms": round(max(ms), 4), "harmonic_mean_ms": round(len(ms) / sum(1 / t for t in ms), 4), **more,
    }  # fmt: skip


def traversals(
    name: str, graph: object, roots: list[int], handle: pylibcugraph.ResourceHandle
) -> Iterator[dict]:
    """Arrays in, arrays out: our variants and pylibcugraph on the same adjacency."""
    store = graph.storage
    view = store.view("out")
    out = view.out
    for variant in VARIANTS:
        options = BfsOptions(variant=variant)

        def search(root: int, options: BfsOptions = options) -> object:
            return store.engine.bfs(view, cupy.asarray([root], dtype=out.column_indices.dtype), options)

        yield row("traversal", name, variant, timings(search, roots))
    theirs = pylibcugraph.SGGraph(
        handle, pylibcugraph.GraphProperties(is_symmetric=not graph.directed, is_multigraph=True),
        out.row_offsets, out.column_indices, store_transposed=False, renumber=False,
        do_expensive_check=False, input_array_format="CSR", weight_array=None,
    )  # fmt: skip
    for optimizing in (True, False) if not graph.directed else (False,):

        def search(root: int, optimizing: bool = optimizing) -> object:
            sources = cupy.asarray([root], dtype=out.column_indices.dtype)
            return pylibcugraph.bfs(handle, theirs, sources, optimizing, -1, True, False)

        label = f"pylibcugraph direction_optimizing={optimizing}"
        yield row("traversal", name, label, timings(search, roots))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graphs", default="rmat20,rmat22,rmat24,grid4096")
    parser.add_argument("--roots", type=int, default=64)
    parser.add_argument("--seed", type=int, default=None, help="of the roots; drawn afresh unless given")
    parser.add_argument("--json", type=Path, help="append the rows to this file, one JSON object a line")
    parser.add_argument("--pool", type=int, default=60, help="RMM pool in GiB")
    args = parser.parse_args()
    rmm.reinitialize(pool_allocator=True, initial_pool_size=args.pool << 30)
    handle = pylibcugraph.ResourceHandle()
    rows: list[dict] = []
    for name in args.graphs.split(","):
        edges = load(name)
        size = int(edges.memory_usage(index=False).sum())
        # Once unmeasured, so that neither side pays for compiling or loading its kernels.
        edges.trav.graph()
        cugraph.Graph().from_cudf_edgelist(edges, source="src", destination="dst")
        graph, took, peak = peak_bytes(lambda edges=edges: built(edges.trav.graph()))
        rows.append(row("build", name, "rapids_trav", [took * 1e3], peak_over_input=round(peak / size, 2)))
        theirs = cugraph.Graph(directed=False)
        _, took, peak = peak_bytes(
            lambda edges=edges, theirs=theirs: theirs.from_cudf_edgelist(
                edges, source="src", destination="dst"
            )
        )
        rows.append(row("build", name, "cugraph", [took * 1e3], peak_over_input=round(peak / size, 2)))

        rng = np.random.default_rng(args.seed)
        roots = [int(r) for r in rng.choice(graph.n_vertices, args.roots)]
        rows.extend(traversals(name, graph, roots, handle))

        ids = [
            int(v)
            for v in graph.bfs(int(edges["src"].iloc[0]), predecessors=False)["vertex"].iloc[roots].to_numpy()
        ]
        rows.append(row("whole call", name, "rapids_trav graph.bfs", timings(graph.bfs, ids)))
        rows.append(
            row("whole call", name, "cugraph.bfs", timings(lambda v, g=theirs: cugraph.bfs(g, v), ids))
        )
        del graph, theirs, edges
        gc.collect()
    show(rows)
    if args.json:
        with args.json.open("a") as file:
            file.writelines(json.dumps({"benchmark": "bench_gpu", **r}) + "\n" for r in rows)


def built(graph: object) -> object:
    """A graph builds its adjacency when first asked; cuGraph's has edges only, so both are made to have it."""
    graph.storage.view("out").out  # noqa: B018
    return graph


def show(rows: list[dict]) -> None:
    for kind in ("build", "traversal", "whole call"):
        table = Table(title=kind)
        columns = [
            "graph",
            "name",
            "roots",
            "median_ms",
            "q1_ms",
            "q3_ms",
            "min_ms",
            "max_ms",
            "harmonic_mean_ms",
        ]
        if kind == "build":
            columns = ["graph", "name", "median_ms", "peak_over_input"]
        for column in columns:
            table.add_column(column, justify="left" if column in ("graph", "name") else "right")
        for entry in rows:
            if entry["table"] == kind:
                table.add_row(*(str(entry[c]) for c in columns))
        Console(width=150).print(table)


if __name__ == "__main__":
    main()
