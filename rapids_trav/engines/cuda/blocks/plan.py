"""The choice of a run over blocks on a GPU, and the memory that it needs; nothing here needs a GPU."""

from __future__ import annotations

from rapids_trav.engines.blocks.cut import MOST_BLOCKS, least_place_bytes
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES
from rapids_trav.engines.runs import GatherView, RunOptions, run_shape
from rapids_trav.memory.model.build import OFFSET_BYTES
from rapids_trav.memory.model.program import block_state_bytes_on_gpu
from rapids_trav.programs.definition import Program

CHUNK = PROGRAM_TUNABLES["gas_blocks.cu"]["CHUNK"]
LEAST_BLOCK = 1 << 20  # bytes; the link takes 20 us for so many, as long as a launch of kernels
_NARROW_VERTICES = 2**31 - 1 - MOST_BLOCKS  # most vertices whose items have numbers of 32 bits


def takes_blocks(view: GatherView, program: Program, options: RunOptions) -> bool:
    """Return whether a run goes over blocks: as asked, or where they move fewer bytes than sweeps.

    By simulation with exact counts (64 blocks, a quarter of the edges on the device), shortest paths read the
    edges of a grid 1 to 3 times, where sweeps stream them 1,500 times, and those of R-MAT graphs 1.9 times
    instead of 4.8.
    """
    if view.pages is None or options.schedule == "sweep" or not options.asynchronous:
        return False
    if not may_take_blocks(view, program, options):
        return False
    if options.schedule == "paths":
        return True
    return options.mode == "auto" and least_bytes(view, program, options) <= view.pages.budget.free


def may_take_blocks(view: GatherView, program: Program, options: RunOptions) -> bool:
    """Return whether the kernels can iterate over blocks until these are quiet."""
    if not program.may_push or program.tolerance is not None or options.gather != "rows":
        return False
    if options.weighted and view.out_weights is None:
        return False
    return view.out.column_indices.dtype.itemsize > 4 or view.n_vertices <= _NARROW_VERTICES


def converges_in_memory(view: GatherView, program: Program, options: RunOptions) -> bool:
    """Return whether a run with its edges on the device may leave its order to the kernels.

    Nobody has asked for an order or a mode, or looks at the state between iterations.
    """
    watched = options.max_iterations is not None or options.checkpoint is not None
    free = options.asynchronous is None and options.mode == "auto" and view.limited is None
    return free and not watched and may_take_blocks(view, program, options)


def least_bytes(view: GatherView, program: Program, options: RunOptions) -> int:
    """Return the least memory for a run over blocks: with a single place, and offsets of 64 bits."""
    return state_bytes(view, program, options, OFFSET_BYTES) + least_place_bytes(view, LEAST_BLOCK)


def state_bytes(view: GatherView, program: Program, options: RunOptions, offset: int) -> int:
    """Return the bytes of a run, without the blocks in memory, with offsets of `offset` bytes."""
    shape, entries = run_shape(view, program, options), chunk_entries(view.out.n_edges)
    return block_state_bytes_on_gpu(shape, MOST_BLOCKS, offset, entries)


def chunk_entries(n_edges: int) -> int:
    """Return the most entries of a list of chunks: long rows have at most twice as many as full ones."""
    return 2 * n_edges // CHUNK + 1
