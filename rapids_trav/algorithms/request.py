"""What a caller asks, checked and put into internal ids."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import MOST_LEVELS, BfsOptions
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import move
from rapids_trav.ids.lookup import lookup
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.storage.adjacency_set import MemoryView
from rapids_trav.utilities.checks import flag, one_of

MODES = ("joint", "each")
DIRECTIONS = ("out", "in", "both")
POLICIES = ("gap", "beamer")


@dataclass(frozen=True)
class SearchRequest:
    """A search as the engine takes it.

    Attributes
    ----------
    view : MemoryView
        The graph in the direction asked for, perhaps filtered.
    sources : vertex array
        Unique ("joint"), or one for each search, in the order given ("each").
    each : bool
    options : BfsOptions
    """

    view: MemoryView
    sources: Array
    each: bool
    options: BfsOptions


def ask(
    graph: TraversableGraph,
    sources: Any,
    *,
    mode: str = "joint",
    depth_limit: int | None = None,
    targets: Any = None,
    direction: str = "out",
    predecessors: bool = True,
    where: Hashable | None = None,
    variant: str = "auto",
    policy: str | None = None,
    trace: bool = False,
    what: str = "sources",
    checked: bool = True,
) -> SearchRequest:
    """Check a question about `graph`; raise a `TravError` that says what is wrong with it.

    `what` is what the question calls its sources.  Unless they have to be `checked`, a single one that the
    graph does not have may be -1: the caller learns it from the search, after which nobody is reached, and
    does not wait twice; other faults are then told first.
    """
    one_of("mode", mode, MODES)
    one_of("direction", direction, DIRECTIONS)
    one_of("variant", variant, graph.engine.variants, f" of the {graph.engine.name} engine")
    policy = policy_of(variant, policy)
    if depth_limit is not None:
        depth_limit = whole_number("depth_limit", depth_limit, "None searches without limit")
    flag("predecessors", predecessors)
    flag("trace", trace)
    graph.rows.check_where(where)
    joint, own = mode == "joint", graph.engine.answers
    lenient = joint and not checked and own is not None and variant in own.lenient
    internal = vertices(graph, what, sources, checked=not lenient)
    options = BfsOptions(
        variant=variant,
        policy=policy,
        depth_limit=depth_limit,
        targets=None if targets is None else unique(graph, vertices(graph, "targets", targets)),
        predecessors=predecessors,
        trace=trace,
    )
    return SearchRequest(
        view=graph.storage.view(direction, where),
        sources=unique(graph, internal) if joint else on_engine(graph, internal),
        each=not joint,
        options=options,
    )


def vertices(graph: TraversableGraph, what: str, given: Any, checked: bool = True) -> Array:
    """Internal ids of the vertices that an argument names, on the host or the engine.

    Unless `checked`, a single one may be -1: the graph does not have it.
    """
    own = graph.engine.answers
    if own is not None and type(given) is int and 0 <= given < 2**31:
        # An engine may have its own way to one plain integer; of an unknown one the general way tells.
        table = graph.ids.table
        if table is not None and table.dtype.kind == "i":
            found = own.locate(given, table, graph.n_vertices)
            if not checked or int(found[0]) >= 0:
                return found
    return lookup(what, given, graph.ids, graph.rows.source.library)


def on_engine(graph: TraversableGraph, internal: Array) -> Array:
    """Internal ids as an array of the engine."""
    return move(internal, graph.engine.xp).astype(vertex_dtype(graph.n_vertices), copy=False)


def unique(graph: TraversableGraph, internal: Array) -> Array:
    """The distinct ones, ascending, as an array of the engine."""
    xp = np if isinstance(internal, np.ndarray) else graph.engine.xp
    return on_engine(graph, internal if len(internal) == 1 else xp.unique(internal))


def policy_of(variant: str, policy: str | None) -> str:
    """The policy to search by, refused where the variant does not turn."""
    if policy is None:
        return POLICIES[0]
    one_of("policy", policy, POLICIES)
    if variant != "direction":
        raise TravError(
            f"policy={policy!r} says when the variant 'direction' turns: leave it out, or give "
            f"variant='direction' as well."
        )
    return policy


def whole_number(what: str, value: Any, note: str = "", of: str = "levels", first: int = 0) -> int:
    """A number of levels, or of something else; booleans, fractions and negative numbers are refused.

    No search has more levels than int32 holds, so that is what larger numbers become.  `first` is what the
    message calls the smallest, where the caller refuses 0 itself.
    """
    note = f" ({note})" if note else ""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, (bool, np.bool_)):
        raise TravError(
            f"{what}={written(value)} is not a number of {of}: give an integer from {first} on{note}."
        )
    return min(number, MOST_LEVELS)
