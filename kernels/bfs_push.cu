// Top-down BFS, one thread for each vertex (CSR; docs/systems.md, P1).
//
// One launch expands level - 1: each vertex on that level gives `level` to its unreached neighbours.  Several
// threads may write the same neighbour; they all write the same distance, and each writes a valid
// predecessor, so every order of the writes gives a correct answer and no atomics are needed.
//
// Invariant: within a launch `distance` changes only from UNREACHED to `level`.  FOUND is a flag, one scalar.
//
// Reference: W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition,
// section 15.3 (vertex-centric push).
//
// Must agree with: SciPy's distances (tests/gpu/small_graphs.py).  It is the plain kernel that the other
// searches are tested against.
#include "level.cuh"

extern "C" __global__ void bfs_push(const edge_t* __restrict__ row_offsets,
                                    const vertex_t* __restrict__ column_indices, i64 n_vertices, i32 level,
                                    i32* distance, vertex_t* predecessor, u64* counters) {
    i64 frontier = 0;
    i64 examined = 0;
    bool found = false;
    for (i64 u = global_thread(); u < n_vertices; u += global_threads()) {
        if (distance[u] != level - 1) continue;
        const i64 begin = row_offsets[u];
        const i64 end = row_offsets[u + 1];
        frontier += 1;
        examined += end - begin;
        for (i64 edge = begin; edge < end; ++edge) {
            const vertex_t neighbor = column_indices[edge];
            if (distance[neighbor] != UNREACHED) continue;
            distance[neighbor] = level;
            if (predecessor != nullptr) predecessor[neighbor] = static_cast<vertex_t>(u);
            found = true;
        }
    }
    if (found) counters[FOUND] = 1;
    count(counters, FRONTIER, frontier);
    count(counters, EDGES, examined);
}
