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
    """Return the plan of a run: with packed columns, unless all pages stay on the device without.

    `options.compress` may ask for them in that case as well, or in none.

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
    home, all_stay = view.pages.packed, plain.n_kept == plain.n_pages
    if home is None or options.compress is False or (all_stay and options.compress is None):
        return plain
    columns = home.get(pack)
    packed = None if columns is None else plan_packed(view, program, options, offset, piece_edges, columns)
    return packed or plain


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
    between = options.between_bytes * view.n_vertices
    most_bytes: int | None = None
    for _ in range(TRIES):
        try:
            plan = plan_within(
                view, program, options, offset, piece_edges, -between, packed=packed, most_bytes=most_bytes
            )
        except TravMemoryError:  # so many pages that their table does not fit
            return None
        room = view.pages.budget.free - between - plan.resident_bytes
        if plan.buffer_bytes <= room:
            return plan
        if view.pages.cut is None or room <= 0:
            break
        unpacked = max(layout.packed for layout in plan.layouts)
        most_bytes = unpacked * room // plan.buffer_bytes * 15 // 16
    n_slots = room // plan.slot_bytes
    return replace(plan, n_slots=n_slots, n_kept=0) if n_slots > 0 else None
