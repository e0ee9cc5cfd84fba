"""Settings for research, which `tuning=` of a method accepts.

They choose between ways that give the same answers and serve for measurements; the defaults are those that
measured fastest.  A caller passes them as a mapping, for example ``tuning={"policy": "beamer"}``; each method
accepts the settings of one class in this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, TypeVar, get_args

from rapids_trav.errors import TravError, listed, written
from rapids_trav.utilities.checks import flag, integer, one_of

SortBackEnd = Literal["radix", "merge"]
Policy = Literal["gap", "beamer"]
Exchange = Literal["auto", "list", "bitmap"]
Claim = Literal["atomics", "sort"]
Layout = Literal["both", "lean"]
Gather = Literal["rows", "replicas"]
Replication = Literal["auto", "formula", 1, 2, 4, 8, 16, 32]

# What the published systems add, by name: the only link from the rest of the package to `published`.
PUBLISHED = {
    "cpu push": "pmpp.textbook.push",
    "cpu pull": "pmpp.textbook.pull",
    "cpu edge": "pmpp.textbook.edge",
    "cpu frontier": "pmpp.textbook.frontier",
    "cuda push": "pmpp.textbook_cuda.push",
    "cuda pull": "pmpp.textbook_cuda.pull",
    "cuda edge": "pmpp.textbook_cuda.edge",
    "cuda frontier": "pmpp.textbook_cuda.frontier",
    "cuda private": "pmpp.textbook_cuda.private",
    "cuda direction": "pmpp.direction.search",
    "hub cache": "vs_graph500.hub_words",
    "replicas": "garaph.shard_gather.ShardGather",
    "replicas in pages": "garaph.shard_gather.PageShards",
    "hybrid": "garaph.hybrid.run",
    "hybrid blocks": "largegraph.shared_blocks.run",
    "paths": "largegraph.path_layout.path_layout",
    "saved paths": "largegraph.path_layout.restore_layouts",
}


def published(name: str) -> Callable[..., Any]:
    """Return a function of the published systems, whose module is loaded on demand."""
    if name not in PUBLISHED:
        raise TravError(f"{written(name)} is not known: choose from {listed(PUBLISHED)}.")
    module, function = PUBLISHED[name].rsplit(".", 1)
    return getattr(import_module(f"rapids_trav.published.{module}"), function)


@dataclass(frozen=True)
class BuildTuning:
    """Settings of `graph`.

    Attributes
    ----------
    sort : {"radix", "merge"}, optional
        Algorithm that sorts the vertices by degree, only with ``degree_sort=True``.  The order is the same;
        the default is "radix".
    ranks_share_devices : bool
        Whether ``devices`` may name a GPU several times, which then has as many ranks, each with a part of
        its multiprocessors: several GPUs are tried on one.
    layout : {"both", "lean"}, optional
        With ``devices``: whether each GPU has its edges by both ends, or by destination alone, in half the
        memory, which graphs with edges both ways allow; by default "both" if it fits.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.graph(degree_sort=True, tuning={"sort": "merge"}).degrees()["degree"].tolist()
    [2, 2, 1, 2, 1]
    """

    sort: SortBackEnd | None = None
    ranks_share_devices: bool = False
    layout: Layout | None = None

    def __post_init__(self) -> None:
        if self.layout is not None:
            one_of("layout", self.layout, get_args(Layout))
        flag("ranks_share_devices", self.ranks_share_devices)
        if self.sort is not None:
            one_of("sort", self.sort, get_args(SortBackEnd))


@dataclass(frozen=True)
class SearchTuning:
    """Settings of `bfs`, `paths` and `levels`.

    Attributes
    ----------
    policy : {"gap", "beamer"}, optional
        Rule by which the variant "direction" switches between top-down and bottom-up, only with that variant;
        by default, the rule of the GAP Benchmark Suite.
    hub_degree : int, optional
        On a GPU, only with the variant "fused", which is "auto" on one GPU: in a bottom-up step each block
        keeps in shared memory the frontier's bits of the vertices with at least this many edges, 32,768
        vertices at most (VS-Graph500); 0 keeps all that fit.  The vertices must be in order of degree, as
        they are by default.  By default none are kept, since they stay in the first-level cache anyway.
    exchange : {"auto", "list", "bitmap"}, optional
        For a graph on many workers: format in which vertices are sent; by default, the shorter one for each
        message.
    claim : {"atomics", "sort"}, optional
        For a graph on many workers: method by which a worker finds the vertices that are new to it, by a
        bitmap (the default) or by sorting.
    bottom_up : bool, optional
        For a graph on many workers: whether workers may also search bottom-up, from undiscovered vertices for
        edges to them, which needs the edges grouped by both ends; by default, if a worker has memory for
        them.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> graph.bfs(0, variant="direction", tuning={"policy": "beamer"})["distance"].tolist()
    [0, 1, 1, 2, 3]
    """

    policy: Policy | None = None
    hub_degree: int | None = None
    exchange: Exchange | None = None
    claim: Claim | None = None
    bottom_up: bool | None = None

    def __post_init__(self) -> None:
        known = (("policy", Policy), ("exchange", Exchange), ("claim", Claim))
        for name, kind in known:
            if (value := getattr(self, name)) is not None:
                one_of(name, value, get_args(kind))
        if self.hub_degree is not None:
            least = integer(self.hub_degree)
            if least is None or least < 0:
                raise TravError(
                    f"hub_degree={written(self.hub_degree)}: give an integer of 0 or more, or None."
                )
            object.__setattr__(self, "hub_degree", least)
        if self.bottom_up is not None:
            flag("bottom_up", self.bottom_up)
        if self.bottom_up and self.claim == "sort":
            raise TravError(
                "bottom_up=True claims by a bitmap, and claim='sort' does not: choose one of them."
            )

    @cached_property
    def of_ranks(self) -> dict[str, object]:
        """The given settings that apply to graphs on many workers."""
        given = {name: getattr(self, name) for name in ("exchange", "claim", "bottom_up")}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class RunTuning:
    """Settings of `run`, `pagerank`, `sssp` and `components`.

    Attributes
    ----------
    gather : {"rows", "replicas"}
        On a GPU: with "rows" each vertex reduces its own edges; with "replicas" blocks of vertices reduce in
        shared memory, with copies of each against contention (Garaph), in memory and page by page.
        Which is faster depends on the graph; docs/performance.md has measurements of both.
    replication : {"auto", "formula", 1, 2, 4, 8, 16, 32}
        Number of copies with ``gather="replicas"``, and only with it: one number for all, or from the edges
        and vertices of each block, by Garaph's formula or, with "auto", to the least cost by its model.
    compress : bool, optional
        On a GPU, for a graph larger than its memory: whether pages and blocks are copied to it with their
        columns in fewer bits, if these take at most three quarters of their bytes; by default, unless all
        pages or blocks stay there as they are.
    n_streams : int
        On a GPU, for a graph larger than its memory: most pages that are in progress at once, each on a
        stream and in a buffer of its own; fewer if a page would not fit otherwise.

    References
    ----------
    L. Ma et al., "Garaph: efficient GPU-accelerated graph processing on a single machine with balanced
    replication", USENIX ATC 2017.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> graph.pagerank(tuning={"gather": "rows"})["pagerank"].round(3).tolist()
    [0.246, 0.239, 0.135, 0.246, 0.135]
    """

    gather: Gather = "rows"
    replication: Replication = "auto"
    compress: bool | None = None
    n_streams: int = 3

    def __post_init__(self) -> None:
        one_of("gather", self.gather, get_args(Gather))
        copies = self.replication if isinstance(self.replication, str) else integer(self.replication)
        if copies not in get_args(Replication):
            raise TravError(
                f"replication={written(self.replication)} is not known: choose one of "
                f"{listed(get_args(Replication))}."
            )
        object.__setattr__(self, "replication", copies)
        if self.replication != "auto" and self.gather != "replicas":
            raise TravError(
                f"replication={written(self.replication)} applies only to gather='replicas': leave it out, "
                f"or give gather='replicas' as well."
            )
        if self.compress is not None:
            flag("compress", self.compress)
        pages = integer(self.n_streams)
        if pages is None or pages < 1:
            raise TravError(
                f"n_streams={written(self.n_streams)} is not a number of pages in progress at once: give an "
                f"integer of 1 or more."
            )
        object.__setattr__(self, "n_streams", pages)

    @property
    def of_devices(self) -> list[str]:
        """The names of the given settings that apply to a GPU alone, and are ignored elsewhere."""
        return [name for name in ("compress", "n_streams") if getattr(self, name) != getattr(RunTuning, name)]


Tuning = TypeVar("Tuning", BuildTuning, SearchTuning, RunTuning)


def tuned(kind: type[Tuning], given: Mapping[str, object] | None) -> Tuning:
    """Return the settings of one kind that a caller gives by name, checked."""
    if given is None:
        return kind()
    names = setting_names(kind)
    if not isinstance(given, Mapping):
        raise TravError(f"tuning={written(given)} is not a mapping: give a dict with any of {listed(names)}.")
    for name in given:
        if not isinstance(name, str) or name not in names:
            raise TravError(
                f"tuning names {written(name)}, which is not known here: choose from {listed(names)}."
            )
    return kind(**given)  # type: ignore[arg-type]


def setting_names(kind: type[BuildTuning | SearchTuning | RunTuning]) -> tuple[str, ...]:
    """Return the names of the settings of one kind."""
    return tuple(field.name for field in fields(kind))
