"""Division of the memory of a streamed run, and the action for each page; no GPU is needed.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4 and G5).  Arrays with an entry for each vertex
are resident.  Each stream has a buffer for a page.  A page only has to be large enough that its copy keeps
the link busy while the next page is launched; the rest of the budget holds the first pages for the whole run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from rapids_trav.csr.packed import START, PackedColumns, blocks_of
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.model.program import LOCAL_BYTES, page_table_bytes, streamed_bytes
from rapids_trav.programs.definition import Program

ALIGNMENT = 256
PIECE_EDGES = PROGRAM_TUNABLES["gas_rows.cu"]["PIECE_EDGES"]
MOST_PAGE_BYTES = 1 << 28  # 5 ms of a link; smaller pages lose less time at the ends of an iteration
# Bytes that the link copies while the host launches a page: at 55 GB/s in 38 us.
LAUNCH_BYTES = 1 << 21
LEAST_PAGE_BYTES = 2 * LAUNCH_BYTES  # a smaller page would wait for the host
ROOM_PAGES = 24  # that would fill the memory left by the vertices; three are in progress, the others stay
TRIES = 8  # sizes of pages with packed columns that are tried
READ_COST = 4  # cost of an edge that is read in place, in copied edges


@dataclass(frozen=True)
class PageLayout:
    """Positions in a page's buffer, in bytes, of the parts that follow the columns."""

    weights: int
    rows: int  # also the position of the places of edges in their shards, which replace listed rows
    packed: int
    n_bytes: int  # of the page in progress
    kept_bytes: int  # of the page where it stays: of its columns, packed if they were, and its weights

    @classmethod
    def of(
        cls,
        n_edges: int,
        n_rows: int,
        column: int,
        weight: int,
        vertex: int,
        packed: int | None = None,
        local: int = 0,
    ) -> PageLayout:
        """Return the layout, given edges and rows, and the bytes of a column, a weight and a listed row.

        `packed` are the bytes of the packed columns; None if they are copied as they are.  `local` are those
        of an edge's place in its shard, if the page is gathered over by shards.
        """
        weights = aligned(n_edges * column)
        rows = weights + aligned(n_edges * weight)
        begin = rows + aligned(max(n_rows * vertex, n_edges * local))
        if packed is None:
            return cls(weights, rows, begin, begin, rows)
        return cls(weights, rows, begin, begin + aligned(packed), rows - weights + aligned(packed))


def aligned(n_bytes: int) -> int:
    """Round up to a multiple of ALIGNMENT."""
    return -(-n_bytes // ALIGNMENT) * ALIGNMENT


@dataclass(frozen=True)
class StreamPlan:
    """The pages and buffers of a streamed run."""

    firsts: np.ndarray  # first row of each page, int64 (k + 1,)
    first_edges: np.ndarray  # its first edge
    layouts: list[PageLayout]
    n_slots: int  # pages in progress at once
    resident_bytes: int  # of the vertices and the tables
    n_kept: int  # pages, from the first on, that stay in buffers of their own
    packed: PackedColumns | None = (
        None  # the columns in fewer bits, if pages are copied and stay in that form
    )

    @property
    def n_pages(self) -> int:
        return len(self.layouts)

    @property
    def slot_bytes(self) -> int:
        return max((layout.n_bytes for layout in self.layouts), default=0)

    @property
    def buffer_bytes(self) -> int:
        """Bytes of all buffers."""
        return self.n_slots * self.slot_bytes + sum(
            layout.kept_bytes for layout in self.layouts[: self.n_kept]
        )

    @property
    def launch_bytes(self) -> int:
        """The bytes that the link copies while the host launches all pages."""
        return LAUNCH_BYTES * self.n_pages

    def sweep_bytes(self, column: int, weight: int) -> int:
        """Return the time of an iteration over all pages, in bytes that the link copies meanwhile.

        The link copies pages while the host launches others, so it is the longer one of both times.  `column`
        and `weight` are the bytes of a column, unpacked, and of a weight.
        """
        copied = (self.copied_bytes(page, column, weight) for page in range(self.n_kept, self.n_pages))
        return max(sum(copied), self.launch_bytes)

    def sweep_order(self) -> list[int]:
        """Return the pages such that those that stay lie evenly among the others.

        The link would be idle as long as only pages that stay are computed.
        """
        n_copied = self.n_pages - self.n_kept

        def place(page: int) -> float:
            if page < self.n_kept:
                return (page + 0.5) / self.n_kept
            return (page - self.n_kept) / n_copied

        return sorted(range(self.n_pages), key=place)

    def kept_together(self, n_bytes: int) -> Iterator[range]:
        """Yield runs of the pages that stay, each of `n_bytes` or up to a page more."""
        first = taken = 0
        for page in range(self.n_kept):
            taken += self.layouts[page].kept_bytes
            if taken >= n_bytes or page + 1 == self.n_kept:
                yield range(first, page + 1)
                first, taken = page + 1, 0

    def rows(self, page: int) -> tuple[int, int]:
        """Return the first row of a page, and the first row after it."""
        return int(self.firsts[page]), int(self.firsts[page + 1])

    def edges(self, page: int) -> tuple[int, int]:
        return int(self.first_edges[page]), int(self.first_edges[page + 1])

    def n_edges(self, page: int) -> int:
        first, last = self.edges(page)
        return last - first

    def places(self, page: int, stays: bool) -> tuple[int, ...]:
        """Return where the parts that a page is copied in begin, in its own buffer if it stays or in a slot.

        The parts are columns and weights or, if columns are packed, the starts and words of their blocks, and
        weights.
        """
        layout = self.layouts[page]
        if self.packed is None:
            return 0, layout.weights
        starts = layout.rows - layout.weights if stays else layout.packed
        begin, end = blocks_of(*self.edges(page))
        return starts, starts + (end - begin) * START.itemsize, 0 if stays else layout.weights

    def copied_bytes(self, page: int, column: int, weight: int) -> int:
        """Return the bytes that are copied for a page, given those of a column, unpacked, and of a weight."""
        first, last = self.edges(page)
        packed = self.packed
        columns = (last - first) * column if packed is None else packed.page_bytes(first, last)
        return columns + (last - first) * weight


def plan_stream(view: GatherView, program: Program, options: RunOptions, offset: int) -> StreamPlan:
    """Return a plan within the free memory of the budget, for offsets of `offset` bytes on the device.

    If the vertices and one page do not fit, the error names a limit that is sufficient.
    """
    try:
        return plan_within(view, program, options, offset, 0)
    except TravMemoryError:
        assert view.pages is not None
    needed = least_bytes(view, program, options, offset)
    raise view.pages.budget.refusal(needed, f"program {program.name!r} and a page of the edges")


def least_bytes(view: GatherView, program: Program, options: RunOptions, offset: int) -> int:
    """Return about the least free memory for which there is a plan."""
    assert view.pages is not None
    free = view.pages.budget.free

    def fits(n_bytes: int) -> bool:
        try:
            plan_within(view, program, options, offset, n_bytes - free)
        except TravMemoryError:
            return False
        return True

    low, high = 0, 1024
    while not fits(high):
        low, high = high, 2 * high
    while high - low > (view.n_vertices + high) >> 10:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def plan_within(
    view: GatherView,
    program: Program,
    options: RunOptions,
    offset: int,
    more: int,
    packed: PackedColumns | None = None,
    most_bytes: int | None = None,
) -> StreamPlan:
    """Return a plan for the free memory of the budget and `more` bytes.

    Pages have at most `most_bytes`, by default `page_size`, without their packed columns.  These may not fit
    as well, which `buffer_bytes` shows.
    """
    assert view.pages is not None
    pages, into = view.pages, view.into
    column = vertex = into.column_indices.dtype.itemsize
    weight = 0 if view.weights is None else view.weights.dtype.itemsize
    asked = max(options.n_streams, 1)
    run = run_shape(view, program, options)
    local = LOCAL_BYTES if run.shards else 0
    base = streamed_bytes(run, offset, PIECE_EDGES)
    gaps = 3 * ALIGNMENT * asked  # between the parts of pages
    if most_bytes is None:
        share = 1.0 if packed is None else packed.page_bytes(0, into.n_edges) / max(into.n_edges * column, 1)
        most_bytes = page_size(pages.budget.free + more - base, share)
    resident = base
    while True:
        if pages.cut is None:
            firsts, n_slots = pages.firsts, min(asked, pages.n_streams)
        else:
            firsts, n_slots = pages.cut(resident + gaps - more, asked, most_bytes, local)
        needed = base + page_table_bytes(run) * len(firsts)
        if needed <= resident or pages.cut is None:
            break
        resident = needed + (needed - base) // 8  # room for the pages that this loss adds
    first_edges = np.asarray(into.row_offsets[firsts], np.int64)
    layouts = []
    for i in range(len(firsts) - 1):
        first, last = first_edges[i : i + 2].tolist()
        own = None if packed is None else packed.page_bytes(first, last)
        layouts.append(
            PageLayout.of(last - first, int(firsts[i + 1] - firsts[i]), column, weight, vertex, own, local)
        )
    n_slots = min(n_slots, max(len(layouts), 1))
    plan = StreamPlan(firsts, first_edges, layouts, n_slots, needed, 0, packed)
    left = pages.budget.free + more - plan.resident_bytes - plan.buffer_bytes
    ends = np.cumsum([layout.kept_bytes for layout in layouts])
    n_kept = int(np.searchsorted(ends, left, side="right"))
    return replace(plan, n_kept=n_kept)


def page_size(room: int, share: float = 1.0) -> int:
    """Return the most bytes of a page, given the memory that the vertices leave.

    `share` of them are copied.
    """
    return min(max(room // ROOM_PAGES, int(LEAST_PAGE_BYTES / share)), MOST_PAGE_BYTES)


def page_action(n_rows: int, n_edges: int, page_edges: int, reachable: bool) -> str:
    """Return the action for a page in which some rows gather: "skip", "read" in place, or "copy".

    `n_rows` of the page gather, over `n_edges`; if `reachable`, the GPU can access the memory that stores it.
    """
    if n_rows == 0:
        return "skip"
    return "read" if reachable and READ_COST * n_edges <= page_edges else "copy"


def hidden_share(copies: Iterable[tuple[float, float]], computing: Iterable[tuple[float, float]]) -> float:
    """Return the share of the copies' time that overlaps computing; both are pairs (begin, end)."""
    busy: list[list[float]] = []
    for begin, end in sorted(computing):
        if busy and begin <= busy[-1][1]:
            busy[-1][1] = max(busy[-1][1], end)
        else:
            busy.append([begin, end])
    total = hidden = 0.0
    for begin, end in copies:
        total += end - begin
        hidden += sum(max(0.0, min(end, b) - max(begin, a)) for a, b in busy)
    return hidden / total if total > 0 else 0.0


def chosen_plan(
    view: GatherView,
    program: Program,
    options: RunOptions,
    offset: int,
    pack: Callable[[], PackedColumns | None],
) -> StreamPlan:
    """Return the plan of a run, with packed columns if a sweep over them is faster.

    That is not the case if all pages stay on the device as they are, or if these are so small that the host,
    which launches them, takes longer than the link: packed pages are smaller, because a slot holds a page in
    both forms.  `options.compress` may ask for one form in any case.  `pack` packs the columns, if that was
    not done before; it returns None if they are not worth it.
    """
    plain = plan_stream(view, program, options, offset)
    assert view.pages is not None
    home, asked = view.pages.packed, options.compress
    column = view.into.column_indices.dtype.itemsize
    edge = column, 0 if view.weights is None else view.weights.dtype.itemsize
    as_they_are = plain.sweep_bytes(*edge)
    waits_for_host = as_they_are == plain.launch_bytes  # also if nothing is copied
    if home is None or asked is False or (waits_for_host and asked is None):
        return plain
    columns = home.get(pack)
    packed = None if columns is None else plan_packed(view, program, options, offset, columns)
    if packed is None or (asked is None and packed.sweep_bytes(*edge) >= as_they_are):
        return plain
    return packed


def plan_packed(
    view: GatherView, program: Program, options: RunOptions, offset: int, packed: PackedColumns
) -> StreamPlan | None:
    """Return a plan with packed columns, or None if none fits.

    Slots hold a page both packed and unpacked, so pages are made smaller until they fit; if they cannot be,
    because of a long row, there are fewer slots.
    """
    assert view.pages is not None
    most_bytes: int | None = None
    for _ in range(TRIES):
        try:
            plan = plan_within(view, program, options, offset, 0, packed=packed, most_bytes=most_bytes)
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
