"""From the caller's arguments to an engine's: vertices, the view to search, and the memory limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import SearchOptions, whole_number
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, Search, WholeAnswers
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import BitMasked, move
from rapids_trav.ids.lookup import lookup
from rapids_trav.ids.maps import IntegerTable
from rapids_trav.storage.filters import Filter, Where
from rapids_trav.storage.in_memory import MemoryView
from rapids_trav.storage.memory_errors import as_memory_error
from rapids_trav.utilities.checks import one_of

FEW = 1 << 12  # most entries of a list whose types are looked at one by one


class OwnAnswers(NamedTuple):
    """An engine's own way to make the columns of whole answers, and the ids for it."""

    make: WholeAnswers
    table: IntegerTable

    def columns(self, found: Search, n_sources: int, reached_only: bool) -> dict[str, Array | BitMasked]:
        """Return the columns of the answer of a search from joint sources."""
        if reached_only:
            return self.make.reached(found, self.table, n_sources)[0]
        return self.make.columns(found, self.table, n_sources)


def own_answers(graph: TraversableGraph) -> OwnAnswers | None:
    """Return the engine's own way to make answers, if it has one for the caller's frames and ids."""
    if graph.rows.source.library.name != "cudf":
        return None
    own, table = graph.engine.answers, graph.ids.table
    return None if own is None or table is None else OwnAnswers(own, table)


def ask(
    graph: TraversableGraph,
    sources: object,
    asked: SearchOptions,
    what: str = "sources",
    checked: bool = True,
) -> tuple[MemoryView, Array, BfsOptions]:
    """Return what the engine searches: a view of `graph`, the internal ids of sources, its own options.

    Joint sources are distinct, ascending vertices; with ``mode="each"`` they are in the order given.
    Messages call the argument `what`.  Unless `checked`, a single source that the graph does not have may
    become -1, which avoids waiting for the GPU here.  No vertex is then reached, and the caller checks for
    that after the search; other faults are then reported first.
    """
    each, own = asked.mode == "each", graph.engine.answers
    where = _checked_filter(graph, asked)
    lenient = (
        not (each or checked or graph.n_vertices == 0) and own is not None and asked.variant in own.lenient
    )
    internal = vertices(graph, what, sources, checked=not lenient)
    repeated = len(np.unique(internal)) < len(internal) if each and isinstance(internal, np.ndarray) else None
    found = on_engine(graph, internal) if each else unique(graph, internal)
    options = _engine_options(graph, asked, repeated)
    return graph.storage.view(asked.direction, where), found, options


def ask_for_roots(graph: TraversableGraph, asked: SearchOptions) -> tuple[MemoryView, BfsOptions]:
    """Return the view and the options of searches whose roots are not known yet; see `ask`."""
    where = _checked_filter(graph, asked)
    options = _engine_options(graph, asked)
    return graph.storage.view(asked.direction, where), options


def _checked_filter(graph: TraversableGraph, asked: SearchOptions) -> Where | None:
    """Refuse options that do not suit the graph; return its filter."""
    engine, variant = graph.engine, asked.variant
    if not isinstance(variant, str) or variant not in engine.variants:
        one_of("variant", variant, engine.variants, f" of the {engine.name} engine")
    if asked.of_ranks and not graph.values.spread:
        raise TravError(
            f"tuning names {written(next(iter(asked.of_ranks)))}, which is only for graphs on the workers of "
            f"a cluster: leave it out."
        )
    return resolve(graph, asked.where)


def resolve(graph: TraversableGraph, where: Filter) -> Where | None:
    """Return a filter in the graph's own form; refuse one that cannot be applied."""
    return None if where is None else graph.rows.resolve(where)


def _engine_options(
    graph: TraversableGraph, asked: SearchOptions, repeated: bool | None = None
) -> BfsOptions:
    """Return the options of the engine, with vertices as internal ids; see `BfsOptions`."""
    targets = None if asked.targets is None else vertices(graph, "targets", asked.targets)
    limit = asked.depth_limit
    return BfsOptions(
        variant=asked.variant,
        policy=asked.policy,
        hub_degree=asked.hub_degree,
        depth_limit=None if limit is None else whole_number("depth_limit", limit),
        targets=None if targets is None else distinct(graph, targets),
        predecessors=asked.predecessors,
        trace=asked.trace,
        each=asked.mode == "each",
        repeated=repeated,
        of_ranks=asked.of_ranks,
    )


def vertices(graph: TraversableGraph, what: str, given: object, checked: bool = True) -> Array:
    """Return the internal ids of the vertices that an argument names, on the host or the engine.

    Unless `checked`, a single vertex that the graph does not have may be -1.
    """
    own, table = graph.engine.answers, graph.ids.table
    # A plain integer is located at once, if it can be; `lookup` reports an unknown one.
    if type(given) is int and table is not None:
        known = table.internal(given, graph.n_vertices, on_host=own is None)
        if known is not None:
            return known
        if own is not None and table.dtype.kind == "i" and 0 <= given < 2**31:
            alone = own.locate(given, table, graph.n_vertices)
            if not checked or int(alone[0]) >= 0:
                return alone
    if own is not None and table is not None and table.dtype.kind == "i":
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
    xp = graph.engine.xp
    internal = internal if isinstance(internal, xp.ndarray) else move(internal, xp)
    return internal.astype(graph.values.dtype, copy=False)


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


Found = TypeVar("Found")


def answered(graph: TraversableGraph, name: str, query: Callable[..., Found], *arguments: object) -> Found:
    """Return ``query(graph, *arguments)``; failed allocations become a memory error of the query `name`.

    If other queries hold the memory that it needs, it waits for them and runs again.
    """
    budget = graph.budget
    try:
        if budget is None:
            return query(graph, *arguments)
        again = [reusable(argument) for argument in arguments]
        return budget.ask(lambda: query(graph, *again))
    except (MemoryError, RuntimeError) as error:
        raise as_memory_error(error, name, graph.engine)  # noqa: B904 -- it is the error itself, or has its cause


def reusable(argument: object) -> object:
    """Return an iterator as a list, which can be read again; convert the fields of a dataclass as well."""
    if is_dataclass(argument) and not isinstance(argument, type):
        once = {part.name: getattr(argument, part.name) for part in fields(argument)}
        lists = {name: list(value) for name, value in once.items() if isinstance(value, Iterator)}
        return replace(argument, **lists) if lists else argument
    return list(argument) if isinstance(argument, Iterator) else argument
