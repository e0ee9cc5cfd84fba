// Generates edges of Graph500's Kronecker (R-MAT) graph: edge i is a hash of i, so any range of edges can be
// generated alone.
//
// For each bit of the ids, a random draw chooses one of the four quadrants of the adjacency matrix; `label`
// then permutes the ids.
//
// Invariant: `label` is one-to-one on [0, 2^scale), as `factor` is odd.
//
// Reference: D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: A Recursive Model for Graph Mining, SDM 2004;
// G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014 (the hash).
//
// Must agree with: rapids_trav/generators.py, bit by bit.
#include "common.cuh"

// SplitMix64's finaliser.
__device__ __forceinline__ u64 mix(u64 counter) {
    u64 x = counter * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

__device__ __forceinline__ vertex_t label(u64 vertex, i64 scale, u64 factor, u64 term) {
    const u64 mask = (1ull << scale) - 1;
    const i64 half = (scale + 1) / 2;
    for (i32 round = 0; round < 4; ++round) {
        vertex = (vertex * factor + term) & mask;
        vertex ^= vertex >> half;
    }
    return static_cast<vertex_t>(vertex);
}

// Generates the edges first_edge, first_edge + 1, ...  For each bit, an edge falls into the lower half of the
// matrix if a draw exceeds `to_lower`, and into the right half if another draw exceeds that half's threshold.
extern "C" __global__ void rmat_edges(i64 first_edge, i64 n_edges, i64 scale, u64 stream, u64 to_lower,
                                      u64 upper_to_right, u64 lower_to_right, u64 factor, u64 term,
                                      vertex_t* src, vertex_t* dst) {
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) {
        const u64 counter = static_cast<u64>(first_edge + i) * static_cast<u64>(scale) + (1ull << scale);
        u64 u = 0;
        u64 v = 0;
        for (i64 bit = 0; bit < scale; ++bit) {
            const u64 draw = mix(counter + static_cast<u64>(bit) ^ stream);
            const bool lower = draw >> 32 > to_lower;
            const bool right = (draw & 0xffffffffull) > (lower ? lower_to_right : upper_to_right);
            u |= static_cast<u64>(lower) << bit;
            v |= static_cast<u64>(right) << bit;
        }
        src[i] = label(u, scale, factor, term);
        dst[i] = label(v, scale, factor, term);
    }
}
