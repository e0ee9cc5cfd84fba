// Gather by shards (runs of vertices with all their in-edges): a block reduces the in-edges of a shard in
// shared memory, then applies its vertices.
//
// gather_shards:
// 1. A block clears the copies of the shard's vertices; each vertex has `factor` copies.
// 2. A thread for each edge, in the order of memory, reduces the message into the copy of its lane, by an
//    atomic in shared memory.
// 3. The lanes of a warp merge the copies of a vertex in log2(factor) steps.
// 4. A thread for each vertex applies the result.
//
// Blocks are persistent and take pieces until none is left.  A shard is one piece, except that a vertex whose
// row has several pieces is a shard of its own; the last block to finish reduces the results of its pieces in
// order.  A launch takes a run of whole shards: all of them, or those of a page, for which only the edges of
// the page have to be on the device.
//
// Invariants: every vertex is in one shard, and every shard has a piece; copies of a shard, factor times its
// vertices, fit into the launch's shared memory.  local_ids[e] is the row of edge e counted from its shard's
// first.  `tickets` are 0 before and after; `next_piece`, which is 0 before a launch and not shared with
// another, assigns the pieces.  Minima, maxima and integers are exact; float sums are reduced in no fixed
// order.
//
// Reference: L. Ma et al., Garaph, USENIX ATC 2017 (shards, replication-based gather; docs/systems.md, G1 to
// G11).
//
// Must agree with: gather_plain in gas_rows.cu.
#include "gas_reduce.cuh"
#include "gas_vertex.cuh"
#include "rows.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 512
#endif
#ifndef RESIDENT_BLOCKS
#define RESIDENT_BLOCKS 2  // blocks on a multiprocessor, which divide its shared memory
#endif
#ifndef COUNTS
#define COUNTS 0  // 1: count the use of the copies
#endif

// Counts that a gather sums over its pieces, with COUNTS.
enum ReplicaCounter {
    FILLED,  // copies after a vertex's first that received a message
    MERGED,  // vertices whose first copy was changed by the others
};

struct Shards {
    const i64* firsts;        // shard s is the vertices firsts[s] to firsts[s + 1] - 1
    const i32* factors;       // copies of each vertex: 1, 2, 4, 8, 16 or 32
    const i64* first_pieces;  // of each shard
    const i32* piece_shards;
    i64 piece_edges;
};

struct Piece {
    i32 shard;
    i64 first;  // vertex
    i32 n_vertices;
    i64 begin, end;  // edges
    i64 first_piece, n_pieces;
};

__device__ __forceinline__ Piece piece_of(const Shards& shards, const edge_t* row_offsets, i64 number) {
    Piece piece;
    piece.shard = shards.piece_shards[number];
    piece.first = shards.firsts[piece.shard];
    const i64 last = shards.firsts[piece.shard + 1];
    piece.n_vertices = static_cast<i32>(last - piece.first);
    piece.first_piece = shards.first_pieces[piece.shard];
    piece.n_pieces = shards.first_pieces[piece.shard + 1] - piece.first_piece;
    const i64 shard_end = row_offsets[last];
    piece.begin = row_offsets[piece.first] + (number - piece.first_piece) * shards.piece_edges;
    piece.end = shard_end - piece.begin > shards.piece_edges ? piece.begin + shards.piece_edges : shard_end;
    return piece;
}

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    name_rows(const edge_t* __restrict__ row_offsets, const i64* __restrict__ firsts,
              const i32* __restrict__ factors, const i64* __restrict__ first_pieces,
              const i32* __restrict__ piece_shards, i64 piece_edges, i64 first_number, i64 n_pieces,
              u16* local_ids) {
    const Shards shards{firsts, factors, first_pieces, piece_shards, piece_edges};
    for (i64 i = blockIdx.x; i < n_pieces; i += gridDim.x) {
        const Piece piece = piece_of(shards, row_offsets, first_number + i);
        const edge_t* ends = row_offsets + piece.first + 1;
        for (i64 edge = piece.begin + threadIdx.x; edge < piece.end; edge += BLOCK_SIZE) {
            const i64 row = lower_bound(ends, piece.n_vertices, static_cast<edge_t>(edge + 1));
            local_ids[edge] = static_cast<u16>(row);
        }
    }
}

// The plain read, which may be slightly stale, saves most edges the atomic, and rejects NaN.
__device__ __forceinline__ void arrive(value_t* copy, value_t value) {
    if (REDUCER != 2 && !better(value, *copy)) return;
    atomic_reduce(copy, value);
}

struct InEdges {
    const vertex_t* column_indices;
    const weight_t* weights;
    const u16* local_ids;
    const value_t* messages;
};

// Reduces this thread's share of the edges [begin, end) into the copies of its lane.
__device__ __forceinline__ void gather_edges(const InEdges& edges, i64 begin, i64 end, i32 factor,
                                             value_t* copies) {
    constexpr i32 AT_ONCE = 4;  // loads in flight
    const i32 shift = __ffs(factor) - 1;
    value_t* own = copies + (lane_id() & (factor - 1));
    i64 edge = begin + threadIdx.x;
    for (; edge + (AT_ONCE - 1) * BLOCK_SIZE < end; edge += AT_ONCE * BLOCK_SIZE) {
        vertex_t neighbor[AT_ONCE];
        i32 local[AT_ONCE];
        weight_t weight[AT_ONCE];
        value_t message[AT_ONCE];
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            neighbor[i] = edges.column_indices[edge + i * BLOCK_SIZE];
            local[i] = edges.local_ids[edge + i * BLOCK_SIZE];
            weight[i] = weight_of(edges.weights, edge + i * BLOCK_SIZE);
        }
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) message[i] = edges.messages[neighbor[i]];
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) arrive(own + (local[i] << shift), gather(message[i], weight[i]));
    }
#pragma unroll 1
    for (; edge < end; edge += BLOCK_SIZE) {
        const value_t message = edges.messages[edges.column_indices[edge]];
        arrive(own + (static_cast<i32>(edges.local_ids[edge]) << shift),
               gather(message, weight_of(edges.weights, edge)));
    }
}

// Reduces all copies of each vertex into the first.
__device__ __forceinline__ void merge_copies(value_t* copies, i32 n_copies, i32 factor,
                                             [[maybe_unused]] u64* replica_counters) {
    if (factor == 1) return;
#if COUNTS
    for (i32 i = threadIdx.x; i < n_copies; i += BLOCK_SIZE) {
        if ((i & (factor - 1)) != 0 && copies[i] != identity()) atomicAdd(&replica_counters[FILLED], 1ull);
    }
    __syncthreads();
#endif
    for (i32 base = static_cast<i32>(threadIdx.x) - lane_id(); base < n_copies; base += BLOCK_SIZE) {
        const i32 i = base + lane_id();
        const value_t merged = group_reduce(i < n_copies ? copies[i] : identity(), factor);
        if (i < n_copies && (i & (factor - 1)) == 0) {
#if COUNTS
            if (copies[i] != merged) atomicAdd(&replica_counters[MERGED], 1ull);
#endif
            copies[i] = merged;
        }
    }
}

// One warp stores the result of a piece; if it is the last piece, lane 0 applies the vertex.
__device__ __forceinline__ void hand_in(const Piece& piece, i64 number, value_t result, value_t* results,
                                        u32* tickets, const Vertices& vertices, Tally& tally) {
    bool is_last = false;
    if (lane_id() == 0) {
        results[number] = result;
        __threadfence();
        is_last = atomicAdd(&tickets[piece.shard], 1u) == static_cast<u32>(piece.n_pieces - 1);
    }
    if (__any_sync(FULL_WARP, is_last) == 0) return;
    __syncwarp();
    __threadfence();
    value_t merged = identity();
    for (i64 i = lane_id(); i < piece.n_pieces; i += WARP) {
        merged = reduce(merged, __ldcg(&results[piece.first_piece + i]));
    }
    merged = group_reduce(merged, WARP);
    if (lane_id() != 0) return;
    tickets[piece.shard] = 0;
    settle(vertices, piece.first, merged, tally);
}

struct ShardArguments : GatherArguments {
    const i64* firsts;
    const i32* factors;
    const i64* first_pieces;
    const i32* piece_shards;
    i64 piece_edges;
    i64 first_number;  // of the launch's pieces
    i64 n_pieces;
    u64* next_piece;
    const u16* local_ids;
    value_t* results;
    u32* tickets;
    i64* cycles;  // cycles[p] receives the duration of piece p, unless null
    u64* replica_counters;
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE, RESIDENT_BLOCKS)
    gather_shards(const ShardArguments given) {
    extern __shared__ u64 shared[];
    __shared__ i64 taken;
    value_t* copies = reinterpret_cast<value_t*>(shared);
    const Shards shards{given.firsts, given.factors, given.first_pieces, given.piece_shards,
                        given.piece_edges};
    const InEdges edges{given.column_indices, given.weights, given.local_ids, given.messages};
    const Vertices vertices = vertices_of(given);
    const i32 thread = static_cast<i32>(threadIdx.x);
    Tally tally;
    for (;;) {
        if (thread == 0) taken = static_cast<i64>(atomicAdd(given.next_piece, 1ull));
        __syncthreads();  // also: the copies of the previous piece have been read
        if (taken >= given.n_pieces) break;
        const i64 number = given.first_number + taken;
        const i64 began = clock64();
        const Piece piece = piece_of(shards, given.row_offsets, number);
        const i32 factor = shards.factors[piece.shard];
        const i32 n_copies = piece.n_vertices * factor;
        for (i32 i = thread; i < n_copies; i += BLOCK_SIZE) copies[i] = identity();
        __syncthreads();
        gather_edges(edges, piece.begin, piece.end, factor, copies);
        __syncthreads();
        merge_copies(copies, n_copies, factor, given.replica_counters);
        __syncthreads();
        if (piece.n_pieces == 1) {
            for (i32 i = thread; i < piece.n_vertices; i += BLOCK_SIZE) {
                settle(vertices, piece.first + i, copies[i * factor], tally);
            }
        } else if (thread < WARP) {
            hand_in(piece, number, copies[0], given.results, given.tickets, vertices, tally);
        }
        if (thread == 0) {
            tally.edges += piece.end - piece.begin;
            if (given.cycles != nullptr) given.cycles[number] = clock64() - began;
        }
    }
    report(given.counters, tally);
}
