"""Graphs into folders and out of them; what is in a folder, `storage.files` tells."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from . import frames, proxies, stats
from .algorithms.question import flag
from .engines import gpu_is_there, select
from .locations import location
from .storage.files import write_graph
from .storage.placement import Placement
from .storage.rows import Weight
from .storage.saved_folder import open_folder
from .storage.saved_ids import describe, restore
from .storage.saved_rows import SavedRows

if TYPE_CHECKING:
    from .graph import Graph


def save(graph: Graph, folder: Any) -> None:
    """Write the folder that `Graph.save` documents."""
    location("folder", folder)
    adjacency = graph.storage.forward(weighted=graph.weight is not None)
    entry, tables, arrays = describe(graph.ids, graph.rows.source.library)
    arrays |= {"row_offsets": adjacency.row_offsets, "column_indices": adjacency.column_indices}
    if adjacency.weights is not None:
        arrays["weights"] = adjacency.weights
    head = {
        "directed": graph.directed,
        "n_vertices": graph.n_vertices,
        "n_edges": graph.n_edges,
        "columns": {
            "src": [_name(name) for name in graph.rows.src],
            "dst": [_name(name) for name in graph.rows.dst],
            "weight": None if graph.weight is None else _name(graph.weight),
        },
        "ids": entry,
    }
    write_graph(folder, head, arrays, tables)


def _name(column: Hashable) -> str | int:
    """A column's name as JSON can hold it."""
    return column if isinstance(column, (str, int)) else str(column)


def open_saved(
    folder: Any, engine: Any, memory_limit: Any, spill: Any, verify: bool | None
) -> dict[str, Any]:
    """The arguments of `Graph` for the folder that `Graph.open` documents."""
    if verify is not None:
        flag("verify", verify)
    saved = open_folder(folder, verify)
    if engine == "auto":
        engine = "cuda" if gpu_is_there() else "cpu"
    runner = select(engine, "pandas")
    library = frames.library("cudf" if runner.name == "cuda" else "pandas", proxies.active())
    times = stats.PhaseTimes(runner.synchronize)
    with times.phase("ids"):
        ids = restore(saved, library, runner.xp)
    head = saved.head
    adjacency = saved.edges()
    weight = None if adjacency.weights is None else Weight(head.weight, adjacency.weights.dtype)
    rows = SavedRows(adjacency, head.directed, head.src, head.dst, weight, ids, library, runner.xp)
    placement = Placement.of(runner, head.n_edges, head.directed, memory_limit, spill)
    with times.phase("adjacency"):
        storage = placement.storage(
            runner,
            ids,
            head.n_edges,
            head.directed,
            chunks=rows.pairs,
            filtered=rows.pairs,
            weighted=None if weight is None else rows.weighted,
            forward=adjacency,
        )
    return {
        "rows": rows,
        "ids": ids,
        "storage": storage,
        "n_edges": head.n_edges,
        "directed": head.directed,
        "weight": head.weight,
        "build_times": times.seconds,
    }
