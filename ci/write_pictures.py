"""Draw the pictures of docs/how-it-works.md from traces of the systems, on this machine's CPU.

    python ci/write_pictures.py              # into docs/pictures
    python ci/write_pictures.py --folder /tmp --scale 10

Each picture is of one run after another that is not drawn, so that no compilation is in it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rapids_trav import generators, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from rapids_trav import Graph

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
N_WORKERS = 4
STATE_BYTES = 90  # for each vertex, in a run under a memory limit
LEAST_BYTES = 1 << 16  # whatever the graph


def search(scale: int) -> Figure:
    """Draw a search that changes its direction, from the vertex with the most edges."""
    graph = generators.rmat(scale).trav.graph(order="degree")
    root = hub(graph)
    graph.bfs(root)
    return plot.search(graph.levels(root), graph.bfs(root, trace=True).trace)


def workers(scale: int) -> Figure:
    """Draw a search over a grid of workers, each of which holds a block of the adjacency matrix."""
    import dask.dataframe
    import distributed

    edges = dask.dataframe.from_pandas(generators.rmat(scale), npartitions=2 * N_WORKERS)
    with (
        distributed.LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        edges.trav.graph() as graph,
    ):
        root = hub(graph)
        graph.levels(root).compute()
        return plot.search(graph.levels(root), graph.bfs(root, trace=True).trace)


def blocks(scale: int) -> Figure:
    """Draw shortest paths on a grid whose edges do not fit the memory limit, by blocks."""
    edges = weighted(generators.grid(1 << scale // 2, 1 << scale // 2))
    graph = limited(edges, weight="w")
    graph.sssp(0, schedule="paths")
    return plot.run(graph.sssp(0, schedule="paths", trace=True).trace)


def pages(scale: int) -> Figure:
    """Draw PageRank on a graph whose edges do not fit the memory limit, by pages."""
    graph = limited(generators.rmat(scale))
    graph.pagerank()
    return plot.run(graph.pagerank(trace=True).trace)


PICTURES: dict[str, Callable[[int], Figure]] = {
    "search": search, "workers": workers, "blocks": blocks, "pages": pages,
}  # fmt: skip


def hub(graph: Graph) -> int:
    """Return the vertex with the most edges."""
    degrees = graph.degrees()
    degrees = degrees.compute() if hasattr(degrees, "compute") else degrees
    return int(degrees["vertex"][degrees["degree"].idxmax()])


def limited(edges: pd.DataFrame, weight: str | None = None) -> Graph:
    """Return the graph under a limit that leaves room for about a quarter of its edges."""
    vertices = edges.iloc[:, :2].stack().nunique()
    n_bytes = 2 * len(edges) * (4 if weight is None else 12)
    limit = STATE_BYTES * vertices + n_bytes // 4 + LEAST_BYTES
    return edges.trav.graph(weight=weight, memory_limit=limit)


def weighted(edges: pd.DataFrame) -> pd.DataFrame:
    """Return the edges with a random weight `w`."""
    return edges.assign(w=np.random.default_rng(1).random(len(edges)) + 0.05)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--scale", type=int, default=16, help="of the graphs: 2^SCALE vertices")
    parser.add_argument("--only", choices=PICTURES, action="append")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.only or PICTURES:
        plot.save(PICTURES[name](options.scale), options.folder / f"{name}.svg")
        print(f"{options.folder / name}.svg")


if __name__ == "__main__":
    main()
