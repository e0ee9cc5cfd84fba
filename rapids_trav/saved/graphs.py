"""Saving graphs to folders and opening them; `saved.write` documents the files of a folder."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from rapids_trav.csr.paths import PathLayout
from rapids_trav.engines import gpu_is_there, select
from rapids_trav.errors import TravError, written
from rapids_trav.frames import libraries, proxies
from rapids_trav.frames.decimals import Weight
from rapids_trav.saved.folder import open_folder
from rapids_trav.saved.head import is_name
from rapids_trav.saved.ids import describe, restore
from rapids_trav.saved.rows import SavedRows
from rapids_trav.saved.write import VERSION_WITH_PATHS, paths_array, write_graph
from rapids_trav.storage.build import MemoryLimits
from rapids_trav.storage.in_memory import GraphEdges, GraphParts, Parts
from rapids_trav.tuning import published
from rapids_trav.utilities.checks import flag
from rapids_trav.utilities.locations import location
from rapids_trav.utilities.progress import PhaseTimes


def save(graph: GraphParts, folder: object) -> None:
    """Write the folder that `Graph.save` documents."""
    location("folder", folder)
    adjacency = graph.storage.forward(weighted=graph.weight is not None)
    entry, tables, arrays = describe(graph.ids, graph.rows.source.library)
    arrays |= {"row_offsets": adjacency.row_offsets, "column_indices": adjacency.column_indices}
    if adjacency.weights is not None:
        arrays["weights"] = adjacency.weights
    columns: dict[str, object] = {
        "src": [name_in_head(name) for name in graph.rows.src],
        "dst": [name_in_head(name) for name in graph.rows.dst],
        "weight": None if graph.weight is None else name_in_head(graph.weight),
    }
    if graph.rows.weight is not None and graph.rows.weight.scale is not None:
        columns["weight_scale"] = graph.rows.weight.scale
    head = {
        "directed": graph.directed,
        "n_vertices": graph.ids.n,
        "n_edges": graph.n_edges,
        "columns": columns,
        "ids": entry,
    }
    if layouts := graph.storage.layouts:
        head |= {"version": VERSION_WITH_PATHS, "path_layouts": sorted(layouts)}
        arrays |= _arrays_of(layouts)
    write_graph(folder, head, arrays, tables)


def _arrays_of(layouts: Mapping[int, PathLayout]) -> dict[str, np.ndarray]:
    """Return the arrays of path layouts by the names of their files."""
    arrays = {}
    for relaxed, layout in layouts.items():
        arrays[paths_array(relaxed, "vertices")] = layout.vertices
        arrays[paths_array(relaxed, "starts")] = layout.starts
        if layout.weights is not None:
            arrays[paths_array(relaxed, "weights")] = layout.weights
    return arrays


def name_in_head(column: Hashable) -> str | int:
    """Return the name of a column for JSON; a label that is neither text nor an integer becomes text."""
    name = column if isinstance(column, (str, int)) else str(column)
    if not is_name(name):
        raise TravError(
            f"Column {written(column)} cannot be saved, since its name is not valid Unicode: rename it and "
            f"build the graph again."
        )
    return name


def open_saved(
    folder: object,
    engine: Any,
    memory_limit: int | str | None,
    spill: str | os.PathLike[str] | None,
    verify: bool | None,
    kind: type[Parts],
) -> Parts:
    """Open a graph of this kind from the folder that `Graph.open` documents."""
    if verify is not None:
        flag("verify", verify)
    saved = open_folder(folder, verify)
    if engine == "auto":
        engine = "cuda" if gpu_is_there() else "cpu"
    runner = select(engine, "pandas")
    library = libraries.library("cudf" if runner.place == "device" else "pandas", proxies.active())
    times = PhaseTimes(runner.synchronize)
    with times.phase("ids"):
        ids = restore(saved, library, runner.xp)
    head = saved.head
    adjacency = saved.edges()
    weight = (
        None if adjacency.weights is None else Weight(head.weight, adjacency.weights.dtype, head.weight_scale)
    )
    rows = SavedRows(adjacency, head.directed, head.src, head.dst, weight, ids, library, runner.xp)
    limits = MemoryLimits.of(runner, head.n_edges, head.directed, memory_limit, spill)
    placement = limits.place(
        ids.n, ids.nbytes, head.n_edges, directed=head.directed, weighted=weight is not None
    )
    with times.phase("adjacency"):
        weighted = None if weight is None else rows.weighted
        layouts = published("saved paths")(saved, adjacency) if head.path_layouts else {}
        edges = GraphEdges(head.directed, head.n_edges, rows.pairs, weighted, rows.pairs, adjacency, layouts)
        storage = placement.storage(ids, edges)
    return kind(
        rows=rows,
        ids=ids,
        storage=storage,
        n_edges=head.n_edges,
        directed=head.directed,
        weight=head.weight,
        build_times=times.seconds,
    )
