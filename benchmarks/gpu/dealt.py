"""A graph that is generated on the cards and dealt to them, never held as edges.

Its edges are generated again whenever they are read: to count degrees, twice for the rows of each GPU, and to
validate each search by the five rules of Graph500.  Its rows are held by destination and by source, or by
destination alone where only they fit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu import launch_law
from benchmarks.gpu.lab import DEFAULT
from benchmarks.harness import REFUSALS, Row, of_rates, of_times, reason, short
from rapids_trav.ids.degree_order import descending
from rapids_trav.ids.maps import vertex_dtype

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.engines.searches import LevelTrace

ROOTS = 16
Pairs = Callable[[], Iterable[tuple[Any, Any]]]


def measure(lab: Lab, name: str) -> Iterator[Row]:
    """Yield the row of searches on all GPUs, each of which is checked."""
    row: Row = {"name": f"{lab.n_devices} GPUs"}
    if not lab.slow:
        yield {**row, "note": "not measured, takes minutes: --slow"}
        return
    frames, n_edges = graphs.made(name, lab.library)
    scale, _ = graphs.of_rmat(name) or (0, 0)

    def pairs() -> Iterator[tuple[Any, Any]]:
        return (lab.ends(frame) for frame in frames())

    lab.let_go()
    try:
        found, levels = searched(lab, pairs, 1 << scale, n_edges)
        yield {**row, **found}
        yield from launch_law.rows(levels, found["vertices"], lab.n_devices, row)
    except REFUSALS as error:
        yield {**row, "note": f"not measured, {reason(error)}"}


def searched(lab: Lab, pairs: Pairs, n_vertices: int, n_edges: int) -> tuple[Row, list[LevelTrace]]:
    """Deal the edges, search from random vertices that have some, and check every search.

    Returns a row, and the levels of the first search.
    """
    xp, engine, start = lab.xp, lab.several(lab.n_devices), time.perf_counter()
    place, n_linked = places(xp, engine, pairs, n_vertices)

    def in_places() -> Iterator[tuple[Any, Any]]:
        return ((place[u], place[v]) for u, v in pairs())

    rows = engine.spread(in_places, n_linked, n_edges=n_edges, symmetric=True, transpose=False)
    seconds = time.perf_counter() - start
    drawn = np.random.default_rng(lab.seed).choice(n_linked, min(ROOTS, lab.n_roots, n_linked), replace=False)
    sources = [xp.asarray([root], dtype=vertex_dtype(n_linked)) for root in drawn.tolist()]
    ms, edges, levels, faults = [], [], [], []
    for i, root in enumerate(drawn.tolist()):
        rows.search(sources[i - 1], DEFAULT)  # the GPUs paused while an answer was checked
        found = rows.search(sources[i], DEFAULT)
        ms.append(1e3 * found.device_seconds)
        levels.append(int(found.distance.max()))
        count, wrong = check(lab, found, root, in_places)
        edges.append(count)
        if wrong:
            faults.append(f"place {root}: {wrong}")
    levels_of_one = rows.search(sources[0], replace(DEFAULT, trace=True)).trace
    return {
        "vertices": n_linked,
        "edges": n_edges,
        "layout": rows.layout,
        "build_seconds": short(seconds),
        "rows_bytes": sum(n_bytes for _, n_bytes, _ in rows.held()),
        **of_times(ms),
        **of_rates(ms, edges),
        "levels": int(np.median(levels)),
        "checked": len(ms),
        "wrong": len(faults),
        "note": faults[0] if faults else None,
    }, levels_of_one


def places(xp: Any, engine: Any, pairs: Pairs, n_vertices: int) -> tuple[Any, int]:
    """Return each vertex's place in descending order of degree, and how many have an edge."""
    degree = xp.zeros(n_vertices, np.int64)
    for ends in pairs():
        for end in ends:
            engine.count_ids(end, degree)
    order = descending(degree, "radix", xp)
    place = xp.empty(n_vertices, order.dtype)
    place[order] = xp.arange(n_vertices, dtype=order.dtype)
    return place, int((degree > 0).sum())


def check(lab: Lab, found: Any, root: int, pairs: Pairs) -> tuple[int, str | None]:
    """Return the edges in the root's component and which rules the search breaks, if any."""
    parent, counted = found.predecessor.copy(), []
    parent[root] = root

    def read() -> Iterator[tuple[Any, Any]]:
        for u, v in pairs():
            counted.append(lab.device.component_edges(parent, u))
            yield u, v

    faults = lab.device.count_faults(parent, root, read(), found.distance)
    return sum(counted), ", ".join(map(str, faults)) if any(faults) else None
