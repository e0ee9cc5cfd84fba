"""A run over blocks that the CPU shares with the GPU (`kernels/gas_lent.cu`).

With `processor="hybrid"`, the CPU follows waiting rows of blocks for which the link has no time, and offers
the resulting values to their neighbours (`lending`; docs/systems.md, L5 and L9).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.schedule import Moving
from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor, opened
from rapids_trav.engines.cuda.blocks.parts import Part
from rapids_trav.engines.cuda.programs.link import program_kernels
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.iterations import iterate
from rapids_trav.engines.runs import GatherView, Run, RunOptions
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey
from rapids_trav.programs.run_state import RunState
from rapids_trav.published.largegraph.lending import Lending

FILE = "gas_lent.cu"
LentArguments = arguments_of(FILE, "LentArguments")
MOST_LENT = 1 << 16  # entries of a list; the CPU follows as many rows of R-MAT in a few milliseconds


def run(view: GatherView, program: Program, state: RunState, options: RunOptions) -> Run:
    """Iterate on the GPU and the CPU, which share blocks."""
    vertex, value = view.out.column_indices.dtype.itemsize, np.dtype(program.dtype).itemsize
    lists = lent_bytes(view.n_vertices, vertex, value)
    with opened(view, program, state, options, partial(SharedBlocks, view), lists) as blocks:
        return iterate(blocks, program, state, options)


class Lent(NamedTuple):
    """Vertices, and messages from them or offers to them."""

    vertices: Array
    values: Array


def lent_entries(n_vertices: int) -> int:
    """Return the most entries of a list."""
    return min(MOST_LENT, n_vertices)


def lent_bytes(n_vertices: int, vertex: int, value: int) -> int:
    """Return the bytes of the lists on the device."""
    return lent_entries(n_vertices) * (vertex + value) + 8


class LentLists:
    """A list on the device, through which items go to the CPU and offers come back.

    `arguments` are those of the kernels of `gas_blocks.cu`, with arrays that are not exchanged.
    """

    def __init__(self, view: GatherView, program: Program, arguments: ArgumentStruct) -> None:
        vertex, n = view.out.column_indices.dtype, lent_entries(view.n_vertices)
        self._vertices: cupy.ndarray = cupy.empty(n, vertex)
        self._values: cupy.ndarray = cupy.empty(n, program.dtype)
        self._n_lent = cupy.zeros(1, np.uint64)
        self._kernels = program_kernels(ProgramKey(program), FILE, view.out, view.out_weights)
        self._arguments = LentArguments(
            **{name: getattr(arguments, name) for name in arguments.kinds},
            vertices=self._vertices,
            messages=self._values,
            n_lent=self._n_lent,
            most=n,
            block=0,
        )

    def lend(self, block: int, n_items: int) -> Lent:
        """Take items that wait for a block off the device, as many as the list holds."""
        most = len(self._vertices)
        self._n_lent.fill(0)
        self._arguments.update(most=most, block=block)
        self._kernels.launch("lend_items", n_items, self._arguments)
        n = min(int(self._n_lent.get()[0]), most)
        return Lent(self._vertices[:n].get(), self._values[:n].get())

    def take(self, offers: Lent) -> None:
        """Improve the values of vertices by offers to them."""
        most = len(self._vertices)
        for first in range(0, len(offers.vertices), most):
            n = len(offers.vertices[first : first + most])
            self._vertices[:n].set(offers.vertices[first : first + n])
            self._values[:n].set(offers.values[first : first + n])
            self._arguments.update(most=n)
            self._kernels.launch("take_offers", n, self._arguments)


class SharedBlocks(BlocksExecutor):
    """A running program over blocks, with the CPU beside the GPU; `host` has all out-edges in its memory."""

    def __init__(
        self,
        host: GatherView,
        view: GatherView,
        program: Program,
        start: RunState,
        options: RunOptions,
        cut: Cut,
        parts: Sequence[Part],
    ) -> None:
        super().__init__(view, program, start, options, cut, parts)
        self._lent_edges = 0
        self._cpu = Lending(host, program, cut.shift)
        self._lists = LentLists(view, program, self.arguments)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self._cpu.close()

    @property
    def counters(self) -> dict[str, int]:
        """Return the counts of `BlocksExecutor`, and the edges that the CPU has followed."""
        return {**super().counters, "lent": self._lent_edges}

    def _is_pending(self) -> bool:
        return super()._is_pending() or self._cpu.is_busy

    def _work_off(self, moved: Moving, most: int) -> None:
        super()._work_off(moved, most)
        self._take(moved)  # an iteration ends with all that is active on the device

    def _wait(self, moved: Moving) -> None:
        if self._schedule.is_loading:
            super()._wait(moved)
        else:
            self._take(moved)

    def _share(self, moved: Moving) -> None:
        """Take what the CPU has done, and give it a block for which the link has no time."""
        self._take(moved, wait=False)
        block = None if self._cpu.is_busy else self._schedule.left_over()
        if block is not None:
            n_items = int(self._cut.ends[block] - self._cut.firsts[block])
            self._cpu.lend(block, *self._lists.lend(block, n_items))
            self.were_taken(block)

    def _take(self, moved: Moving, wait: bool = True) -> None:
        """Improve values by what the CPU offers; what becomes active on the device enters."""
        found = self._cpu.offers(wait)
        if found is None:
            return
        targets, offers, n_edges = found
        self._lists.take(Lent(targets, offers))
        self.were_improved()
        moved.pushed += n_edges
        self._lent_edges += n_edges
        self._enter_residents()
