// The direction of each step of a fused search, chosen on the device from the totals of the last level.
//
// Reference: S. Beamer, K. Asanovic, D. Patterson, Direction-Optimizing Breadth-First Search, SC 2012.
#pragma once
#include "fused_state.cuh"

// With fewer vertices left than this, a pull step is cheaper than changing back to push.
#ifndef CHEAP_PULL
#define CHEAP_PULL (1 << 19)
#endif

// Where the frontier is between two levels.
enum Phase {
    QUEUED,   // in the queues; the next step pushes
    MAPPED,   // in the bitmap; the next step pulls
    SWELLED,  // in the bitmap, into which it was pushed without counting its edges; the next step pulls
};

// What to do before the next step and in it.
struct Direction {
    u64 pull_work;  // vertices and words that a pull step would read
    bool ending;    // with so few vertices left, a pull step also lists those that it finds
    bool to_map;    // a queued frontier has so many edges that it moves to the bitmap, to be pulled
    bool to_queue;  // a mapped frontier has so few vertices that it moves to the queues, to be pushed
    bool swell;     // the next frontier may have so many edges that a push writes it to the bitmap
};

__device__ __forceinline__ Direction choose_direction(const Arguments& given, Phase phase, const Level& now,
                                                      u64 unexplored, u64 n_unvisited, u64 n_words,
                                                      u64 least_pull) {
    Direction next;
    // A pull step over few vertices costs no more than changing back to push.
    next.pull_work = n_unvisited + n_words / 8;
    next.ending = n_unvisited < n_words;
    next.to_map = phase == QUEUED &&
                  static_cast<float>(now.edges) * given.alpha > static_cast<float>(unexplored) &&
                  now.edges > least_pull;
    // On average, an edge leads to a vertex with `neighbor_degree` edges: in most graphs, to hubs.
    const u64 ends = phase == SWELLED ? now.vertices : now.edges;
    const float coming =
        min(static_cast<float>(ends) * given.neighbor_degree, static_cast<float>(unexplored));
    next.swell = !next.ending && coming * given.alpha > static_cast<float>(unexplored) &&
                 coming > static_cast<float>(least_pull);
    // A queue may receive a vertex for each edge; the bitmap has room for any number.
    next.swell |= phase != SWELLED && now.edges > given.queue_capacity;
    next.to_queue = phase != QUEUED && !(phase == SWELLED && next.swell) && !next.ending &&
                    next.pull_work > CHEAP_PULL &&
                    static_cast<float>(now.vertices) * given.beta < static_cast<float>(next.pull_work);
    return next;
}
