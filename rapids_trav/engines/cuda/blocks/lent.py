"""Rows of blocks that the CPU takes from the GPU: lists of both directions (`kernels/gas_lent.cu`)."""

from __future__ import annotations

from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.programs.link import load_program
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.runs import GatherView
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey

FILE = "gas_lent.cu"
LentArguments = arguments_of(FILE, "LentArguments")
MOST_LENT = 1 << 16  # entries of a list; the CPU follows as many rows of R-MAT in a few milliseconds


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

    Parameters
    ----------
    arguments : BlocksArguments
        Of the kernels of `gas_blocks.cu`, with arrays that are not exchanged.
    """

    def __init__(self, view: GatherView, program: Program, arguments: ArgumentStruct) -> None:
        vertex, n = view.out.column_indices.dtype, lent_entries(view.n_vertices)
        self._vertices: cupy.ndarray = cupy.empty(n, vertex)
        self._values: cupy.ndarray = cupy.empty(n, program.dtype)
        self._n_lent = cupy.zeros(1, np.uint64)
        self._kernels = load_program(
            ProgramKey(program),
            FILE,
            None if view.out_weights is None else view.out_weights.dtype.name,
            8 * vertex.itemsize,
            8 * view.out.row_offsets.dtype.itemsize,
        )
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
