// Bottom-up BFS, one thread for each vertex (CSC; docs/systems.md, P2).
//
// One launch looks for a parent on level - 1 among the in-neighbours of every unreached vertex and stops at
// the first.  Only the vertex's own thread writes its distance and predecessor, so there are no races.
//
// Invariant: within a launch `distance` changes only from UNREACHED to `level`, so a neighbour that is
// reached in the same launch is never taken for a parent.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012;
// W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition, section 15.3 (pull).
//
// Must agree with: bfs_push.cu.  It is itself the plain kernel that faster pull steps are tested against.
#include "level.cuh"

extern "C" __global__ void bfs_pull(const edge_t* __restrict__ row_offsets,
                                    const vertex_t* __restrict__ column_indices, i64 n_vertices, i32 level,
                                    i32* distance, vertex_t* predecessor, u64* counters) {
    i64 found = 0;
    i64 examined = 0;
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        if (distance[v] != UNREACHED) continue;
        const i64 end = row_offsets[v + 1];
        for (i64 edge = row_offsets[v]; edge < end; ++edge) {
            const vertex_t neighbor = column_indices[edge];
            examined += 1;
            if (distance[neighbor] != level - 1) continue;
            distance[v] = level;
            if (predecessor != nullptr) predecessor[v] = neighbor;
            found += 1;
            break;
        }
    }
    count(counters, FOUND, found);
    count(counters, EDGES, examined);
}
