"""The arrays of which a place on the GPU holds a block's entries; columns are plain or in frames.

Framed columns (`csr/packed.py`) take fewer bytes on the link and in the places, so that more places fit.  The
kernels read single columns from the frames.  Rows that are read in host memory are never framed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.csr.packed import BLOCK_EDGES, PackedColumns
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.runs import GatherView, RunOptions


@dataclass(frozen=True)
class Part:
    """One of the arrays of which a place holds a slice."""

    name: str  # the argument of the kernels with what is held is `held_` and this name
    source: np.ndarray  # that of all edges, on the host
    bounds: np.ndarray  # int64, (k + 1,): block `b` has the entries `bounds[b]` to `bounds[b + 1] - 1`
    size: int  # entries of a place

    @property
    def place_bytes(self) -> int:
        return self.size * self.source.itemsize

    def addresses(self) -> list[int]:
        """Return the address of each block's entries, and that after the last."""
        return (self.source.ctypes.data + self.bounds * self.source.itemsize).tolist()

    def nbytes(self, block: int) -> int:
        """Return the bytes of a block's entries."""
        return int(self.bounds[block + 1] - self.bounds[block]) * self.source.itemsize

    def of(self, block: int) -> np.ndarray:
        return self.source[self.bounds[block] : self.bounds[block + 1]]


def place_bytes(parts: Sequence[Part]) -> int:
    """Return the bytes of a place."""
    return sum(part.place_bytes for part in parts)


def plain_parts(view: GatherView, cut: Cut) -> list[Part]:
    """Return columns and, if there are any, weights as they are."""
    stored: dict[str, Array | None] = {"columns": view.out.column_indices, "weights": view.out_weights}
    bounds = np.append(0, np.cumsum(cut.n_edges))
    return [
        Part(name, np.asarray(array), bounds, 1 << cut.shift)
        for name, array in stored.items()
        if array is not None
    ]


def framed_parts(view: GatherView, cut: Cut, framed: PackedColumns) -> list[Part]:
    """Return columns in frames and, if there are any, weights as they are.

    A block of edges must consist of whole blocks of the format, of which the last may be shorter.
    """
    _, *weights = plain_parts(view, cut)
    starts = np.append(0, np.cumsum(-(-cut.n_edges // BLOCK_EDGES)))
    words = framed.starts[starts]
    return [
        Part("starts", framed.starts, starts, (1 << cut.shift) // BLOCK_EDGES),
        Part("words", framed.words, words, int(np.diff(words).max(initial=0))),
        *weights,
    ]


def chosen_parts(
    view: GatherView, options: RunOptions, cut: Cut, pack: Callable[[], PackedColumns | None], free: int
) -> tuple[Cut, list[Part]]:
    """Return what places hold, and the cut with those that fit `free` bytes: framed, unless all fit without.

    `options.compress` may ask for frames in that case as well, or for none.  The cut is given with the places
    that fit if columns are as they are; `pack` frames these, or returns None if they are not worth it.
    """
    plain = plain_parts(view, cut)
    assert view.pages is not None
    home, all_fit = view.pages.framed, cut.n_places == cut.n_blocks
    if home is None or options.compress is False or (all_fit and options.compress is None):
        return cut, plain
    framed = home.get(pack) if 1 << cut.shift >= BLOCK_EDGES else None
    if framed is None:
        return cut, plain
    parts = framed_parts(view, cut, framed)
    if place_bytes(parts) > place_bytes(plain):
        return cut, plain
    n_places = free // max(place_bytes(parts), 1)
    return replace(cut, n_places=max(min(n_places, cut.n_blocks), 1)), parts
