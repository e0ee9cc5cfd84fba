// Chooses the direction of the next step of a fused search, on the device, from the totals of the last level.
//
// The work of a push grows with the edges of the frontier, the work of a pull with the vertices that are
// left. Each flag of Direction compares such numbers for one state of the search.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
#pragma once
#include "fused_state.cuh"

// With no more pull work than this, a pull step is cheaper than changing back to push.
#ifndef CHEAP_PULL
#define CHEAP_PULL (1 << 19)
#endif

// Conclusions from the totals for the next step.  Which flags apply depends on where the frontier is.
struct Direction {
    u64 pull_work;  // of a pull step: the vertices left, and an eighth of the bitmap's words
    bool ending;    // so few vertices are left that a pull step also lists those that it finds
    bool many;      // the frontier has so many edges that pulling is cheaper
    bool few;       // the frontier has so few vertices that pushing is cheaper
    bool swell;     // the next frontier may have so many edges that a push should write it to the bitmap
};

// `swelled` says that the edges of the frontier have not been counted.
__device__ __forceinline__ Direction choose_direction(const Arguments& given, bool swelled, const Level& now,
                                                      u64 unexplored, u64 n_unvisited, vertex_t n_words,
                                                      u64 least_pull) {
    const u64 pull_work = n_unvisited + n_words / 8;
    const bool many = static_cast<float>(now.edges) * given.alpha > static_cast<float>(unexplored) &&
                      now.edges > least_pull;
    const bool ending = n_unvisited < static_cast<u64>(n_words);
    bool few = !ending && pull_work > CHEAP_PULL &&
               static_cast<float>(now.vertices) * given.beta < static_cast<float>(pull_work);
    // On average, an edge leads to a vertex with `neighbor_degree` edges: in most graphs, to hubs.
    const float coming = min(static_cast<float>(swelled ? now.vertices : now.edges) * given.neighbor_degree,
                             static_cast<float>(unexplored));
    bool swell = !ending && coming * given.alpha > static_cast<float>(unexplored) &&
                 coming > static_cast<float>(least_pull);
    // A queue may receive a vertex for each edge; the bitmap has room for any number.
    swell |= !swelled && now.edges > given.queue_capacity;
    if (swelled && swell) few = false;
    return {pull_work, ending, many, few, swell};
}
