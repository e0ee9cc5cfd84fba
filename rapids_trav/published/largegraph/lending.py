"""Rows of blocks that the CPU follows beside a GPU, on a thread of its own (LargeGraph).

docs/systems.md, L5 and L9, has the requirements.  The CPU is given vertices with the messages that they send,
and returns for each of their neighbours the best value that arrived.  It has no values: a value that is no
better than one offered before would change nothing, since values only improve, so the best offer to each
vertex is all that it keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept
from rapids_trav.engines.runs import GatherView
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey


@kept
def lending_kernel(source: ProgramKey) -> Callable:
    """Return the loop over the rows, which is compiled at its first call for each type of graph."""
    compiler = ProgramCompiler(source.digest)
    _, gather, reduce, _, _, _, cast = functions(source.program, compiler)

    @compiler.kernel
    def follow(row_offsets, columns, weights, shift, block, vertices, messages, best, offered, targets):
        """Follow the edges of the vertices' items of a block; return the number of targets, and of edges."""
        n_targets = 0
        n_edges = 0
        for i in range(len(vertices)):
            u = np.int64(vertices[i])
            first = max(row_offsets[u], block << shift)
            end = min(row_offsets[u + 1], (block + 1) << shift)
            n_edges += end - first
            for e in range(first, end):
                weight = cast(1) if weights is None else weights[e]
                v = np.int64(columns[e])
                offer = reduce(best[v], gather(messages[i], weight))
                if offer == best[v]:
                    continue
                best[v] = offer
                if not offered[v]:
                    offered[v] = True
                    targets[n_targets] = v
                    n_targets += 1
        for i in range(n_targets):
            offered[np.int64(targets[i])] = False
        return n_targets, n_edges

    return follow


class Lending:
    """The thread, and the best offer to each vertex so far; must be closed.

    The out-edges of `view` are on the host, in blocks of 1 << `shift`.
    """

    def __init__(self, view: GatherView, program: Program, shift: int) -> None:
        self._follow, self._shift = lending_kernel(ProgramKey(program)), shift
        out, weights = view.out, view.out_weights
        self._edges = (
            np.asarray(out.row_offsets),
            np.asarray(out.column_indices),
            None if weights is None else np.asarray(weights),
        )
        self._identity = program.identity
        self._best = np.full(view.n_vertices, program.identity, program.dtype)
        self._offered = np.zeros(view.n_vertices, bool)
        self._targets = np.empty(view.n_vertices, out.column_indices.dtype)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rapids_trav lending")
        self._coming: Future[tuple[Array, Array, int]] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether rows were lent whose offers were not taken."""
        return self._coming is not None

    def lend(self, block: int, vertices: Array, messages: Array) -> None:
        """Begin to follow rows of a block."""
        self._coming = self._pool.submit(self._offers, block, vertices, messages)

    def offers(self, wait: bool = False) -> tuple[Array, Array, int] | None:
        """Return vertices, offers to them and the edges followed; None if they are not there yet."""
        if self._coming is None or not (wait or self._coming.done()):
            return None
        found = self._coming.result()
        self._coming = None
        return found

    def close(self) -> None:
        self._pool.shutdown()

    def _offers(self, block: int, vertices: Array, messages: Array) -> tuple[Array, Array, int]:
        n, n_edges = self._follow(
            *self._edges, self._shift, block, vertices, messages, self._best, self._offered, self._targets
        )
        targets = self._targets[:n].copy()
        return targets, self._best[targets], n_edges
