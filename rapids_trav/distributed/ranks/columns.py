"""Exchange of id columns of any dtype between ranks, and agreement on them.

Numbers and dates are sent as arrays of the engine, so that on GPUs they never leave the GPUs.  Any other
column is pickled, one of cuDF in the form of Arrow.

If one rank refuses a column, all raise the error of a local build.  Each rank describes to the others the
columns that it read: name, kind, type and number of rows, never values.  All ranks then have the same list,
in which columns of the same name are adjacent, in the order of their ranks, as if the partitions had been
concatenated.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.distributed.ranks.numbering import sendable
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.engines.multigpu.communicator import to_bytes, to_words
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Array, Dtype, move
from rapids_trav.ids.composite_ids import same_categories
from rapids_trav.ids.maps import Column, Library
from rapids_trav.ids.renumber import IdColumn, NullIdsError, Renumbering, read, refuse_mixtures


class Form(NamedTuple):
    """Form in which a column is sent, and its dtype, or None where the sent data implies it."""

    carrier: Literal["array", "dates", "pickle"]
    dtype: Dtype = None


def exchange_columns(rank: Rank, parts: Sequence[Column]) -> list[Column]:
    """Send the k-th column or array, of any dtype and length, to rank k; return what each sent to this one.

    A column keeps its dtype; its name and its index are lost.  The column that this rank sends to itself may
    share memory with the one given.
    """
    packed = [_pack(rank, _as_column(part, rank.library)) for part in parts]
    forms = rank.communicator.exchange_objects([form for form, _ in packed])
    arrays = rank.communicator.exchange(rank.everyone, [array for _, array in packed])
    return [_unpack(rank, form, array) for form, array in zip(forms, arrays, strict=True)]


def _as_column(values: Column | Array, library: Library) -> Column:
    if hasattr(values, "iloc"):
        return values
    own = isinstance(values, (pd.api.extensions.ExtensionArray, pd.Index))
    return library.column(values if own else move(values, library.xp), dtype=values.dtype)


def _pack(rank: Rank, column: Column) -> tuple[Form, Array]:
    dtype, gpu = column.dtype, rank.library.name == "cudf"
    if isinstance(dtype, np.dtype) and dtype.kind in "iufbmM" and not (gpu and column.null_count):
        if dtype.kind in "mM":
            values = column.astype(np.int64).to_cupy() if gpu else column.to_numpy().view(np.int64)
            return Form("dates", dtype), move(values, rank.xp)
        return Form("array", dtype), sendable(move(rank.library.array(column), rank.xp))
    implied = not gpu or hasattr(dtype, "categories")
    data = pickle.dumps(column.to_arrow() if gpu else column.array)
    return Form("pickle", None if implied else dtype), to_words(data, rank.xp)


def _unpack(rank: Rank, form: Form, array: Array) -> Column:
    library = rank.library
    if form.carrier == "pickle":
        held = pickle.loads(to_bytes(array))
        if library.name == "pandas":
            return pd.Series(held, dtype=held.dtype)
        column = library.from_arrow(pa.table({"ids": held}))["ids"]
        return column if form.dtype in (None, column.dtype) else column.astype(form.dtype)
    values = move(array, library.xp)
    if form.carrier == "dates":
        return library.column(values.view(form.dtype) if library.xp is np else values).astype(form.dtype)
    return library.column(values.astype(form.dtype, copy=False))


@dataclass(frozen=True)
class Component:
    """One column of the ids, as agreed on by all ranks."""

    kind: str  # "integer", "category" or "value"
    parts: list[IdColumn]  # those of this rank, by position; all of this kind, unless they have no rows
    shapes: list[IdColumn]  # those of all ranks that have rows, without data; the first one if none has rows
    dtype: Dtype = None  # of categoricals


def read_components(rank: Rank, sides: Sequence[Sequence[Column]]) -> list[Component]:
    """Read the columns of ids of all ranks: `sides` are local lists, each with a column for each component.

    Raises a `TravError` on all ranks, with the message that a local build of all columns would have.
    """
    read_here = [[_read(rank, column) for column in side] for side in sides]
    gathered = _gather(rank, read_here)
    if not gathered:
        raise TravError("The edges have no partitions: give at least one, which may have no rows.")
    return [
        _agree(rank, [side[i] for side in read_here], [side[i] for side in gathered])
        for i in range(len(gathered[0]))
    ]


def _read(rank: Rank, column: Column) -> IdColumn:
    name = getattr(column, "name", None)
    return _or_error(name, lambda: read(name, column, rank.library, rank.xp))


def _plain(rank: Rank, part: IdColumn) -> IdColumn:
    return _or_error(part.name, lambda: Renumbering(rank.library, rank.xp).plain(part))


def _or_error(name: Hashable, work: Callable[[], IdColumn]) -> IdColumn:
    try:
        return work()
    except TravError as error:
        return IdColumn(name, "error", None, 0, error.with_traceback(None))


def _gather(rank: Rank, sides: Sequence[Sequence[IdColumn]]) -> list[list[IdColumn]]:
    """Return the shapes of the sides of all ranks, grouped by name, or raise their errors."""
    gathered = [
        side
        for sides in rank.communicator.gather_objects([list(map(_shape, side)) for side in sides])
        for side in sides
    ]
    names = [[one.name for one in side] for side in gathered]
    gathered = [gathered[i] for i in sorted(range(len(gathered)), key=lambda i: names.index(names[i]))]
    _refuse([one.data for side in gathered for one in side if one.kind == "error"])
    return gathered


def _shape(one: IdColumn) -> IdColumn:
    """Return what other ranks learn of a column: no data, and no dtype that holds all categories."""
    if one.kind == "error":
        return one
    return replace(one, data=None, dtype=None if one.kind == "category" else one.dtype)


def _refuse(errors: Sequence[TravError]) -> None:
    """Raise the first error, if there is one; nulls are counted over all columns of the name."""
    if not errors:
        return
    first = errors[0]
    if isinstance(first, NullIdsError):
        alike = (one for one in errors if isinstance(one, NullIdsError) and one.column == first.column)
        raise NullIdsError(first.column, sum(one.nulls for one in alike), first.remedy)
    raise first


def _agree(rank: Rank, parts: list[IdColumn], shapes: list[IdColumn]) -> Component:
    filled = [shape for shape in shapes if shape.rows] or shapes[:1]
    if all(shape.kind == "category" for shape in filled):
        dtype = _one_dtype(rank, parts, empty=not filled[0].rows)
        if dtype is not None:
            return Component("category", parts, filled, dtype)
    if any(shape.kind == "category" for shape in filled):  # if the categories differ, the values are the ids
        parts = [_plain(rank, part) if part.rows else part for part in parts]
        filled = [one for (one,) in _gather(rank, [[part] for part in parts]) if one.rows]
    refuse_mixtures(filled, rank.library)
    return Component(filled[0].kind, parts, filled)


def _one_dtype(rank: Rank, parts: Sequence[IdColumn], *, empty: bool) -> Dtype | None:
    """Return the dtype of all categoricals if they share their codes, else None.

    One rank sends its categories to the others only if all have the same number of categories; the others
    then compare them with their own.
    """
    dtypes = [part.dtype for part in parts if part.rows or (empty and part.kind == "category")]
    gathered = rank.communicator.gather_objects([(dtype.ordered, len(dtype.categories)) for dtype in dtypes])
    if not empty and len({one for ones in gathered for one in ones}) > 1:
        return None
    first = next(i for i, ones in enumerate(gathered) if ones)
    dtype = rank.communicator.gather_objects(dtypes[0] if rank.rank == first else None)[first]
    agree = empty or all(same_categories(one, dtype) for one in dtypes)
    return dtype if all(rank.communicator.gather_objects(agree)) else None
