// Edge-centric BFS, one thread for each edge (COO; docs/systems.md, P3).
//
// One launch reads every edge u -> v, in any order, and gives `level` to v if u is on level - 1 and v is
// unreached.  As in bfs_push.cu, races between writes are harmless: they write equal distances and valid
// predecessors.
//
// Invariant: within a launch `distance` changes only from UNREACHED to `level`.  FOUND is a flag, one scalar.
//
// Reference: W. Hwu, D. Kirk, I. El Hajj, Programming Massively Parallel Processors, 4th edition,
// section 15.4.
//
// Must agree with: bfs_push.cu.
#include "level.cuh"

extern "C" __global__ void bfs_edge(const vertex_t* __restrict__ src, const vertex_t* __restrict__ dst,
                                    i64 n_edges, i32 level, i32* distance, vertex_t* predecessor,
                                    u64* counters) {
    bool found = false;
    for (i64 edge = global_thread(); edge < n_edges; edge += global_threads()) {
        const vertex_t u = src[edge];
        if (distance[u] != level - 1) continue;
        const vertex_t v = dst[edge];
        if (distance[v] != UNREACHED) continue;
        distance[v] = level;
        if (predecessor != nullptr) predecessor[v] = u;
        found = true;
    }
    if (found) counters[FOUND] = 1;
}
