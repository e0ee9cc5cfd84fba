"""The choice between pages with plain columns and pages with packed columns; no GPU is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rapids_trav.csr.packed import PackedColumns
from rapids_trav.engines.cuda.stream.plan import StreamPlan, plan_stream, plan_within
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.errors import TravMemoryError
from rapids_trav.programs.definition import Program

TRIES = 8  # sizes of pages


def chosen_plan(
    view: GatherView,
    program: Program,
    options: RunOptions,
    offset: int,
    piece_edges: int,
    pack: Callable[[], PackedColumns | None],
) -> StreamPlan:
    """Return the plan of a run, with packed columns if a sweep over them is faster.

    That is not the case if all pages stay on the device as they are, or if these are so small that the host,
    which launches them, takes longer than the link: packed pages are smaller, because a slot holds a page in
    both forms.  `options.compress` may ask for one form in any case.

    Parameters
    ----------
    offset : int
        Bytes of an offset on the device.
    pack : callable
        Packs the columns, if that was not done before; None: they are not worth it.

    Raises
    ------
    TravMemoryError
        If the vertices and one page do not fit, packed or not.
    """
    plain = plan_stream(view, program, options, offset, piece_edges)
    assert view.pages is not None
    home, asked = view.pages.packed, options.compress
    column = view.into.column_indices.dtype.itemsize
    edge = column, 0 if view.weights is None else view.weights.dtype.itemsize
    as_they_are = plain.sweep_bytes(*edge)
    waits_for_host = as_they_are == plain.launch_bytes  # also if nothing is copied
    if home is None or asked is False or (waits_for_host and asked is None):
        return plain
    columns = home.get(pack)
    packed = None if columns is None else plan_packed(view, program, options, offset, piece_edges, columns)
    if packed is None or (asked is None and packed.sweep_bytes(*edge) >= as_they_are):
        return plain
    return packed


def plan_packed(
    view: GatherView,
    program: Program,
    options: RunOptions,
    offset: int,
    piece_edges: int,
    packed: PackedColumns,
) -> StreamPlan | None:
    """Return a plan with packed columns, or None if none fits.

    Slots hold a page both packed and unpacked, so pages are made smaller until they fit; if they cannot be,
    because of a long row, there are fewer slots.
    """
    assert view.pages is not None
    most_bytes: int | None = None
    for _ in range(TRIES):
        try:
            plan = plan_within(
                view, program, options, offset, piece_edges, 0, packed=packed, most_bytes=most_bytes
            )
        except TravMemoryError:  # so many pages that their table does not fit
            return None
        room = view.pages.budget.free - plan.resident_bytes
        if plan.buffer_bytes <= room:
            return plan
        if view.pages.cut is None or room <= 0:
            break
        unpacked = max(layout.packed for layout in plan.layouts)
        most_bytes = unpacked * room // plan.buffer_bytes * 15 // 16
    n_slots = room // plan.slot_bytes
    return replace(plan, n_slots=n_slots, n_kept=0) if n_slots > 0 else None
