"""The benchmark on the workers of a Dask cluster, with the same steps and report as on one machine.

All functions but `run_on_cluster` are called on all ranks at once.  The edges are generated where they are
used: rank r of P generates the r-th of P equal ranges.  Times are those of the slowest rank, measured from
when all are ready.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from rapids_trav import generators
from rapids_trav.csr.array import Array
from rapids_trav.distributed.clusters import check_grid, checked_client, open_group
from rapids_trav.distributed.ranks import service
from rapids_trav.distributed.ranks.edge_ends import count_ends, has_few_vertices
from rapids_trav.distributed.ranks.rank import Rank, RankState
from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions, RankGraph
from rapids_trav.distributed.ranks.service import check_tree
from rapids_trav.engines.multigpu.communicator import aborting
from rapids_trav.engines.searches import BfsOptions, Search
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.graph500.harness import Notify, check, choose
from rapids_trav.graph500.report import Report, row_of
from rapids_trav.utilities.checks import flag

Result = TypeVar("Result")
BENCH = "graph500"  # key among the items of a state
COUNTED = 1 << 22  # edges whose ends are counted at once


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
        generation = max(group.call(generate, scale, edge_factor, seed))
        report("Constructing the graph", 0, 1)
        n_vertices, construction = group.call(construct, grid)[0]
        drawn = group.call(draw_roots, roots, seed)[0]
        report("Warming up", 0, 1)
        group.call(search, drawn[0], False)
        report("Searching", 0, len(drawn))
        rows = []
        for done, root in enumerate(drawn, 1):
            rows.append(group.call(search, root, validate)[0])
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


@dataclass(frozen=True)
class Bench:
    """The graph of one rank, and the data from which rows of results are made."""

    graph: RankGraph
    ends: Array  # int64 (owned,): ends of tuples at each vertex that the rank owns, two of a self-loop


def generate(state: RankState, scale: int, edge_factor: int, seed: int) -> float:
    """Generate this rank's tuples, in place of partitions that a caller passes; return seconds."""
    with aborting(state.communicator, "generating edges", alike=True):
        rank = service.rank_of(state)
        n_edges = edge_factor << scale
        begin, end = (n_edges * k // rank.size for k in (rank.rank, rank.rank + 1))
        name = rank.library.name
        frame, seconds = timed(rank, lambda: generators.rmat_part(scale, begin, end, seed, name))
        state.partitions[:] = [(rank.rank, frame)]
        return seconds


def construct(state: RankState, grid: tuple[int, int] | None = None) -> tuple[int, float]:
    """Run kernel 1: build the graph of the tuples; return its number of vertices and the seconds."""
    options = RankBuildOptions(src="src", dst="dst", grid=grid)
    rank = service.rank_of(state)
    summary, seconds = timed(rank, lambda: service.build(state, options))
    with aborting(state.communicator, "counting edges", alike=True):
        graph: Any = state.items[service.GRAPH]
        state.items[BENCH] = Bench(graph, _count(graph, loops=True))
    return summary["n_vertices"], seconds


def draw_roots(state: RankState, roots: int, seed: int) -> list[int]:
    """Return the labels of the same roots as on one machine, among the vertices with an edge to another."""
    with aborting(state.communicator, "drawing roots", alike=True):
        graph = bench_of(state).graph
        rank, numbering = graph.rank, graph.numbering
        linked = move(numbering.in_order(_count(graph, loops=False)), np) > 0
        labels = move(graph.ids.decode(None)[0], np)[linked]
        bounds = np.cumsum([0, *rank.communicator.gather_objects(len(labels))])
        chosen = choose(int(bounds[-1]), roots, seed)
        mine = (chosen >= bounds[rank.rank]) & (chosen < bounds[rank.rank + 1])
        return rank.from_holders(mine, labels[chosen[mine] - bounds[rank.rank]]).tolist()


def search(state: RankState, root: int, validate: bool) -> dict[str, object]:
    """Run kernel 2 from one root, count its tuples and, if asked, validate; return the row of results."""
    with aborting(state.communicator, f"searching from {root}", alike=True):
        bench = bench_of(state)
        graph, rank = bench.graph, bench.graph.rank
        sources = graph.ids.encoder()([rank.xp.asarray([root])])
        found, seconds = timed(rank, lambda: graph.engine.search(graph.storage.view(), sources, BfsOptions()))
        _, conversion = timed(rank, lambda: _to_labels(graph, found))
        reached = found.distance >= 0
        own_seconds = np.nan if found.device_seconds is None else found.device_seconds
        gathered = rank.communicator.gather_objects(own_seconds)
        ends, vertices = rank.communicator.sum([int(bench.ends[reached].sum()), int(reached.sum())])
        verdict, checking = None, np.nan
        if validate:
            verdict, checking = timed(rank, lambda: check_tree(graph, found, int(sources[0])))
        return row_of(
            root,
            seconds,
            conversion,
            max(gathered),
            edges=ends // 2,  # both ends of a tuple are in the component or neither
            vertices=vertices,
            depth=graph.values.most(found.distance),
            verdict=verdict,
            checking=checking,
        )


def timed(rank: Rank, work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of `work()`, and the seconds from when all ranks are ready until all are done."""
    _wait(rank)
    start = time.perf_counter()
    result = work()
    _wait(rank)
    seconds = rank.xp.asarray([time.perf_counter() - start])
    gathered = rank.communicator.all_gather(rank.everyone, seconds)
    return result, max(float(of[0]) for of in gathered)


def _wait(rank: Rank) -> None:
    rank.synchronize()
    rank.communicator.sum([0])


def bench_of(state: RankState) -> Bench:
    """Return the state that `construct` left."""
    bench = state.items.get(BENCH)
    if not isinstance(bench, Bench):
        raise TravError("There is no benchmark graph on the workers: construct it first.")
    return bench


def _count(graph: RankGraph, loops: bool) -> Array:
    """Count the ends of tuples at each owned vertex, with or without those of self-loops."""
    numbering = graph.numbering
    ends = [end if loops else end[u != v] for u, v in graph.rows.ends or () for end in (u, v)]
    few = has_few_vertices(graph.rank, numbering.grid.n_vertices, ends)
    return count_ends(graph.rank, numbering.grid.firsts, ends, COUNTED, few)[: numbering.n_owned]


def _to_labels(graph: RankGraph, found: Search) -> Array:
    """Return the parents of the vertices held here, in the labels of the tuples."""
    assert found.predecessor is not None
    return graph.ids.decode(graph.numbering.in_order(found.predecessor), nulls=True)[0]
