// Collects the answers of several ranks (rapids_trav/engines/multigpu/one_launch).
//
// Vertices are dealt to the ranks one by one, like cards: vertex number `local` of rank r is at place
// local * n_ranks + r of the answer.  In the ranks' ids it is r * n_each + local.
//
// A thread reads the values of one number from all ranks, those of other GPUs over the link, and writes them
// next to each other.  A copy first would have to wait for the host, and writes rank by rank would touch each
// sector of the answer once for each rank.
//
// Invariant: each place belongs to one rank, and to one thread.
//
// Must agree with: deal_back in tests/kernel_references.py.
#include "common.cuh"

// Returns the place of a rank's id.  Divisions of 32 bits take a fraction of the time of those of 64.
__device__ __forceinline__ vertex_t place_of(vertex_t vertex, i64 n_each, i64 n_ranks) {
    if (vertex == NONE) return NONE;
    const unsigned_t id = static_cast<unsigned_t>(vertex);
    const unsigned_t each = static_cast<unsigned_t>(n_each);
    const unsigned_t rank = id / each;
    return static_cast<vertex_t>((id - rank * each) * static_cast<unsigned_t>(n_ranks) + rank);
}

// Writes the ranks' distances and predecessors to the places of their vertices; places from `n_vertices` on
// are left out.  Predecessors are read as the ranks' ids and written as places.
extern "C" __global__ void deal_back(const i32* const* of_distance, const vertex_t* const* of_predecessor,
                                     i64 n_each, i64 n_ranks, i64 n_vertices, i32* distances,
                                     vertex_t* predecessors) {
    constexpr i32 AT_ONCE = 4;
    for (i64 local = global_thread(); local < n_each; local += global_threads()) {
        for (i64 first = 0; first < n_ranks; first += AT_ONCE) {
            i32 distance[AT_ONCE];
            vertex_t predecessor[AT_ONCE];
#pragma unroll
            for (i32 k = 0; k < AT_ONCE; ++k) {
                if (first + k >= n_ranks) continue;
                if (distances) distance[k] = of_distance[first + k][local];
                if (predecessors) predecessor[k] = of_predecessor[first + k][local];
            }
#pragma unroll
            for (i32 k = 0; k < AT_ONCE; ++k) {
                const i64 place = local * n_ranks + first + k;
                if (first + k >= n_ranks || place >= n_vertices) continue;
                if (distances) distances[place] = distance[k];
                if (predecessors) predecessors[place] = place_of(predecessor[k], n_each, n_ranks);
            }
        }
    }
}
