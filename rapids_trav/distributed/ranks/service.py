"""Functions that a session calls on every rank at the same time: build, ask, save and open a graph.

If all ranks raise the same error, for example for an unknown vertex, the graph stays usable.  Any other error
closes the communicator, so that no rank waits for one that has failed, and the graph is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rapids_trav.algorithms import bfs, khop, levels, paths, request
from rapids_trav.algorithms.options import PathOptions, whole_number
from rapids_trav.distributed.ranks import saved_parts
from rapids_trav.distributed.ranks.rank import Kept, Rank, RankState
from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions, RankGraph, build_graph
from rapids_trav.distributed.ranks.rank_rows import count_duplicates, count_self_loops
from rapids_trav.engines.multigpu.communicator import aborting
from rapids_trav.engines.multigpu.validate import parents, validate
from rapids_trav.engines.searches import Search, Verdict
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.libraries import library
from rapids_trav.storage.memory_errors import telling_of_memory

GRAPH = "graph"  # key among the items of a state


def build(state: RankState, options: RankBuildOptions) -> dict[str, Any]:
    """Build the graph of the partitions that the ranks were given; return its summary for the client."""
    with aborting(state.communicator, "building the graph", alike=True):
        rank = rank_of(state)
        graph = build_graph(rank, state.partitions, options)
        state.items[GRAPH] = graph
        state.partitions.clear()  # the graph holds those that it keeps
        return summary(graph)


def open_saved(state: RankState, folder: str) -> dict[str, Any]:
    """Open a graph that `save` wrote, each rank some of its parts; return its summary for the client."""
    with aborting(state.communicator, "opening the graph", alike=True):
        graph = saved_parts.open_parts(rank_of(state), folder)
        state.items[GRAPH] = graph
        return summary(graph)


def ask(state: RankState, name: str, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
    """Ask the graph a question, a method of `Graph`; every rank answers with its part."""
    with aborting(state.communicator, f"answering {name}", alike=True):
        graph = state.items.get(GRAPH)
        if not isinstance(graph, RankGraph):
            raise TravError("There is no graph on the workers: build it first.")
        if name not in QUESTIONS:
            raise TravError(
                f"{name} is not answered by a graph on the workers of a cluster: build the graph in one "
                f"process."
            )
        with telling_of_memory(name, graph.engine):
            return QUESTIONS[name](graph, *args, **(kwargs or {}))


def rank_of(state: RankState) -> Rank:
    """Return the rank of a state, with the local work and the frame library of its device."""
    if state.device == "cpu":
        from rapids_trav.engines.multigpu.local_cpu import CpuWork

        return Rank(state.communicator, CpuWork(), library("pandas"))
    from rapids_trav.engines.multigpu.local_cuda import CudaWork

    return Rank(state.communicator, CudaWork(), library("cudf"))


def summary(graph: RankGraph) -> dict[str, Any]:
    """Return the properties of a graph that the client needs."""
    grid = graph.numbering.grid
    return {
        "n_vertices": graph.n_vertices,
        "n_edges": graph.n_edges,
        "directed": graph.directed,
        "columns": list(graph.rows.source.columns),
        "src": list(graph.rows.src),
        "dst": list(graph.rows.dst),
        "dtypes": graph.ids.dtypes,
        "firsts": graph.numbering.firsts.tolist(),
        "grid": (grid.n_rows, grid.n_columns),
        "engine": graph.engine.name,
        "variants": graph.engine.variants,
        "build_times": graph.build_times,
    }


def _options(given: dict[str, Any], **fixed: Any) -> PathOptions:
    """Return the options of any search: `PathOptions` has the fields of all of them."""
    return PathOptions.from_arguments(given | fixed)


def _bfs(graph: RankGraph, sources: object, **options: Any) -> Kept:
    answer = bfs.bfs(graph, sources, _options(options))
    if isinstance(answer, bfs.Traced):
        return _kept(result=answer.result, trace=_on_first(graph, answer.trace))
    return _kept(result=answer)


def _paths(graph: RankGraph, sources: object, targets: object = None, **options: Any) -> Kept:
    return _kept(result=_on_first(graph, paths.paths(graph, sources, _options(options, targets=targets))))


def _levels(graph: RankGraph, sources: object, **options: Any) -> Kept:
    found = levels.levels(graph, sources, _options(options, predecessors=False))
    return _kept(result=_on_first(graph, found))


def _khop(graph: RankGraph, seeds: object, k: object, **options: Any) -> Kept:
    whole_number("k", k, of="steps")
    graph.rows.check_kept("khop")
    found = khop.khop(graph, seeds, k, _options(options))  # type: ignore[arg-type]
    kept = _kept(vertices=found.vertices, edges=[frame for _, frame in found.edges])
    return Kept(kept.frames, kept.about | {"partitions": [number for number, _ in found.edges]})  # type: ignore[operator]


def _degrees(graph: RankGraph, direction: Any = "out") -> Kept:
    return _kept(result=levels.degrees(graph, direction))


def _memory(graph: RankGraph) -> Kept:
    held: dict[str, int] = {}
    for of_rank in graph.rank.communicator.gather_objects(graph.memory()):
        for structure, n_bytes in of_rank:
            held[structure] = held.get(structure, 0) + n_bytes
    column, place = graph.rank.library.column, graph.engine.place
    frame = graph.hand_out(
        {
            "structure": column(list(held), dtype="str"),
            "bytes": np.array(list(held.values()), np.int64),
            "place": column([place] * len(held), dtype="str"),
        }
    )
    return _kept(result=_on_first(graph, frame))


def _validate(graph: RankGraph, source: object, **options: Any) -> Verdict:
    """Search from one vertex and check the tree by the five rules of Graph500; all get the same verdict."""
    graph.rows.check_kept("validate")
    if graph.directed:
        raise TravError(
            "validate applies the rules of Graph500, which are for undirected graphs: build the graph with "
            "directed=False."
        )
    view, sources, asked = request.ask(graph, source, _options(options), what="source")
    if len(sources) != 1:
        raise TravError(f"source names {len(sources)} vertices: give one.")
    return check_tree(graph, graph.engine.search(view, sources, asked), int(sources[0]))


def check_tree(graph: RankGraph, found: Search, root: int) -> Verdict:
    """Check the result of a search from `root`, an internal id; the padding of a block is ignored."""
    assert found.predecessor is not None and graph.rows.ends is not None
    rank, numbering = graph.rank, graph.numbering
    parent = parents(numbering.grid, rank.rank, numbering.in_block(found.predecessor), root)
    level = numbering.in_block(found.distance)
    return validate(rank.communicator, numbering.grid, root, parent, graph.rows.ends, xp=rank.xp, level=level)


def _on_first(graph: RankGraph, frame: Frame) -> list[Frame]:
    """Return a frame that all ranks have on rank 0 alone."""
    return [frame] if graph.rank.rank == 0 else []


def _kept(**frames: list[Frame]) -> Kept:
    return Kept(frames, {"lengths": {name: [len(frame) for frame in of] for name, of in frames.items()}})


QUESTIONS: dict[str, Callable[..., Any]] = {
    "bfs": _bfs,
    "paths": _paths,
    "levels": _levels,
    "khop": _khop,
    "degrees": _degrees,
    "memory": _memory,
    "n_self_loops": lambda graph: count_self_loops(graph.rank.communicator, graph.parts.part),
    "n_duplicate_edges": lambda graph: count_duplicates(graph.rank.communicator, graph.parts.part),
    "save": saved_parts.save,
    "validate": _validate,
}
