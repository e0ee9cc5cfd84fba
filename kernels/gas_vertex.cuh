// The apply step of gather, apply and scatter: a vertex takes its new value, offers its new message, and is
// counted.
#pragma once
#include "gas.cuh"

// Two sums in float64 that follow the counters of level.cuh in an iteration's row.
[[maybe_unused]] constexpr i32 RESIDUAL_SUM = 7;  // of the changes of the values
[[maybe_unused]] constexpr i32 TOTAL_SUM = 8;     // of the program's total, for the next iteration
[[maybe_unused]] constexpr i32 ROW_WORDS = 9;

// The arrays of the vertices, each of length n.  `messages` are the new ones; a synchronous iteration gathers
// from a separate array.
struct Vertices {
    value_t* values;
    value_t* messages;
    u8* active;
    const degree_t* degrees;
    const edge_t* out_offsets;
    const double* parameters;
    double total;
};

// Arguments common to all kernels that gather and apply; the struct of each kernel adds its own.
struct GatherArguments {
    const edge_t* row_offsets;  // of the in-edges
    const vertex_t* column_indices;
    const weight_t* weights;
    const value_t* messages;
    value_t* values;
    value_t* new_messages;
    u8* active;
    const degree_t* degrees;
    const edge_t* out_offsets;
    const double* parameters;
    const double* before;  // the counters of the last iteration
    u64* counters;
};

__device__ __forceinline__ Vertices vertices_of(const GatherArguments& given) {
    return {given.values,      given.new_messages, given.active,           given.degrees,
            given.out_offsets, given.parameters,   given.before[TOTAL_SUM]};
}

// Counts and sums of one thread.
struct Tally {
    i64 active = 0;
    i64 scout = 0;
    i64 edges = 0;
    double residual = 0;
    double total = 0;
};

__device__ __forceinline__ degree_t degree_of(const Vertices& vertices, i64 v) {
    const bool needed = SCATTER_ARGUMENTS == 2 || TOTAL_ARGUMENTS == 2;
    return needed ? vertices.degrees[v] : 0;
}

// Offers the message of a vertex with `value`, and counts the vertex if it `is` active.
__device__ __forceinline__ void offer(const Vertices& vertices, i64 v, value_t value, bool is, Tally& tally) {
    const degree_t own_degree = degree_of(vertices, v);
    vertices.messages[v] = scatter(value, own_degree);
    if (TOTAL_ARGUMENTS > 0) tally.total += in_total(value, own_degree);
    if (is) {
        tally.active += 1;
        tally.scout += degree(vertices.out_offsets, static_cast<vertex_t>(v));
    }
}

__device__ __forceinline__ void settle(const Vertices& vertices, i64 v, value_t gathered, Tally& tally) {
    const value_t value = vertices.values[v];
    const value_t next = apply(value, gathered, vertices.total, vertices.parameters);
    const bool is = is_active(value, next);
    vertices.values[v] = next;
    vertices.active[v] = is;
    if (RESIDUAL) tally.residual += fabs(static_cast<double>(next) - static_cast<double>(value));
    offer(vertices, v, next, is, tally);
}

__device__ __forceinline__ void add_sum(u64* counters, i32 which, double value) {
    for (i32 step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(FULL_WARP, value, step);
    if (lane_id() == 0 && value != 0) atomicAdd(reinterpret_cast<double*>(counters) + which, value);
}

// Adds the threads' counts and sums to an iteration's row; whole warps call it.
__device__ __forceinline__ void report(u64* counters, const Tally& tally) {
    count(counters, FOUND, tally.active);
    count(counters, SCOUT, tally.scout);
    count(counters, EDGES, tally.edges);
    if (RESIDUAL) add_sum(counters, RESIDUAL_SUM, tally.residual);
    if (TOTAL_ARGUMENTS > 0) add_sum(counters, TOTAL_SUM, tally.total);
}
