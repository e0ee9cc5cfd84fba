// Converts distances to trees, and trees to paths.
//
// - smallest_predecessors: finds, for every vertex at distance d > 0, the smallest in-neighbour at distance
//   d - 1.  Rows are in ascending order, so it is the first match in the row.  It depends only on the
//   distances, not on the variant of the search.  The rows may be those of a part of the vertices, from
//   `first_row` on.
// - first_predecessors: does the same for the rows of a rank, where `order` defines the smallest and rows are
//   not in this order.  ordered_tree.cu does so for the rows of all vertices.
// - walk_lengths and walk_vertices: find, for each target, the vertices from its root to the target, with a
//   thread for each target.  The first kernel counts them; the second writes them backwards from the end of
//   the path.
//
// Invariants: following `predecessor` ends at a root (NONE) after finitely many steps; a target NONE has an
// empty path.
//
// Must agree with: smallest_predecessors and walk in tests/kernel_references.py.
#include "rows.cuh"

// Each blockIdx.y has its own row of distance and predecessor.
extern "C" __global__ void smallest_predecessors(const edge_t* __restrict__ row_offsets,
                                                 const vertex_t* __restrict__ column_indices, i64 n_rows,
                                                 i64 first_row, i64 n_vertices, i64 n_searches,
                                                 const i32* __restrict__ distances, vertex_t* predecessors) {
    for (i64 search = blockIdx.y; search < n_searches; search += gridDim.y) {
        const i32* distance = distances + search * n_vertices;
        vertex_t* predecessor = predecessors + search * n_rows;
        for (i64 base = global_thread() - threadIdx.x % WARP; base < n_rows; base += global_threads()) {
            const i64 v = base + lane_id();
            const i32 level = v < n_rows ? distance[first_row + v] : 0;
            const i64 begin = level > 0 ? row_offsets[v] : 0;
            const i64 end = level > 0 ? row_offsets[v + 1] : 0;
            i64 examined = 0;
            const vertex_t smallest = first_match(
                column_indices, begin, end, level - 1,
                [distance](vertex_t u, i32 wanted) { return distance[u] == wanted; }, examined);
            if (v < n_rows) predecessor[v] = smallest;
        }
    }
}

// Each vertex has a warp, since the whole row is read.
extern "C" __global__ void first_predecessors(const edge_t* __restrict__ row_offsets,
                                              const vertex_t* __restrict__ column_indices, i64 n_rows,
                                              i64 first_row, i64 n_vertices, i64 n_searches,
                                              const i32* __restrict__ distances,
                                              const vertex_t* __restrict__ order, vertex_t* predecessors) {
    for (i64 search = blockIdx.y; search < n_searches; search += gridDim.y) {
        const i32* distance = distances + search * n_vertices;
        for (i64 v = global_thread() / WARP; v < n_rows; v += global_threads() / WARP) {
            const i32 level = distance[first_row + v];
            vertex_t first = NONE;
            for (i64 edge = row_offsets[v] + lane_id(); level > 0 && edge < row_offsets[v + 1];
                 edge += WARP) {
                const vertex_t u = column_indices[edge];
                if (distance[u] == level - 1 && (first == NONE || order[u] < order[first])) first = u;
            }
            for (i32 step = WARP / 2; step > 0; step /= 2) {
                const vertex_t other = __shfl_xor_sync(FULL_WARP, first, step);
                if (other != NONE && (first == NONE || order[other] < order[first])) first = other;
            }
            if (lane_id() == 0) predecessors[search * n_rows + v] = first;
        }
    }
}

extern "C" __global__ void walk_lengths(const vertex_t* __restrict__ predecessor,
                                        const vertex_t* __restrict__ targets, i64 n_targets, i64* lengths) {
    for (i64 i = global_thread(); i < n_targets; i += global_threads()) {
        i64 length = 0;
        for (vertex_t v = targets[i]; v != NONE; v = predecessor[v]) length += 1;
        lengths[i] = length;
    }
}

// `ends[i]` is the end of path i in `vertices`: the inclusive sum of the lengths.
extern "C" __global__ void walk_vertices(const vertex_t* __restrict__ predecessor,
                                         const vertex_t* __restrict__ targets, i64 n_targets,
                                         const i64* __restrict__ ends, vertex_t* vertices) {
    for (i64 i = global_thread(); i < n_targets; i += global_threads()) {
        i64 place = ends[i];
        for (vertex_t v = targets[i]; v != NONE; v = predecessor[v]) vertices[--place] = v;
    }
}
