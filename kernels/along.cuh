// Follows the out-edges of a queue of vertices: a block distributes the edges of its tile of light rows
// evenly over its threads; each heavy row is spread over a column of blocks.
//
// The caller passes a step, which has a type carried_t for the data of a source vertex that its edges need.
// carry(u) returns this data, and over(carried, edge, v) follows an edge.  The edges are counted.
//
// Reference: D. Merrill, M. Garland, A. Grimshaw, Scalable GPU Graph Traversal, PPoPP 2012 (distributing
// edges by a prefix sum).
#pragma once
#include "block_sum.cuh"
#include "rows.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif

template <class Step>
__device__ __forceinline__ void along_light(const edge_t* row_offsets, const vertex_t* column_indices,
                                            const vertex_t* queue, i64 n_light, Step& step, u64* counters) {
    __shared__ typename Step::carried_t carried[BLOCK_SIZE];
    __shared__ i64 row_begin[BLOCK_SIZE];
    __shared__ i32 ends[BLOCK_SIZE];  // end of each vertex's edges among those of the tile
    __shared__ i32 warp_totals[BLOCK_SIZE / WARP];
    const i32 thread = static_cast<i32>(threadIdx.x);
    i64 examined = 0;
    for (i64 tile = static_cast<i64>(blockIdx.x) * BLOCK_SIZE; tile < n_light; tile += global_threads()) {
        i32 edges = 0;
        if (tile + thread < n_light) {
            const vertex_t u = queue[tile + thread];
            carried[thread] = step.carry(u);
            row_begin[thread] = row_offsets[u];
            edges = static_cast<i32>(degree(row_offsets, u));
        }
        ends[thread] = block_inclusive_sum(edges, warp_totals);
        __syncthreads();
        const i32 tile_edges = ends[BLOCK_SIZE - 1];
        for (i32 i = thread; i < tile_edges; i += BLOCK_SIZE) {
            const i64 owner = lower_bound(ends, BLOCK_SIZE, i + 1);
            const i64 edge = row_begin[owner] + (i - (owner > 0 ? ends[owner - 1] : 0));
            step.over(carried[owner], edge, column_indices[edge]);
            examined += 1;
        }
        __syncthreads();
    }
    __syncwarp();
    count(counters, EDGES, examined);
}

// Heavy rows are at the end of a queue of n_vertices, in reverse order.  Rows i, i + gridDim.x, ... belong to
// the gridDim.y blocks of column i.
template <class Step>
__device__ __forceinline__ void along_heavy(const edge_t* row_offsets, const vertex_t* column_indices,
                                            i64 n_vertices, const vertex_t* queue, i64 n_heavy, Step& step,
                                            u64* counters) {
    const i64 first = static_cast<i64>(blockIdx.y) * blockDim.x + threadIdx.x;
    const i64 stride = static_cast<i64>(gridDim.y) * blockDim.x;
    i64 examined = 0;
    for (i64 i = blockIdx.x; i < n_heavy; i += gridDim.x) {
        const vertex_t u = queue[n_vertices - 1 - i];
        const typename Step::carried_t carried = step.carry(u);
        const i64 end = row_offsets[u + 1];
        for (i64 edge = row_offsets[u] + first; edge < end; edge += stride) {
            step.over(carried, edge, column_indices[edge]);
            examined += 1;
        }
    }
    __syncwarp();
    count(counters, EDGES, examined);
}
