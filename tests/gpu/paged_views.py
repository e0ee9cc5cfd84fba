"""Gather views with edges in host memory, cut into pages by hand or by a budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rapids_trav.csr.packed import PackedHome
from rapids_trav.csr.pages import plan_pages
from rapids_trav.engines.runs import GatherView, Pages
from rapids_trav.memory.budget import Budget

PLENTY = 1 << 30


def in_pinned_memory(engine, view: GatherView) -> GatherView:
    """Return the view with its edges in pinned memory, which the GPU can read."""

    def pinned(array):
        copy = engine.empty_pinned(len(array), array.dtype)
        copy[:] = array
        return copy

    into = replace(view.into, column_indices=pinned(view.into.column_indices))
    out = into if view.out is view.into else replace(view.out, column_indices=pinned(view.out.column_indices))
    weights = None if view.weights is None else pinned(view.weights)
    return replace(view, into=into, out=out, weights=weights)


def in_pages(view: GatherView, n_pages: int, n_streams: int = 3) -> GatherView:
    """Return the view cut into pages of equally many rows."""
    firsts = np.unique(np.linspace(0, view.n_vertices, n_pages + 1).astype(np.int64))
    return replace(view, pages=Pages(firsts, Budget(PLENTY), n_streams))


def in_packed_pages(view: GatherView, n_pages: int, n_streams: int = 3) -> GatherView:
    """Return the view as `in_pages` does, but such that the engine may pack its columns."""
    paged = in_pages(view, n_pages, n_streams)
    assert paged.pages is not None
    return replace(paged, pages=replace(paged.pages, packed=PackedHome()))


def in_budget(view: GatherView, limit: int) -> GatherView:
    """Return the view cut into pages that fit into what a budget leaves, as the storage does."""
    budget, offsets = Budget(limit), view.into.row_offsets
    edge_bytes = 4 + (0 if view.weights is None else view.weights.dtype.itemsize)

    def cut(resident, n_streams, most_bytes=None, more_edge_bytes=0):
        plan = plan_pages(
            offsets, budget.free - resident, edge_bytes=edge_bytes + more_edge_bytes, row_bytes=8,
            n_streams=n_streams, most_bytes=most_bytes,
        )  # fmt: skip
        return plan.firsts, plan.n_streams

    return replace(view, pages=Pages(np.array([0, view.n_vertices]), budget, 3, cut))
