// Maintains the state of a vertex program between iterations: messages, and the active vertices as flags or
// as a queue.
//
// - offer_all: computes the messages before the first iteration.
// - commit_rows, settle_queue: end a synchronous step; the new messages replace the old ones.
// - flags_to_queue, queue_to_flags: convert between the two forms of the active vertices.
//
// Invariants: flags are 0 or 1.  A queue holds each active vertex once, those with short rows of out-edges at
// the front of the buffer of n and those with long rows at the back; the counters LIGHT and HEAVY are the
// lengths of the two parts.  The counters are 0 before a kernel, and `claimed` is 0 between iterations.
//
// Reference: L. Ma et al., Garaph, USENIX ATC 2017.
//
// Must agree with: active_queue in tests/kernel_references.py, and for values and messages with
// tests/gas_reference.py.
#include "gas_queue.cuh"

// Before the first iteration: computes all messages, the sum of `total` and the number of active vertices.
extern "C" __global__ void offer_all(i64 n_vertices, value_t* values, value_t* messages, u8* active,
                                     const degree_t* __restrict__ degrees,
                                     const edge_t* __restrict__ out_offsets, u64* counters) {
    const Vertices vertices{values, messages, active, degrees, out_offsets, nullptr, 0};
    Tally tally;
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        offer(vertices, v, values[v], active[v] != 0, tally);
    }
    __syncwarp();
    report(counters, tally);
}

// Ends a synchronous step of the listed rows: their new messages replace the old ones.  Hubs are not in the
// lists, but are still marked.
extern "C" __global__ void commit_rows(const vertex_t* __restrict__ rows, const i64* __restrict__ begins,
                                       const u64* __restrict__ sizes, i64 n_bins,
                                       const vertex_t* __restrict__ hubs, i64 n_hubs, u8* marks,
                                       const value_t* new_messages, value_t* messages) {
    for (i64 bin = 0; bin < n_bins; ++bin) {
        for (i64 i = global_thread(); i < static_cast<i64>(sizes[bin]); i += global_threads()) {
            const i64 v = rows[begins[bin] + i];
            messages[v] = new_messages[v];
        }
    }
    for (i64 i = global_thread(); i < n_hubs; i += global_threads()) {
        const i64 v = hubs[i];
        if (marks[v] != 0) messages[v] = new_messages[v];
        marks[v] = 0;
    }
}

extern "C" __global__ void flags_to_queue(const edge_t* __restrict__ out_offsets, i64 n_vertices,
                                          const u8* __restrict__ active, vertex_t* queue, u64* counters) {
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        if (active[v] != 0) append(out_offsets, static_cast<vertex_t>(v), n_vertices, queue, counters);
    }
}

// Before the call, `active` is 0.
extern "C" __global__ void queue_to_flags(const vertex_t* __restrict__ queue, i64 n_vertices,
                                          const u64* __restrict__ sizes, u8* active) {
    const i64 n_queued = static_cast<i64>(sizes[LIGHT] + sizes[HEAVY]);
    for (i64 i = global_thread(); i < n_queued; i += global_threads()) {
        active[queued(queue, n_vertices, sizes, i)] = 1;
    }
}

// Ends a push step: the queued vertices offer their new messages and can be claimed again.
extern "C" __global__ void settle_queue(const vertex_t* __restrict__ queue, i64 n_vertices, u64* counters,
                                        const value_t* __restrict__ values, value_t* messages,
                                        const degree_t* __restrict__ degrees,
                                        const edge_t* __restrict__ out_offsets, u32* claimed) {
    const i64 n_queued = static_cast<i64>(counters[LIGHT] + counters[HEAVY]);
    i64 scout = 0;
    for (i64 i = global_thread(); i < n_queued; i += global_threads()) {
        const vertex_t v = queued(queue, n_vertices, counters, i);
        messages[v] = scatter(values[v], SCATTER_ARGUMENTS == 2 ? degrees[v] : 0);
        claimed[v / WARP] = 0;  // all of the word's vertices are in the queue
        scout += degree(out_offsets, v);
    }
    __syncwarp();
    count(counters, SCOUT, scout);
}
