"""Initial values and active vertices of a vertex program, from the caller's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Number, Real
from types import ModuleType

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import on_engine, vertices
from rapids_trav.csr.adjacency import Array
from rapids_trav.errors import TravError, first_line, plain, written
from rapids_trav.frames import forms, proxies
from rapids_trav.frames.columns import Frame, Series, Values, id_names, library_of, move
from rapids_trav.programs.definition import Program
from rapids_trav.programs.run_state import RunState


def starting_state(graph: TraversableGraph, program: Program, initial: object, sources: object) -> RunState:
    """Return the initial values and active vertices of a run.

    The active vertices are those that `sources` names, else those that `initial` names (the others have
    nothing to hand on yet, unless the program's reductions start from a value), else all.
    """
    if sources is not None and program.start is not None:
        raise TravError(
            f"sources names the vertices that are active at first, but with start={program.start} of program "
            f"{program.name!r} all are: leave out one of them."
        )
    values, active = initial_values(graph, program, initial)
    if sources is not None:
        active = on_engine(graph, vertices(graph, "sources", sources))
        if program.reducer != "sum" and program.apply is None:
            _refuse_silent(graph, program, values, active)
    if active is None or program.start is not None:
        return RunState(values, graph.values.flags())
    return RunState(values, graph.values.flags(active))


def _refuse_silent(graph: TraversableGraph, program: Program, values: Array, sources: Array) -> None:
    """Refuse initial values outside the sources, which only some modes would pass on to neighbours."""
    silent = values != program.identity
    silent[sources] = False
    found = graph.engine.xp.flatnonzero(silent)[:1]
    if len(found) == 0:
        return
    from rapids_trav.io.write import to_pandas  # imports packages that only readers and writers need

    row = graph.frame(graph.id_columns("id", found))
    ids = [plain(value) for value in to_pandas(row).iloc[0]]
    vertex = written(ids[0] if len(ids) == 1 else tuple(ids))
    raise TravError(
        f"initial gives vertex {vertex} the value {written(values[found][0])}, but sources leaves it out: "
        f"leave out sources, or give values only to the sources."
    )


def initial_values(graph: TraversableGraph, program: Program, initial: Values) -> tuple[Array, Array | None]:
    """Return the initial values by internal id, (n,), in the program's dtype, and the vertices named, if any.

    `initial` is one number for all vertices; n numbers, in the order of the vertices in an answer; or values
    of some vertices, as a mapping, a Series indexed by id, or a frame with `vertex` (`vertex_0`, ...) and
    `value`.  The other vertices then start from the reducer's identity.  A Series with the default index 0,
    1, ... is treated as n numbers, like a column of an answer.
    """
    xp, n = graph.engine.xp, graph.n_vertices
    initial = forms.opened(proxies.opened(initial, on_gpu=graph.rows.source.library.name == "cudf"))
    if library_of(initial):
        return _of_frame(graph, program, initial)
    if library_of(initial, ("Series",)) and not _is_default(initial.index):
        return _placed(graph, program, initial.index.to_frame(index=False), initial)
    if isinstance(initial, Mapping):
        return _placed(graph, program, list(initial), list(initial.values()))
    if isinstance(initial, (Number, str, bytes)) or getattr(initial, "ndim", 1) == 0:
        return graph.values.filled(_values(program, [initial], np)[0], program.dtype), None
    values = _values(program, initial, xp)
    if values.ndim != 1:
        raise TravError(
            f"initial has {values.ndim} dimensions, {' by '.join(map(str, values.shape))}: give a flat "
            f"sequence of {n} values, one for each vertex in ascending order of the ids."
        )
    if len(values) != n:
        raise TravError(
            f"initial holds {len(values)} values, and the graph has {n} vertices: give one for each, in "
            f"ascending order of the ids, or name the vertices in a dict or a frame."
        )
    return graph.values.placed(values), None


def _is_default(index: Series) -> bool:
    """Return whether an index is the default one, 0, 1, ... without a name."""
    if library_of(index, ("RangeIndex",)) is None or index.name is not None:
        return False
    return (index.start, index.step) == (0, 1)


def _of_frame(graph: TraversableGraph, program: Program, frame: Frame) -> tuple[Array, Array]:
    names = id_names("vertex", graph.ids.width)
    if missing := [name for name in (*names, "value") if name not in frame.columns]:
        raise TravError(
            f"initial has no column {missing[0]!r}: give {', '.join(names)} and value, as in an answer."
        )
    return _placed(graph, program, frame[names], frame["value"])


def _placed(graph: TraversableGraph, program: Program, named: Values, given: Values) -> tuple[Array, Array]:
    """Return the given values at the named vertices and the identity elsewhere, and the named vertices."""
    xp = graph.engine.xp
    values = graph.values.filled(program.identity, program.dtype)
    if len(named) == 0:
        return values, xp.empty(0, dtype=np.int64)
    at = on_engine(graph, vertices(graph, "initial", named))
    if repeated := len(at) - len(xp.unique(at)):
        raise TravError(
            f"initial repeats vertices in {repeated} of its {len(at)} rows: give each vertex one value, for "
            f"example with groupby(...).min()."
        )
    own = _values(program, given, xp)
    if own.ndim != 1:
        raise TravError("initial holds a sequence for a vertex: give one number for each.")
    values[at] = own
    return values, at


def _values(program: Program, given: Values, xp: ModuleType) -> Array:
    """Convert numbers to the program's dtype; refuse those that the conversion would change."""
    if library_of(given, ("Series",)) == "cudf":
        given = given.to_cupy()
    on_device = type(given).__module__.partition(".")[0] == "cupy"
    try:
        values = given if on_device else np.asarray(given)
    except ValueError as error:
        raise TravError(
            "initial holds sequences of several lengths: give one number for each vertex."
        ) from error
    except (TypeError, NotImplementedError) as error:  # some Arrow types raise these
        raise TravError(
            f"initial cannot be converted to an array ({first_line(error)}): give one number for each vertex."
        ) from error
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise TravError("initial has masked values: replace them, for example with filled().")
    if values.dtype.kind == "O":
        values = _of_objects(program, values)
    if values.dtype.kind not in "iuf" and values.size:
        raise _no_number(program, values.ravel()[0])
    if values.dtype.kind == "f" and bool((values != values).any()):
        raise _no_number(program, values[values != values][0])
    with np.errstate(invalid="ignore", over="ignore"):
        cast = values.astype(program.dtype)
        lost = cast != values if program.dtype not in ("float32", "float64") else cast != cast
    if bool(lost.any()):
        raise _of_other_type(program, values[lost][0])
    return move(cast, xp)


def _of_objects(program: Program, values: Array) -> Array:
    """Convert Python numbers to an array; some integers may exceed every integer type."""
    for value in values.ravel():
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or value != value:
            raise _no_number(program, value)
    numbers = np.asarray(values.tolist())
    if numbers.dtype.kind in "iuf":
        return numbers
    try:
        if program.dtype.startswith("float"):
            return values.astype("float64")
    except OverflowError:
        pass
    raise _of_other_type(program, max(values.ravel(), key=abs))


def _no_number(program: Program, value: object) -> TravError:
    return TravError(
        f"initial holds {written(value)}, but program {program.name!r} computes with {program.dtype}: give "
        f"numbers without nulls."
    )


def _of_other_type(program: Program, value: object) -> TravError:
    return TravError(
        f"initial holds {written(value)}, which {program.dtype}, the dtype of program {program.name!r}, "
        f"cannot hold: give values of that type, or change the program's dtype."
    )
