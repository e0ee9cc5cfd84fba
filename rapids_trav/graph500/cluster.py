"""The benchmark on the workers of a Dask cluster, with the same steps and report as on one machine."""

from __future__ import annotations

from typing import Any

import pandas as pd

from rapids_trav.distributed.clusters import check_grid, checked_client, open_group
from rapids_trav.graph500 import ranks
from rapids_trav.graph500.harness import Notify, check
from rapids_trav.graph500.report import Report
from rapids_trav.utilities.checks import flag


def run_on_cluster(
    scale: int,
    client: Any,
    *,
    edge_factor: int = 16,
    roots: int = 64,
    seed: int = 1,
    grid: tuple[int, int] | None = None,
    validate: bool = True,
    notify: Notify | None = None,
) -> Report:
    """Run the Graph500 benchmark's breadth-first part on the workers of a cluster.

    Parameters
    ----------
    scale, edge_factor, roots, seed, validate, notify
        As in `run`; graph and roots are the same.
    client : distributed.Client
    grid : (int, int), optional
        Rows and columns of the grid of workers; by default the squarest.

    Returns
    -------
    Report
        Seconds are those of the slowest worker, between barriers of all workers.  `output_seconds` includes
        moving the parents to the workers that hold the labels, in the caller's labels.

    Raises
    ------
    TravError
        If an argument is invalid.
    RankError
        If a worker fails or is lost.
    """
    scale, edge_factor, roots, seed = check(scale, edge_factor, roots, seed)
    flag("validate", validate)
    checked_client(client)
    report = notify or (lambda step, done, total: None)
    with open_group(client, None) as group:
        check_grid(grid, group.workers)
        report("Generating the edges", 0, 1)
        generation = max(group.call(ranks.generate, scale, edge_factor, seed))
        report("Constructing the graph", 0, 1)
        n_vertices, construction = group.call(ranks.construct, grid)[0]
        drawn = group.call(ranks.draw_roots, roots, seed)[0]
        report("Warming up", 0, 1)
        group.call(ranks.search, drawn[0], False)
        report("Searching", 0, len(drawn))
        rows = []
        for done, root in enumerate(drawn, 1):
            rows.append(group.call(ranks.search, root, validate)[0])
            report("Searching", done, len(drawn))
        workers = f"{len(group.workers)} workers" if len(group.workers) > 1 else "one worker"
        return Report(
            scale=scale,
            edge_factor=edge_factor,
            seed=seed,
            engine=group.device,
            device=workers,
            n_vertices=n_vertices,
            n_edges=edge_factor << scale,
            generation_seconds=generation,
            construction_seconds=construction,
            searches=pd.DataFrame(rows).astype({"device_seconds": "float64", "valid": "boolean"}),
        )
