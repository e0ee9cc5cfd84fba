"""The device memory of a streamed run: the resident arrays, and the buffers that pages are copied to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.runtime.memory import host_address
from rapids_trav.engines.cuda.stream.plan import StreamPlan
from rapids_trav.engines.runs import GatherView, uses_degrees
from rapids_trav.programs.definition import Program

UPLOAD_ROWS = 1 << 20  # offsets that are converted at a time
KEPT_TOGETHER = 1 << 30  # bytes of pages in one allocation; larger ones fail if free memory is fragmented
FEWEST_ROWS = 1 << 10  # rows for which FIXED_BYTES of the plan has room
VERTICES, PAGES = "the vertices of a program", "pages in progress"


@dataclass
class Slot:
    """A buffer for a page, and the stream that computes on it.

    Attributes
    ----------
    copied, free : Event
        Recorded when its page has been copied, and when it is done.
    """

    number: int
    memory: Array
    stream: cupy.cuda.Stream
    copied: cupy.cuda.Event
    free: cupy.cuda.Event

    @classmethod
    def of(cls, number: int, memory: Array) -> Slot:
        """Return a slot that is free."""
        copied, free = (cupy.cuda.Event(disable_timing=True) for _ in range(2))
        return cls(number, memory, cupy.cuda.Stream(non_blocking=True), copied, free)


class Buffers:
    """Memory for pages.

    Attributes
    ----------
    slots : list of Slot
    kept : dict
        The buffer of each page that stays, by page; fewer than planned if the free memory is fragmented.
    """

    def __init__(self, plan: StreamPlan) -> None:
        slots = cupy.empty((plan.n_slots, plan.slot_bytes), np.uint8)
        self.slots = [Slot.of(number, memory) for number, memory in enumerate(slots)]
        self.kept: dict[int, Array] = {}
        for pages in plan.kept_together(KEPT_TOGETHER):
            sizes = [plan.layouts[page].kept_bytes for page in pages]
            try:
                memory = cupy.empty(sum(sizes), np.uint8)
            except MemoryError:
                break  # the others are streamed
            self.kept |= zip(pages, cupy.split(memory, np.cumsum(sizes)[:-1]), strict=True)

    def synchronize(self) -> None:
        for slot in self.slots:
            slot.stream.synchronize()


def resident(view: GatherView, program: Program, edge: np.dtype) -> GatherView:
    """Return the view with its resident parts on the device; out-edges stay on the host if possible."""
    assert view.pages is not None
    free = view.pages.budget.free
    into = Adjacency(offsets_on_device(view.into, edge, free), view.into.column_indices)
    out_offsets = into.row_offsets if view.into is view.out else offsets_on_device(view.out, edge, free)
    reached = over_host(view.out.column_indices)
    out = Adjacency(out_offsets, view.out.column_indices if reached is None else reached)
    degrees: cupy.ndarray = view.degrees if uses_degrees(program) else None
    return replace(view, into=into, out=out, degrees=degrees)


def offsets_on_device(adjacency: Adjacency, edge: np.dtype, free_bytes: int) -> Array:
    """Return the row offsets, converted block by block within the memory that pages will use later."""
    source = adjacency.row_offsets
    offsets = cupy.empty(len(source), edge)
    block = max(min(UPLOAD_ROWS, free_bytes // source.itemsize), FEWEST_ROWS)
    for begin in range(0, len(source), block):
        offsets[begin : begin + block] = cupy.asarray(source[begin : begin + block])
    return offsets


def to_device(target: Array, source: np.ndarray, stream: cupy.cuda.Stream) -> None:
    """Copy pinned host memory to the device, in the order of a stream."""
    if source.nbytes:
        bytes_to_device(target.data.ptr, host_address(source), source.nbytes, stream)


def bytes_to_device(target: int, source: int, n_bytes: int, stream: cupy.cuda.Stream) -> None:
    """Do the same with addresses, which take the host less time than views of arrays."""
    runtime = cupy.cuda.runtime
    runtime.memcpyAsync(target, source, n_bytes, runtime.memcpyHostToDevice, stream.ptr)


def to_host(target: np.ndarray, source: Array, stream: cupy.cuda.Stream) -> None:
    """Copy an array from the device, in the order of a stream."""
    runtime = cupy.cuda.runtime
    if target.nbytes:
        kind = runtime.memcpyDeviceToHost
        runtime.memcpyAsync(target.ctypes.data, source.data.ptr, target.nbytes, kind, stream.ptr)


def shifted(memory: Array, begin: int, dtype: np.dtype, first: int) -> int:
    """Return the address of entry 0 of an array whose entry `first` is at byte `begin` of `memory`."""
    return (memory.data.ptr + begin - first * dtype.itemsize) % (1 << 64)
