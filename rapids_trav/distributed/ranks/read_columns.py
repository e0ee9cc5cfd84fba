"""Reading of id columns on all ranks: if one rank refuses a column, all raise the error of a local build.

Each rank describes to the others the columns that it read: name, kind, type and number of rows, never values.
All ranks then have the same list, in which columns of the same name are adjacent, in the order of their
ranks, as if the partitions had been concatenated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rapids_trav.distributed.ranks.rank import Rank, all_gather_objects
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Dtype
from rapids_trav.ids.columns import IdColumn, NullIdsError, read
from rapids_trav.ids.composite_ids import same_categories
from rapids_trav.ids.maps import Column
from rapids_trav.ids.renumber import Renumbering, refuse_mixtures


@dataclass(frozen=True)
class Component:
    """One column of the ids, as agreed on by all ranks.

    Attributes
    ----------
    kind : {"integer", "category", "value"}
    parts : list of IdColumn
        The columns of this rank, by position; all of this kind, unless they have no rows.
    shapes : list of IdColumn
        The columns of all ranks that have rows, without data; the first column if none has rows.
    dtype : dtype or None
        The dtype of categoricals; None for other kinds.
    """

    kind: str
    parts: list[IdColumn]
    shapes: list[IdColumn]
    dtype: Dtype = None


def read_components(rank: Rank, sides: Sequence[Sequence[Column]]) -> list[Component]:
    """Read the columns of ids of all ranks.

    Parameters
    ----------
    rank : Rank
    sides : sequence of sequences of columns
        Each local list of ids, as one column for each component.

    Raises
    ------
    TravError
        On all ranks, with the message that a local build of all columns would have.
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
    try:
        return read(name, column, rank.library, rank.xp)
    except TravError as error:
        return IdColumn(name, "error", None, 0, error.with_traceback(None))


def _plain(rank: Rank, part: IdColumn) -> IdColumn:
    try:
        return Renumbering(rank.library, rank.xp).plain(part)
    except TravError as error:
        return IdColumn(part.name, "error", None, 0, error.with_traceback(None))


def _gather(rank: Rank, sides: Sequence[Sequence[IdColumn]]) -> list[list[IdColumn]]:
    """Return the shapes of the sides of all ranks, grouped by name, or raise their errors."""
    gathered = [
        side
        for sides in all_gather_objects(rank, [list(map(_shape, side)) for side in sides])
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
    gathered = all_gather_objects(rank, [(dtype.ordered, len(dtype.categories)) for dtype in dtypes])
    if not empty and len({one for ones in gathered for one in ones}) > 1:
        return None
    first = next(i for i, ones in enumerate(gathered) if ones)
    dtype = all_gather_objects(rank, dtypes[0] if rank.rank == first else None)[first]
    agree = empty or all(same_categories(one, dtype) for one in dtypes)
    return dtype if all(all_gather_objects(rank, agree)) else None
