"""Choice between this process and the workers of a Dask cluster for a graph, and the build on workers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_trav.distributed import dask_frames
from rapids_trav.distributed.questions import DistributedQuestions, unanswered
from rapids_trav.edges.sources import DaskEdges, EdgeSource
from rapids_trav.errors import TravError, type_name, warn, written
from rapids_trav.frames.columns import Frame, library_of
from rapids_trav.storage.build import edge_columns
from rapids_trav.storage.build_options import BuildOptions
from rapids_trav.utilities.checks import one_of
from rapids_trav.utilities.locations import location

if TYPE_CHECKING:
    from distributed import Client

    from rapids_trav.distributed.session.rank_group import RankGroup

PARTS = "parts.json"  # head file of a folder that `ranks.saved_parts` wrote
ENGINES = ("auto", "cpu", "cuda")
# Options that control the storage of a graph in one process, or serve questions that workers do not answer.
OF_ONE_PROCESS = ("weight", "degree_sort", "order", "memory_limit", "spill", "tuning", "devices")
OF_WORKERS = ("client", "grid", "keep_rows")


def cluster_for(edges: EdgeSource, options: BuildOptions) -> Client | None:
    """Return the client of the cluster that will hold the graph of these edges, or None for this process.

    Raises a `TravError` if an option does not apply where the graph will be held.
    """
    if not isinstance(edges, DaskEdges):
        _refuse(options, OF_WORKERS, "is for Dask frames, and edges is not one")
        return None
    client = current_client() if options.client is None else checked_client(options.client)
    if client is None:
        _refuse(options, OF_WORKERS, "is for graphs on the workers of a cluster, and there is no client")
        warn(
            "The Dask frame is computed into this process, since there is no distributed.Client: make one, "
            "or give client=, and its workers hold the graph."
        )
        return None
    _refuse(options, OF_ONE_PROCESS, "is not supported by a graph on the workers of a cluster")
    return client


def refuse_unanswered(question: str, edges: object, client: object) -> None:
    """Raise a `TravError` if the graph of these edges would be on workers, which do not answer the question.

    It would otherwise be built first.
    """
    if DistributedQuestions.answers(question) or library_of(edges) != "dask":
        return
    if client is not None or current_client() is not None:
        raise unanswered(question)


def current_client() -> Client | None:
    """Return the current client of `distributed`, or None if there is none.

    `distributed` is not imported for this: a program that has a client has imported it already.
    """
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def checked_client(client: Any) -> Client:
    """Return `client` if it is a synchronous, running client of `distributed`; else raise a TravError."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(client).__mro__}
    if "distributed.Client" not in kinds:
        raise TravError(
            f"client is an object of type {type_name(client)}: give a distributed.Client, such as "
            f"distributed.Client(address)."
        )
    if client.asynchronous:
        raise TravError(
            "client is asynchronous, but questions wait for answers: give one without asynchronous=True."
        )
    if client.status != "running":
        raise TravError(f"client is {client.status}: give one that is connected to its cluster.")
    return client


def build(source: EdgeSource, options: BuildOptions, client: Client) -> DistributedQuestions:
    """Build the graph of a Dask frame, distributed over the workers of a cluster."""
    from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions
    from rapids_trav.distributed.ranks.service import build as build_ranks

    assert isinstance(source, DaskEdges)
    edges = source.frame
    engine = _engine(edges, options.engine)
    sides = edge_columns(source, options.src, options.dst)
    for_ranks = RankBuildOptions(
        src=sides[0],
        dst=sides[1],
        directed=bool(options.directed),
        vertices=dask_frames.portable(options.vertices, client),
        grid=None if options.grid is None else (int(options.grid[0]), int(options.grid[1])),
        keep_rows=bool(options.keep_rows),
    )

    def on_ranks(group: RankGroup) -> dict[str, Any]:
        check_grid(options.grid, group.workers)
        chosen = edges if options.keep_rows else edges[list(dict.fromkeys([*sides[0], *sides[1]]))]
        group.hand_over(dask_frames.partitions(chosen, client))
        divisions = edges.divisions if edges.known_divisions else None
        return group.call(build_ranks, for_ranks)[0] | {"edge_divisions": divisions}

    return _opened(client, engine, on_ranks)


def open_saved(folder: object, engine: object, client: Client) -> DistributedQuestions:
    """Open a graph that was saved from several workers on the workers of a cluster.

    Each worker reads some of the parts.
    """
    from rapids_trav.distributed.ranks.service import open_saved as open_ranks

    path = location("folder", folder)
    one_of("engine", engine, ENGINES)
    device = None if engine == "auto" else str(engine)
    return _opened(client, device, lambda group: group.call(open_ranks, str(path.absolute()))[0])


def _opened(
    client: Client, device: str | None, work: Callable[[RankGroup], dict[str, Any]]
) -> DistributedQuestions:
    """Start ranks, and return the graph that they make together."""
    group = open_group(client, device)
    try:
        return DistributedQuestions(client, group, work(group))
    except BaseException as error:
        group.close(wait=isinstance(error, Exception))  # not after an interrupt
        raise


def cluster_of_parts(folder: object, client: Any) -> Any:
    """Return the client of the cluster that will open a folder; None if it holds a graph of one process.

    Raises a `TravError` if the folder holds a graph in parts, and there is no client.
    """
    if client is not None:
        return checked_client(client)
    if not (location("folder", folder) / PARTS).is_file():
        return None
    if (client := current_client()) is None:
        raise TravError(
            f"{written(str(folder))} holds a graph in parts, which only the workers of a cluster can open: "
            f"give client=."
        )
    return client


def refuse_local(**given: object) -> None:
    """Refuse options of `Graph.open` that apply only to a graph in this process."""
    for name, value in given.items():
        if value is not None:
            raise TravError(
                f"{name}={written(value)} is not supported by a graph on the workers of a cluster: leave it "
                f"out."
            )


def open_group(client: Client, device: str | None) -> RankGroup:
    """Start a rank on each worker of the cluster."""
    from rapids_trav.distributed.session.rank_group import RankGroup

    return RankGroup.open(client, device=device)


def check_grid(grid: tuple[int, int] | None, workers: tuple[str, ...]) -> None:
    """Raise a TravError unless the grid has exactly one place for each worker."""
    if grid is not None and grid[0] * grid[1] != len(workers):
        raise TravError(
            f"grid={tuple(grid)} has {grid[0] * grid[1]} places, but the cluster has {len(workers)} workers: "
            f"give rows and columns whose product is {len(workers)}."
        )


def _engine(edges: Frame, engine: object) -> str:
    """Return the engine of the workers: "cuda" if the partitions are cuDF frames, else "cpu"."""
    one_of("engine", engine, ENGINES, " for a graph on the workers of a cluster")
    own = "cuda" if dask_frames.is_cudf(edges) else "cpu"
    if engine not in ("auto", own):
        other = "pandas" if own == "cuda" else "cudf"
        raise TravError(
            f"engine={engine!r} does not take partitions of {library_of(edges._meta)} on workers: convert "
            f"them with edges.to_backend({other!r})."
        )
    return own


def _refuse(options: BuildOptions, names: tuple[str, ...], why: str) -> None:
    defaults = {field.name: field.default for field in fields(options)}
    for name in names:
        value = getattr(options, name)
        if value is not defaults[name] and not (isinstance(value, np.bool_) and value == defaults[name]):
            shown = f"{name}=" if name == "client" else f"{name}={written(value)}"
            raise TravError(f"{shown} {why}: leave it out{_instead(name)}.")


def _instead(name: str) -> str:
    """Return advice for a caller whose option is refused, as the end of the error message."""
    if name in OF_WORKERS:
        return ", or give a Dask frame and a client"
    return ", or build the graph of edges.compute() in this process"
