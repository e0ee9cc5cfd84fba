"""The arguments of the fused search's kernel, field by field as `Arguments` in `kernels/fused_state.cuh`.

They are in one struct, because CuPy converts each argument of a launch separately, and three dozen
conversions take longer than a level.
"""

from __future__ import annotations

import ctypes
from typing import Any

# The parts of the working memory, in the order in which they are laid out.
WORKING = ("near", "visited", "bitmap_a", "bitmap_b", "narrow_a", "narrow_b", "hubs_a", "hubs_b")


def _struct(vertex: Any) -> type[ctypes.Structure]:
    pointer, u64 = ctypes.c_void_p, ctypes.c_uint64
    fields = {
        "out_offsets": pointer,
        "out_indices": pointer,
        "out_resident": pointer,
        "out_resident_begin": ctypes.c_int64,
        "in_offsets": pointer,
        "in_indices": pointer,
        "in_resident": pointer,
        "in_resident_begin": ctypes.c_int64,
        "first_neighbors": pointer,
        "sources": pointer,
        "targets": pointer,
        "n_targets": u64,
        "queue_capacity": u64,
        "least_pull": u64,
        "distance": pointer,
        "predecessor": pointer,
        "n_unreached": pointer,
        **dict.fromkeys(WORKING, pointer),
        "control": pointer,
        "trace_rows": pointer,
        "n_vertices": vertex,
        "n_linked": vertex,
        "n_sources": vertex,
        "leaf_degree": vertex,
        "hub_words": vertex,
        "depth_limit": ctypes.c_int32,
        "alpha": ctypes.c_float,
        "beta": ctypes.c_float,
        "neighbor_degree": ctypes.c_float,
        "trace_capacity": ctypes.c_uint32,
    }
    return type("Arguments", (ctypes.Structure,), {"_fields_": list(fields.items())})


def _narrow_item(vertex: Any, edge: Any) -> type[ctypes.Structure]:
    """Return `NarrowItem` of `kernels/fused_state.cuh`, whose size is a multiple of 16 bytes."""
    fields = [("begin", edge), ("vertex", vertex), ("degree", ctypes.c_uint32)]
    own = ctypes.sizeof(type("Item", (ctypes.Structure,), {"_fields_": fields}))
    padding = ("padding", ctypes.c_uint8 * (-own % 16))
    return type("NarrowItem", (ctypes.Structure,), {"_fields_": [*fields, padding]})


_INTEGERS = {4: ctypes.c_int32, 8: ctypes.c_int64}
# Keyed by the bytes of a vertex and of an offset.
NARROW_ITEM = {(v, e): _narrow_item(_INTEGERS[v], _INTEGERS[e]) for v in (4, 8) for e in (4, 8)}
ARGUMENTS = {4: _struct(ctypes.c_int32), 8: _struct(ctypes.c_int64)}  # keyed by bytes of a vertex
