"""Join of answers to rows, by the columns of a frame that hold vertex ids."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.errors import TravError, type_name, written
from rapids_trav.frames import arrow, forms, proxies
from rapids_trav.frames.columns import (
    Array,
    Frame,
    Series,
    Values,
    id_names,
    library_of,
    move,
    nullable_dtype,
    require_column,
    written_id,
)
from rapids_trav.frames.forms import Form
from rapids_trav.frames.libraries import library
from rapids_trav.ids.lookup import as_columns, known_dtypes
from rapids_trav.ids.maps import Library
from rapids_trav.utilities.progress import report


def annotate(graph: TraversableGraph, rows: Values, answer: Values, on: object) -> Frame:
    """Join an answer to rows; `Graph.annotate` documents it."""
    proxied = proxies.is_proxy(rows)
    rows = proxies.opened(rows, on_gpu=graph.rows.source.library.name == "cudf")
    form = _form(rows, "edges")
    if form is not None:
        rows = forms.kept(form, rows)
        names: list[Hashable] = [*form.columns(rows)]
    else:
        names = list(rows.columns)
    values, own = _values(graph, answer)
    ends = _ends(graph, on, names)
    known = _rows_of(graph, values, own)
    target = library(library_of(rows) or "pandas", proxied)
    columns: dict[str, Series] = {}
    for end, suffix in ends:
        found = known(_taken(form, rows, end), f"Column {'+'.join(map(str, end))!r} of the frame")
        for name in own:
            label = f"{name}{suffix}"
            if label in names:
                raise TravError(
                    f"edges already has a column {label!r}, which the answer would replace: rename it."
                )
            columns[label] = _picked(target, values[name], move(found, target.xp))
            report(len(columns), len(own) * len(ends), "columns")
    if form is None:
        for column in columns.values():
            column.index = rows.index
        return target.hand_out(rows.assign(**columns))
    if form.name == "pandas":
        return arrow.to_pandas(form.table(rows, form.columns(rows))).assign(**columns)
    return form.joined(rows, _handed(form, columns, answer, own))


def _handed(form: Form, columns: dict[str, Series], answer: Values, own: Sequence[str]) -> Frame:
    """Return pandas columns as a frame of the caller's library, with the types of the answer."""
    import pandas as pd

    found = form.handed(arrow.from_pandas(pd.DataFrame(columns)), {})
    answer = getattr(answer, "result", answer)
    if not form.owns(answer):
        return found
    dtypes = form.dtypes(answer)
    types = {label: dtypes[name] for label, name in zip(columns, [*own, *own], strict=False)}
    return form.like(found, types)


def _form(frame: Values, what: str) -> Form | None:
    """Return the form of a frame that is read through Arrow; None for a pandas or cuDF frame."""
    if library_of(frame) in ("pandas", "cudf"):
        return None
    if library_of(frame) == "dask" or (form := forms.form_of(frame)) is None:
        raise TravError(
            f"{what} is an object of type {type_name(frame)}: give a frame of pandas, polars, pyarrow or "
            "cuDF."
        )
    return form


def _values(graph: TraversableGraph, answer: Values) -> tuple[Frame, list[str]]:
    """Return an answer as a pandas or cuDF frame, and the names of its columns except the vertex."""
    answer = getattr(answer, "result", answer)  # the frame of a `Traced`
    answer = getattr(answer, "vertices", answer) if isinstance(answer, tuple) else answer
    answer = proxies.opened(answer, on_gpu=graph.rows.source.library.name == "cudf")
    _form(answer, "answer")
    values = forms.opened(answer)
    vertex = id_names("vertex", graph.ids.width)
    if missing := [name for name in vertex if name not in values.columns]:
        raise TravError(
            f"answer has no column {missing[0]!r}: give an answer with a row for each vertex, such as those "
            f"of bfs, components or pagerank."
        )
    return values, [str(name) for name in values.columns if name not in vertex]


def _ends(graph: TraversableGraph, on: object, names: Sequence[Hashable]) -> list[tuple[list[Hashable], str]]:
    """Return, for each end, the columns of its ids and the suffix for the names of the joined columns."""
    width = graph.ids.width
    if on is None:
        ends = [list(graph.rows.src), list(graph.rows.dst)]
        found = [(end, "_" + "+".join(map(str, end))) for end in ends]
    else:
        end = list(on) if isinstance(on, list) else [on]
        if len(end) != width:
            raise TravError(
                f"on names {len(end)} column{'s' if len(end) > 1 else ''}, and ids have {width}: give the "
                f"columns of one id."
            )
        found = [(end, "")]
    for end, _ in found:
        for name in end:
            if not isinstance(name, Hashable):
                raise TravError(
                    f"on={written(on)} names no column: give the name of a column, or a list of names."
                )
            require_column(names, name, "the frame")
    return found


def _taken(form: Form | None, rows: Frame, names: Sequence[Hashable]) -> Values:
    """Return the ids in these columns: a Series if it is one column, else a frame."""
    frame = rows if form is None else arrow.to_pandas(forms.columns_of(form, rows, names))
    return frame[names[0]] if len(names) == 1 else frame[list(names)]


def _rows_of(graph: TraversableGraph, values: Frame, own: Sequence[str]) -> Values:
    """Return a function from ids to rows of the answer, -1 for vertices without a row."""
    xp, lib = graph.engine.xp, graph.rows.source.library
    encode = graph.ids.ascending.encoder(many=True)

    def places(ids: Values, what: str) -> Array:
        if len(ids) == 0:
            return xp.empty(0, dtype=np.int64)
        given = as_columns(what, ids, known_dtypes(graph.ids, lib), lib)
        found = move(encode([part.values for part in given]), xp)
        for part in given:
            if part.impossible is not None:  # as unknown as any other id that no vertex has
                found = xp.where(move(part.impossible, xp), -1, found)
        return found

    vertex = id_names("vertex", graph.ids.width)
    of_answer = places(values[vertex[0]] if len(vertex) == 1 else values[vertex], "answer")
    if len(of_answer) and (int(of_answer.min()) < 0 or len(xp.unique(of_answer)) < len(of_answer)):
        raise TravError(_misnamed(values[list(vertex)], move(of_answer, np)))
    row = xp.full(graph.n_vertices + 1, -1, dtype=np.int64)  # unknown ids, -1, index the last entry
    row[of_answer] = xp.arange(len(of_answer))
    return lambda ids, what: row[places(ids, what)]


def _misnamed(vertices: Frame, places: np.ndarray) -> str:
    """Return the message about the first vertex that is unknown (place -1) or else named twice."""
    if len(unknown := np.flatnonzero(places < 0)):
        name = written_id(vertices, vertices.columns, int(unknown[0]))
        return f"answer names vertex {name}, which the graph does not have: give an answer of this graph."
    _, firsts = np.unique(places, return_index=True)
    again = int(np.setdiff1d(np.arange(len(places)), firsts)[0])
    return (
        f"answer names vertex {written_id(vertices, vertices.columns, again)} in several rows: give one row "
        f"for each vertex; with mode='each', give the rows of one source."
    )


def _picked(target: Library, column: Series, rows: Array) -> Series:
    """Return the values of a column at `rows`, null for row -1."""
    if library_of(column, ("Series",)) != target.name:
        column = target.column(column)
    missing = bool((rows < 0).any())
    if (
        missing
        and isinstance(column.dtype, np.dtype)
        and column.dtype.kind in "iu"
        and target.name == "pandas"
    ):
        column = column.astype(nullable_dtype(column.dtype))
    return target.take(column, rows, nulls=missing)
