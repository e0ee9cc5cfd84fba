// Collects the answers of several ranks (rapids_trav/engines/multigpu/one_launch).
//
// Vertices are dealt to the ranks one by one, like cards: vertex number `local` of rank r is at place
// local * n_ranks + r of the answer.  In the ranks' ids it is r * n_each + local.
//
// Invariant: each place belongs to one rank, so the ranks may be written in any order.
//
// Must agree with: deal_back in tests/kernel_references.py.
#include "common.cuh"

// Writes a rank's distances, and its predecessors unless these are null, to the places of its vertices;
// places from `n_vertices` on are left out.  Predecessors are read as the ranks' ids and written as places.
extern "C" __global__ void deal_back(const i32* __restrict__ distance,
                                     const vertex_t* __restrict__ predecessor, i64 n_each, i64 n_ranks,
                                     i64 rank, i64 n_vertices, i32* distances, vertex_t* predecessors) {
    for (i64 local = global_thread(); local < n_each; local += global_threads()) {
        const i64 place = local * n_ranks + rank;
        if (place >= n_vertices) return;
        if (distance) distances[place] = distance[local];
        if (!predecessor) continue;
        const i64 id = predecessor[local];
        predecessors[place] = static_cast<vertex_t>(id == NONE ? NONE : id % n_each * n_ranks + id / n_each);
    }
}
