"""Conversion of the caller's arguments to an engine's: vertices as internal ids, and the view to search."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import SearchOptions, whole_number
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import move
from rapids_trav.ids.lookup import lookup
from rapids_trav.storage.filters import Where
from rapids_trav.storage.interface import SearchView
from rapids_trav.utilities.checks import one_of

FEW = 1 << 12  # most entries of a list whose types are looked at one by one


@dataclass(frozen=True)
class SearchRequest:
    """A search in the form that the engine takes.

    Attributes
    ----------
    view : SearchView
        The graph in the requested direction, perhaps filtered.
    sources : vertex array
        Distinct vertices ("joint"), or one for each search, in the order given ("each").
    each : bool
    options : BfsOptions
        Its targets are distinct, in order of first appearance.
    where : Where or None
        The filter of the view.
    repeated : bool or None
        Whether a source is given more than once; None: it is not known.
    """

    view: SearchView
    sources: Array
    each: bool
    options: BfsOptions
    where: Where | None = None
    repeated: bool | None = None


def ask(
    graph: TraversableGraph,
    sources: object,
    asked: SearchOptions,
    what: str = "sources",
    checked: bool = True,
) -> SearchRequest:
    """Convert the arguments of a search of `graph`; raise a `TravError` that names the first invalid one.

    Parameters
    ----------
    what : str
        Name of the argument `sources` in error messages.
    checked : bool
        Whether an unknown source raises an error here.  If False, a single source that the graph does not
        have may become -1, which avoids waiting for the GPU here.  No vertex is then reached, and the caller
        checks for that after the search; other faults are then reported first.
    """
    where = _checked(graph, asked)
    joint, own = asked.mode == "joint", graph.engine.answers
    lenient = joint and not checked and own is not None and asked.variant in own.lenient
    internal = vertices(graph, what, sources, checked=not lenient)
    if joint:
        return _request(graph, asked, where, unique(graph, internal))
    repeated = len(np.unique(internal)) < len(internal) if isinstance(internal, np.ndarray) else None
    return replace(_request(graph, asked, where, on_engine(graph, internal)), repeated=repeated)


def ask_for_roots(graph: TraversableGraph, asked: SearchOptions) -> SearchRequest:
    """Convert the options of searches whose roots are not known yet; see `ask`."""
    where = _checked(graph, asked)
    return _request(graph, asked, where, graph.engine.xp.empty(0, graph.values.dtype))


def _checked(graph: TraversableGraph, asked: SearchOptions) -> Where | None:
    """Refuse options that do not suit the graph; return its filter."""
    engine = graph.engine
    one_of("variant", asked.variant, engine.variants, f" of the {engine.name} engine")
    if asked.of_ranks and not graph.values.spread:
        raise TravError(
            f"tuning names {written(next(iter(asked.of_ranks)))}, which is only for graphs on the workers of "
            f"a cluster: leave it out."
        )
    return graph.rows.resolve(asked.where)


def _request(
    graph: TraversableGraph, asked: SearchOptions, where: Where | None, sources: Array
) -> SearchRequest:
    targets = None if asked.targets is None else vertices(graph, "targets", asked.targets)
    limit = asked.depth_limit
    options = BfsOptions(
        variant=asked.variant,
        policy=asked.policy,
        depth_limit=None if limit is None else whole_number("depth_limit", limit),
        targets=None if targets is None else distinct(graph, targets),
        predecessors=asked.predecessors,
        trace=asked.trace,
        of_ranks=asked.of_ranks,
    )
    return SearchRequest(
        view=graph.storage.view(asked.direction, where),
        sources=sources,
        each=asked.mode != "joint",
        options=options,
        where=where,
    )


def vertices(graph: TraversableGraph, what: str, given: object, checked: bool = True) -> Array:
    """Return the internal ids of the vertices that an argument names, on the host or the engine.

    Unless `checked`, a single vertex that the graph does not have may be -1.
    """
    own, table = graph.engine.answers, graph.ids.table
    if own is not None and table is not None and table.dtype.kind == "i":
        # Some engines have a fast lookup of plain integers; `lookup` reports an unknown one.
        if type(given) is int:
            if (known := table.internal(given, graph.n_vertices)) is not None:
                return known
            if 0 <= given < 2**31:
                alone = own.locate(given, table, graph.n_vertices)
                if not checked or int(alone[0]) >= 0:
                    return alone
        labels = _plain_integers(given, table.dtype)
        if labels is not None:
            found = own.locate_each(labels, table, graph.n_vertices)
            if (found >= 0).all():
                return found
    if own is not None and (texts := _plain_texts(given)) and (text := graph.ids.text) is not None:
        found = own.locate_texts(texts, text, graph.n_vertices)
        if (found >= 0).all():
            return found
    return lookup(what, given, graph.ids, graph.rows.source.library)


def _plain_texts(given: object) -> list[bytes] | None:
    """Return a string or a list of strings in UTF-8; None for anything else, or what UTF-8 cannot encode."""
    texts = [given] if type(given) is str else given
    if not isinstance(texts, list) or len(texts) > FEW or not all(type(one) is str for one in texts):
        return None
    try:
        return [one.encode() for one in texts]
    except UnicodeEncodeError:
        return None


def _plain_integers(given: object, dtype: np.dtype) -> np.ndarray | None:
    """Return a list of integers or an array of them on the host as an array; None for anything else.

    It is None as well if `dtype` does not hold one of the numbers, since no vertex can have it.
    """
    if isinstance(given, list) and len(given) <= FEW and all(type(one) is int for one in given):
        try:
            given = np.array(given, np.int64)
        except OverflowError:
            return None
    if type(given) is not np.ndarray or given.ndim != 1 or given.dtype.kind not in "iu" or not len(given):
        return None
    limits = np.iinfo(dtype)
    return given if limits.min <= given.min() and given.max() <= limits.max else None


def on_engine(graph: TraversableGraph, internal: Array) -> Array:
    """Return internal ids as an array of the engine."""
    return move(internal, graph.engine.xp).astype(graph.values.dtype, copy=False)


def unique(graph: TraversableGraph, internal: Array) -> Array:
    """Return the distinct ids, ascending, as an array of the engine."""
    xp = np if isinstance(internal, np.ndarray) else graph.engine.xp
    return on_engine(graph, internal if len(internal) == 1 else xp.unique(internal))


def distinct(graph: TraversableGraph, internal: Array) -> Array:
    """Return the distinct ids in order of first appearance, as an array of the engine."""
    if len(internal) > 1:
        xp = np if isinstance(internal, np.ndarray) else graph.engine.xp
        _, first = xp.unique(internal, return_index=True)
        internal = internal[xp.sort(first)]
    return on_engine(graph, internal)
