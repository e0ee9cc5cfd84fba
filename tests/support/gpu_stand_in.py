"""Stand-in for the CUDA engine: it builds, stores and plans like the CUDA engine, but with NumPy arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rapids_trav.csr.adjacency import Resident
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cuda.build import spilled
from rapids_trav.engines.cuda.build.places import place_plainly
from rapids_trav.engines.cuda.stream.plan import plan_stream


class Gpu(CpuEngine):
    """CPU engine that behaves like a GPU engine."""

    name = "cuda"
    place = "device"
    processor = "gpu"
    degree_sort = "radix"
    prefers_asynchronous = False

    def empty_pinned(self, n, dtype):
        return np.empty(n, dtype)

    def build_outside(self, chunks, n_vertices, outside, **how):
        device = spilled.Device(np, self.count_ids, place_plainly, lambda array: array)
        return spilled.build_adjacency(chunks, n_vertices, outside, device, **how)

    def reach_outside(self, adjacency, head, begin):
        rows = replace(adjacency, row_offsets=adjacency.row_offsets.copy())
        return replace(
            rows,
            first_neighbors=np.zeros(adjacency.n_vertices, np.int32),
            word_rows=np.zeros((-(-adjacency.n_vertices // 32), 2), rows.row_offsets.dtype),
            resident=Resident(
                head,
                begin,
                np.concatenate([adjacency.column_indices[:head], adjacency.column_indices[begin:]]),
            ),
        )

    def run(self, view, program, state, options):
        if view.pages is None:
            return super().run(view, program, state, options)
        plan, budget = plan_stream(view, program, options, 4), view.pages.budget
        with budget.hold(plan.resident_bytes, "vertices"), budget.hold(plan.buffer_bytes, "pages"):
            return super().run(replace(view, pages=None), program, state, options)
