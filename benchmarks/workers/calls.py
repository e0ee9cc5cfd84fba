"""Whole calls and builds on a Dask frame, of this package and of cuGraph where it is installed.

A whole call lasts from `graph.bfs(root)` on the client until every partition of the answer is computed on its
worker.  Calls of `levels` and of distances alone, from the same roots, show how much of it goes to the
search and how much to the rows of the answer.  `returned_ms` is the time until the client has the frame,
`levels_ms` what the levels of the search take.

cuGraph searches from the same roots on a graph of the same frame.  Its answers are compared with ours by
the number of vertices at each distance and sums over their ids.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import Row, of_times, ratio, reason, short
from benchmarks.workers.lab import EDGE_FACTOR, PATIENCE, DaskLab, has_cugraph, within
from rapids_trav import Graph
from rapids_trav.distributed.ranks import service

OURS, THEIRS = "graph.bfs", "cugraph.dask.bfs"
WARM_SCALE = 10
UNREACHED = 2**31 - 1  # and larger, in cuGraph's distances
NARROW_EDGES = 2**30  # with more, cuGraph counts edges both ways in 64 bits, and asks the same of ids


def calls(lab: DaskLab, scale: int) -> Iterator[Row]:
    """Yield the rows of the builds, then of the calls."""
    lab.forget()
    _warm(lab)
    edges, n_bytes = lab.frame(scale)
    edges = lab.waited(edges)
    facts = {"graph": f"rmat{scale}", "workers": len(lab.workers)}
    lean = _build(lab, lambda: Graph.from_edges(edges, client=lab.client, keep_rows=False), n_bytes)
    yield {"table": "build", **facts, "name": "trav.graph, keep_rows=False", **lean.row}
    lean.graph.close()
    del lean
    ours = _build(lab, lambda: Graph.from_edges(edges, client=lab.client), n_bytes)
    yield {"table": "build", **facts, "name": "trav.graph", **ours.row}
    with ours.graph as graph:
        facts |= {"grid": "{} x {}".format(*graph.questions.grid)}
        roots = _roots(lab, graph)
        times, answers = _timed(lab, graph.bfs, roots, lab.n_checked)
        with within(2 * PATIENCE, "validating"):
            verdicts = [_verdict(graph, root) for root in roots[: lab.n_checked]]
        faults = [f"root {root}: {said}" for root, said in zip(roots, verdicts, strict=False) if said]
        yield {
            "table": "whole calls", **facts, "name": OURS, **times,
            "levels_ms": _levels_ms(graph, roots),
            "checked": len(verdicts), "wrong": len(faults), "note": "; ".join(faults) or None,
        }  # fmt: skip
        for name, ask in (
            (f"{OURS}, predecessors=False", lambda root: graph.bfs(root, predecessors=False)),
            ("graph.levels", graph.levels),
        ):
            yield {"table": "whole calls", **facts, "name": name, **_timed(lab, ask, roots, 0)[0]}
    gc.collect()
    n_edges, found = EDGE_FACTOR << scale, {"build": ours.row, "call": times}
    yield from _theirs(lab, edges, n_edges, n_bytes, roots, facts, found, answers)


class _Built:
    def __init__(self, graph: Any, row: Row) -> None:
        self.graph, self.row = graph, row


def _build(lab: DaskLab, build: Callable[[], Any], n_bytes: int) -> _Built:
    """Build once, and measure the memory of each worker beside its share of the input."""
    with within(2 * PATIENCE, "building"):
        graph, seconds, peaks = lab.peaks(build)
    told = [peak for peak in peaks if peak is not None]
    share = n_bytes / len(peaks)
    memory: Row = {}
    if told:
        memory = {"peak_over_input": short(max(told) / share), "peak_bytes": max(told), "peaks": told}
    phases = getattr(graph, "build_times", None) or {}
    row = {
        "median_ms": short(1e3 * seconds),
        "input_bytes": int(share),
        **memory,
        **{f"{name.replace(' ', '_')}_ms": short(1e3 * value) for name, value in phases.items()},
    }
    return _Built(graph, row)


def _roots(lab: DaskLab, graph: Any) -> list[int]:
    """Return ids with an edge; the seed draws them among the vertices of the first partition."""
    degrees = graph.degrees().get_partition(0)
    ids = lab.fetch([lab.client.compute(degrees["vertex"])])[0]
    ids = np.asarray(ids.to_numpy())
    chosen = np.random.default_rng(lab.seed).choice(len(ids), min(lab.n_roots, len(ids)), replace=False)
    return [int(ids[i]) for i in chosen]


def _timed(
    lab: DaskLab, search: Callable[[int], Any], roots: list[int], n_checked: int
) -> tuple[Row, list[dict]]:
    """Return the row of times and, for the first roots, a summary of the answer by distance."""
    lab.waited(search(roots[0]))
    ms, returned, found = [], [], []
    for root in roots:
        with within(PATIENCE, f"a search from {root}"):
            start = time.perf_counter()
            answer = search(root)
            returned.append(1e3 * (time.perf_counter() - start))
            answer = lab.waited(answer)
            ms.append(1e3 * (time.perf_counter() - start))
            if len(found) < n_checked:
                found.append(_summary(lab, answer))
        del answer
    return of_times(ms) | {"returned_ms": short(float(np.median(returned)))}, found


def _levels_ms(graph: Any, roots: list[int]) -> float:
    """Return the median over the roots of the time that all levels take, on the slowest rank of each."""
    return short(
        float(np.median([graph.bfs(root, trace=True).trace["milliseconds"].sum() for root in roots]))
    )


def _summary(lab: DaskLab, answer: Any) -> dict[int, tuple[int, int, int]]:
    """Return count, sum and another sum of the ids at each distance."""
    parts = lab.client.compute(answer.to_delayed())
    total: dict[int, np.ndarray] = {}
    for told in lab.fetch([lab.client.submit(_by_distance, part, pure=False) for part in parts]):
        for distance, *sums in told:
            total[distance] = total.get(distance, 0) + np.array(sums, np.int64)
    return {distance: tuple(sums.tolist()) for distance, sums in sorted(total.items())}


def _by_distance(frame: Any) -> list[tuple[int, int, int, int]]:
    distance = frame["distance"].fillna(UNREACHED).astype("int64").to_numpy()
    vertex = frame["vertex"].astype("int64").to_numpy()
    distance = np.where(distance >= UNREACHED, -1, distance)
    found = []
    for level in np.unique(distance):
        ids = vertex[distance == level]
        found.append((int(level), len(ids), int(ids.sum()), int((ids * ids % 1_000_003).sum())))
    return found


def _verdict(graph: Any, root: int) -> str:
    """Return the faults of a search from the root by the five rules; empty if it is valid."""
    verdict = graph.questions._group.call(service.ask, "validate", (root,), {})[0]
    return "" if verdict.valid else str(verdict)


def _warm(lab: DaskLab) -> None:
    """Build and search a small graph, to load, to compile and to connect."""
    edges = lab.waited(lab.frame(WARM_SCALE)[0])
    with within(2 * PATIENCE, "warming up"), Graph.from_edges(edges, client=lab.client) as graph:
        lab.waited(graph.bfs(_roots(lab, graph)[0]))


def _theirs(
    lab: DaskLab, edges: Any, n_edges: int, n_bytes: int, roots: list[int], facts: Row, ours: dict[str, Row],
    answers: list[dict],
) -> Iterator[Row]:  # fmt: skip
    if lab.cpu or not has_cugraph():
        why = "needs GPUs" if lab.cpu else "is not installed"
        for table in ("build", "whole calls"):
            yield {"table": table, **facts, "name": THEIRS, "note": f"not measured: cuGraph {why}"}
        return
    try:
        with _comms(lab):
            import cugraph.dask

            _cugraph(lab.waited(lab.frame(WARM_SCALE)[0]))
            if n_edges > NARROW_EDGES:
                edges, n_bytes = lab.waited(edges.astype("int64").persist()), 2 * n_bytes
            built = _build(lab, lambda: _cugraph(edges), n_bytes)
            row = built.row | {"over_ours": ratio(built.row["median_ms"], ours["build"]["median_ms"])}
            yield {"table": "build", **facts, "name": THEIRS, **row}
            times, theirs = _timed(
                lab, lambda root: cugraph.dask.bfs(built.graph, root), roots, lab.n_checked
            )
            faults = [
                f"root {root}: other distances than {OURS}"
                for root, one, other in zip(roots, answers, theirs, strict=False)
                if one != other
            ]
            lead = ratio(times["median_ms"], ours["call"]["median_ms"])
            yield {
                "table": "whole calls", **facts, "name": THEIRS, **times, "over_ours": lead,
                "compared": len(theirs), "wrong": len(faults), "note": "; ".join(faults) or None,
            }  # fmt: skip
            yield from _in_workers(lab, built.graph, str(edges["src"].dtype), roots, facts)
            built.graph = None  # it goes before its communicator
    except Exception as error:
        yield {
            "table": "whole calls", **facts, "name": THEIRS, "note": f"not measured, {reason(error)}",
        }  # fmt: skip


def _in_workers(lab: DaskLab, graph: Any, dtype: str, roots: list[int], facts: Row) -> Iterator[Row]:
    """Yield a row for cuGraph's search called in the workers, without the client and the rows of an answer.

    A search lasts from when the last worker enters it until the last one has its arrays, by the host's clock.
    """
    from cugraph.dask.comms import comms

    session, workers = comms.get_session_id(), list(graph._plc_graph)
    for optimizing in (False, True):
        ms = []
        for root in [roots[0], *roots]:
            futures = [
                lab.client.submit(
                    _searched, session, graph._plc_graph[worker], [root] if worker == workers[0] else [],
                    dtype, optimizing, workers=[worker], allow_other_workers=False, pure=False,
                )
                for worker in workers
            ]  # fmt: skip
            with within(PATIENCE, f"a search from {root}"):
                begins, ends = zip(*lab.fetch(futures), strict=True)
            ms.append(1e3 * (max(ends) - max(begins)))
        name = f"pylibcugraph.bfs in the workers, direction_optimizing={optimizing}"
        yield {"table": "whole calls", **facts, "name": name, **of_times(ms[1:])}


def _searched(
    session: bytes, graph: Any, sources: list[int], dtype: str, optimizing: bool
) -> tuple[float, float]:
    """Search in a worker; return when it began and ended, by a clock that all processes of a host share."""
    import cudf
    import cupy
    from cugraph.dask.comms import comms
    from pylibcugraph import ResourceHandle, bfs

    handle = ResourceHandle(comms.get_handle(session).getHandle())
    given = cudf.Series(sources, dtype=dtype)
    cupy.cuda.runtime.deviceSynchronize()
    begin = time.monotonic()
    bfs(handle, graph, given, optimizing, 0, True, False)
    cupy.cuda.runtime.deviceSynchronize()
    return begin, time.monotonic()


@contextmanager
def _comms(lab: DaskLab) -> Iterator[None]:
    from cugraph.dask.comms import comms

    with within(2 * PATIENCE, "importing cuGraph"):
        lab.client.run(_import_cugraph)
    try:
        with within(2 * PATIENCE, "Comms.initialize"):
            comms.initialize(p2p=True)
        yield
    finally:
        gc.collect()
        if comms.is_initialized():
            with within(PATIENCE, "Comms.destroy"):
                comms.destroy()


def _import_cugraph() -> None:
    for name in ("cugraph.dask", "raft_dask.common.comms"):
        import_module(name)


def _cugraph(edges: Any) -> Any:
    import cugraph

    graph = cugraph.Graph(directed=False)
    graph.from_dask_cudf_edgelist(edges, source="src", destination="dst")
    return graph
