// Hands items of blocks in host memory to the CPU, and takes the values that it offers (LargeGraph).
//
// 1. lend_items moves items that wait for a block to a list of vertices and messages.
// 2. The CPU follows their edges, and offers each neighbour the best value that it received, if that may
//    improve the neighbour's own.
// 3. take_offers improves the values; all items of a vertex that becomes active then wait for their blocks.
//    recount_waiting in gas_blocks.cu counts them.
//
// Invariants.  Both kernels run between the launches of gas_blocks.cu.  An item that is lent no longer waits,
// and enters again if its vertex improves.  Offers are minima or maxima, so they may be taken late or twice.
//
// Reference: Y. Zhang et al., LargeGraph, ACM TACO 18(4), 2021 (docs/systems.md, L5 and L9).
//
// Must agree with: converge in gas_blocks.cu, for the values.
#include "gas_blocks.cuh"

struct LentArguments : BlocksArguments {
    vertex_t* vertices;
    value_t* messages;  // of the vertices that are lent, or offers to the vertices
    u64* n_lent;        // 0 before a call; may exceed `most`
    i64 most;           // entries of the list
    i64 block;
};

extern "C" __global__ void lend_items(const LentArguments given) {
    const i64 first = given.first_items[given.block];
    const i64 after = given.first_items[given.block + 1];
    u64* const counts = counts_of(given, given.block);
    for (i64 word = first / WARP + global_thread(); word * WARP < after; word += global_threads()) {
        u32 lent = 0;
        u64 n_edges = 0;
        for (u32 found = waiting_between(given, word, first, after); found != 0; found &= found - 1) {
            const u64 place = atomicAdd(given.n_lent, 1ull);
            if (place >= static_cast<u64>(given.most)) break;
            const i32 bit = __ffs(static_cast<i32>(found)) - 1;
            const Item item = item_at(given, word * WARP + bit - given.block, given.block);
            const degree_t degree = SCATTER_ARGUMENTS == 2 ? given.degrees[item.vertex] : 0;
            given.vertices[place] = static_cast<vertex_t>(item.vertex);
            given.messages[place] = scatter(given.values[item.vertex], degree);
            n_edges += static_cast<u64>(item.end - item.begin);
            lent |= 1u << bit;
        }
        if (lent == 0) continue;
        atomicAnd(&given.waiting[word], ~lent);
        atomicAdd(&counts[WAITING], 0 - static_cast<u64>(__popc(lent)));
        atomicAdd(&counts[WAITING_EDGES], 0 - n_edges);
    }
}

extern "C" __global__ void take_offers(const LentArguments given) {
    for (i64 i = global_thread(); i < given.most; i += global_threads()) {
        const i64 v = given.vertices[i];
        const value_t value = given.messages[i];
        if (!better(value, given.values[v])) continue;
        const value_t before = atomic_reduce(&given.values[v], value);
        if (better(value, before) && is_active(before, value)) let_wait(given, v);
    }
}
