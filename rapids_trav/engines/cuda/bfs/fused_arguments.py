"""The arguments of the fused search's kernel, field by field as `Arguments` in `kernels/fused_state.cuh`."""

from __future__ import annotations

import ctypes

from rapids_trav.engines.cuda.runtime.arguments import (
    FLOAT,
    I32,
    I64,
    POINTER,
    U32,
    U64,
    ArgumentStruct,
    struct,
)

# The parts of the working memory, in the order in which they are laid out.
WORKING = ("near", "visited", "bitmap_a", "bitmap_b", "narrow_a", "narrow_b", "hubs_a", "hubs_b")

# The pointers that change from one search to the next, as the number of targets does.
OF_A_SEARCH = ("sources", "targets", "distance", "predecessor", "n_unreached")


def _struct(vertex: type) -> type[ArgumentStruct]:
    return struct(
        "Arguments",
        out_offsets=POINTER,
        out_indices=POINTER,
        out_resident=POINTER,
        out_resident_head=I64,
        out_resident_begin=I64,
        in_offsets=POINTER,
        in_indices=POINTER,
        in_resident=POINTER,
        in_resident_head=I64,
        in_resident_begin=I64,
        first_neighbors=POINTER,
        word_rows=POINTER,
        sources=POINTER,
        targets=POINTER,
        n_targets=U64,
        queue_capacity=U64,
        least_pull=U64,
        distance=POINTER,
        predecessor=POINTER,
        n_unreached=POINTER,
        **dict.fromkeys(WORKING, POINTER),
        control=POINTER,
        trace_rows=POINTER,
        n_vertices=vertex,
        n_linked=vertex,
        n_sources=vertex,
        leaf_degree=vertex,
        hub_words=vertex,
        depth_limit=I32,
        alpha=FLOAT,
        beta=FLOAT,
        neighbor_degree=FLOAT,
        trace_capacity=U32,
    )


def _narrow_item(vertex: type, edge: type) -> type[ctypes.Structure]:
    """Return `NarrowItem` of `kernels/fused_state.cuh`, whose size is a multiple of 16 bytes."""
    fields = [("begin", edge), ("vertex", vertex), ("degree", U32)]
    own = ctypes.sizeof(type("Item", (ctypes.Structure,), {"_fields_": fields}))
    padding = ("padding", ctypes.c_uint8 * (-own % 16))
    return type("NarrowItem", (ctypes.Structure,), {"_fields_": [*fields, padding]})


_INTEGERS = {4: I32, 8: I64}
# Keyed by the bytes of a vertex and of an offset.
NARROW_ITEM = {(v, e): _narrow_item(_INTEGERS[v], _INTEGERS[e]) for v in (4, 8) for e in (4, 8)}
ARGUMENTS = {4: _struct(I32), 8: _struct(I64)}  # keyed by bytes of a vertex
