// Gather and apply, row by row: the number of threads that reduce a row of in-edges depends on its length.
//
// 1. list_rows sorts the rows that gather (all, or the marked ones) into bins by their length.
// 2. gather_rows reduces a row with one thread, eight threads or a warp.  A hub's row is cut into pieces, one
//    for each warp, and the last warp to finish reduces the results of the pieces in order, so that a sum has
//    the same value in every run.
// 3. The thread that has the sum applies it (settle): only new values and messages are written to memory.
//
// gather_ahead runs many iterations in one cooperative launch, because launching a kernel takes longer than
// an iteration over a small graph.  It stops after the same iteration as the host would, by the sum of
// changes.
//
// Every edge looks up a message of 4 or 8 bytes, for which the L2 cache moves a sector of 32 bytes.  If
// vertices are numbered by degree, most edges lead to the first few, so each block keeps the messages of the
// first n_near vertices in shared memory.  Columns are read with a hint that they are used once, so that they
// do not displace messages from the cache.
//
// Invariants: a row is in one list, once.  In a synchronous iteration, `messages` are those of the previous
// iteration; in an asynchronous one, they are being written and may be old or new, and n_near is 0.  marks[v]
// is 0 or 1; list_rows clears the marks of the rows that it lists, except hubs, whose marks remain until
// commit_rows (gas_state.cu).
//
// Reference: L. Ma et al., Garaph, USENIX ATC 2017 (gather-apply-scatter); S. Hong et al., Accelerating CUDA
// Graph Algorithms at Maximum Warp, PPoPP 2011 (threads by degree).
//
// Must agree with: gather_plain, which has a thread for each row.
#include "gas_reduce.cuh"
#include "gas_vertex.cuh"
#include "grid_barrier.cuh"

#ifndef BLOCK_SIZE
#define BLOCK_SIZE 256
#endif
#ifndef GATHER_BLOCK
#define GATHER_BLOCK 512  // threads of gather_rows
#endif
#ifndef GATHER_RESIDENT
#define GATHER_RESIDENT 2  // blocks of gather_rows on a multiprocessor, which divide its shared memory
#endif
#ifndef PIECE_EDGES
#define PIECE_EDGES 2048  // a row with more edges is cut into pieces of this size
#endif

constexpr i32 WARPS = BLOCK_SIZE / WARP;
constexpr i32 GROUP = 8;
constexpr i32 AT_ONCE = 4;  // loads of messages in flight in a thread, beside as many of columns
enum Bin { BY_THREAD, BY_GROUP, BY_WARP, BY_PIECES, BINS };

__device__ __forceinline__ i32 bin_of(i64 degree) {
    if (degree < 8) return BY_THREAD;
    if (degree < 64) return BY_GROUP;
    return degree <= PIECE_EDGES ? BY_WARP : BY_PIECES;
}

// Appends the rows from `first_row` on to `rows`, bin b from begins[b] on, and adds to sizes[b]; only counts
// if `rows` is null.  Lists the marked and the active rows; all rows if both arrays are null.
extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    list_rows(const edge_t* __restrict__ row_offsets, i64 first_row, i64 n_rows, u8* marks,
              const u8* __restrict__ active, vertex_t* rows, const i64* __restrict__ begins, u64* sizes) {
    __shared__ i32 warp_places[WARPS][BINS];
    __shared__ u64 places[BINS];
    const i32 thread = static_cast<i32>(threadIdx.x);
    const i32 warp = thread / WARP;
    for (i64 tile = static_cast<i64>(blockIdx.x) * BLOCK_SIZE; tile < n_rows; tile += global_threads()) {
        const i64 v = first_row + tile + thread;
        bool listed = tile + thread < n_rows;
        if (listed && marks != nullptr) listed = marks[v] != 0 || (active != nullptr && active[v] != 0);
        const i32 bin = listed ? bin_of(degree(row_offsets, static_cast<vertex_t>(v))) : BINS;
        if (listed && marks != nullptr) marks[v] = bin == BY_PIECES;
        i32 rank = 0;
        for (i32 b = 0; b < BINS; ++b) {
            const u32 same = __ballot_sync(FULL_WARP, bin == b);
            if (bin == b) rank = __popc(same & lanes_below());
            if (lane_id() == 0) warp_places[warp][b] = __popc(same);
        }
        __syncthreads();
        if (thread < BINS) {
            i32 sum = 0;
            for (i32 w = 0; w < WARPS; ++w) {
                const i32 size = warp_places[w][thread];
                warp_places[w][thread] = sum;
                sum += size;
            }
            places[thread] = sum > 0 ? atomicAdd(&sizes[thread], static_cast<u64>(sum)) : 0;
        }
        __syncthreads();
        if (listed && rows != nullptr) {
            rows[begins[bin] + static_cast<i64>(places[bin]) + warp_places[warp][bin] + rank] =
                static_cast<vertex_t>(v);
        }
        __syncthreads();
    }
}

// Messages of all vertices, and a copy of the first ones in shared memory.
struct Messages {
    const value_t* all;
    const value_t* near;
    i64 n_near;

    __device__ __forceinline__ value_t of(vertex_t v) const { return v < n_near ? near[v] : all[v]; }
};

// The in-edges and the messages that arrive over them.
struct Edges {
    const edge_t* row_offsets;
    const vertex_t* column_indices;
    const weight_t* weights;
    Messages messages;

    __device__ __forceinline__ value_t arriving(i64 edge) const {
        return gather(messages.of(column_indices[edge]), weight_of(weights, edge));
    }
};

// Returns what thread `lane` of `lanes` threads gathers from its share of the `n` edges from `begin` on.
// Columns come from memory, and most messages from the L2 cache: the columns of a turn are read before the
// messages of the turn before it.
__device__ __forceinline__ value_t share(const Edges& edges, i64 begin, i32 n, i32 lane, i32 lanes) {
    constexpr vertex_t NONE = static_cast<vertex_t>(-1);
    const vertex_t* const columns = edges.column_indices + begin;
    vertex_t coming[AT_ONCE];
#pragma unroll
    for (i32 i = 0; i < AT_ONCE; ++i) {
        coming[i] = lane + i * lanes < n ? __ldcs(columns + lane + i * lanes) : NONE;
    }
    value_t sum = identity();
    for (i32 edge = lane; edge < n; edge += AT_ONCE * lanes) {
        vertex_t neighbor[AT_ONCE];
        value_t message[AT_ONCE];
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            neighbor[i] = coming[i];
            const i32 next = edge + (AT_ONCE + i) * lanes;
            coming[i] = next < n ? __ldcs(columns + next) : NONE;
        }
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            message[i] = neighbor[i] == NONE ? identity() : edges.messages.of(neighbor[i]);
        }
#pragma unroll
        for (i32 i = 0; i < AT_ONCE; ++i) {
            if (neighbor[i] != NONE) {
                sum = reduce(sum, gather(message[i], weight_of(edges.weights, begin + edge + i * lanes)));
            }
        }
    }
    return sum;
}

// Gathers the rows of one bin with groups of LANES threads.  A group takes up to as many rows as it has
// lanes, from all over the bin, in which long rows come first: each lane loads the bounds of one, all gather
// one row after another, and each lane applies one sum.
template <i32 LANES>
__device__ __forceinline__ void gather_bin(const Edges& edges, const vertex_t* rows, i64 size,
                                           const Vertices& vertices, Tally& tally) {
    const i32 lane = lane_id() & (LANES - 1);
    const i32 leader = lane_id() - lane;
    const i64 groups = global_threads() / LANES;
    const i64 each = (size + groups - 1) / groups;
    const i32 most = each < LANES ? static_cast<i32>(each) : LANES;
    for (i64 first = global_thread() / LANES; first < size; first += groups * most) {
        const i64 left = (size - first + groups - 1) / groups;
        const i32 n = left < most ? static_cast<i32>(left) : most;
        const i64 v = lane < n ? rows[first + lane * groups] : 0;
        const i64 begin = lane < n ? edges.row_offsets[v] : 0;
        const i32 n_own = lane < n ? static_cast<i32>(edges.row_offsets[v + 1] - begin) : 0;
        value_t gathered = identity();
        for (i32 i = 0; i < n; ++i) {
            const i64 from = __shfl_sync(group_of(LANES), begin, leader + i);
            const i32 degree = __shfl_sync(group_of(LANES), n_own, leader + i);
            const value_t sum = group_reduce(share(edges, from, degree, lane, LANES), LANES);
            if (lane == i) gathered = sum;
        }
        if (lane < n) {
            tally.edges += n_own;
            settle(vertices, v, gathered, tally);
        }
    }
}

// Piece p belongs to hub piece_hubs[p], whose pieces begin at first_pieces; `tickets` are 0 before and after.
struct Pieces {
    const i32* piece_hubs;
    const vertex_t* hubs;
    const i32* first_pieces;
    value_t* results;
    u32* tickets;
    const u8* marks;  // null: every hub gathers
};

__device__ __forceinline__ void gather_pieces(const Edges& edges, const Pieces& pieces, i64 n_pieces,
                                              const Vertices& vertices, Tally& tally) {
    const i32 lane = lane_id();
    for (i64 piece = global_thread() / WARP; piece < n_pieces; piece += global_threads() / WARP) {
        const i32 hub = pieces.piece_hubs[piece];
        const i64 v = pieces.hubs[hub];
        if (pieces.marks != nullptr && pieces.marks[v] == 0) continue;
        const i32 first = pieces.first_pieces[hub];
        const i32 after = pieces.first_pieces[hub + 1];
        const i64 begin = edges.row_offsets[v] + (piece - first) * PIECE_EDGES;
        const i64 left = edges.row_offsets[v + 1] - begin;
        const i32 n = left < PIECE_EDGES ? static_cast<i32>(left) : PIECE_EDGES;
        const value_t sum = group_reduce(share(edges, begin, n, lane, WARP), WARP);
        bool is_last = false;
        if (lane == 0) {
            tally.edges += n;
            pieces.results[piece] = sum;
            __threadfence();
            is_last = atomicAdd(&pieces.tickets[hub], 1u) == static_cast<u32>(after - first - 1);
        }
        if (!__any_sync(FULL_WARP, is_last)) continue;
        __threadfence();
        value_t merged = identity();
        for (i32 i = first + lane; i < after; i += WARP) merged = reduce(merged, __ldcg(&pieces.results[i]));
        merged = group_reduce(merged, WARP);
        if (lane == 0) {
            pieces.tickets[hub] = 0;
            settle(vertices, v, merged, tally);
        }
    }
}

struct RowArguments : GatherArguments {
    i64 n_near;
    const vertex_t* rows;
    const i64* begins;
    const u64* sizes;
    const i32* piece_hubs;
    const vertex_t* hubs;
    const i32* first_pieces;
    i64 n_pieces;
    value_t* results;
    u32* tickets;
    const u8* marks;
};

// Gathers `messages` at all listed rows and applies; the whole block calls it.
__device__ __forceinline__ void gather_listed(const RowArguments& given, const value_t* messages,
                                              const Vertices& vertices, u64* counters) {
    const vertex_t* const rows = given.rows;
    const i64* const begins = given.begins;
    const u64* const sizes = given.sizes;
    const i64 n_near = given.n_near;
    extern __shared__ double near_room[];
    value_t* const near = reinterpret_cast<value_t*>(near_room);
    for (i64 v = threadIdx.x; v < n_near; v += GATHER_BLOCK) near[v] = messages[v];
    __syncthreads();
    const Edges edges{given.row_offsets, given.column_indices, given.weights, {messages, near, n_near}};
    const Pieces pieces{given.piece_hubs, given.hubs,    given.first_pieces,
                        given.results,    given.tickets, given.marks};
    Tally tally;
    gather_pieces(edges, pieces, given.n_pieces, vertices, tally);
    gather_bin<WARP>(edges, rows + begins[BY_WARP], static_cast<i64>(sizes[BY_WARP]), vertices, tally);
    gather_bin<GROUP>(edges, rows + begins[BY_GROUP], static_cast<i64>(sizes[BY_GROUP]), vertices, tally);
    gather_bin<1>(edges, rows + begins[BY_THREAD], static_cast<i64>(sizes[BY_THREAD]), vertices, tally);
    __syncwarp();
    report(counters, tally);
}

extern "C" __global__ void __launch_bounds__(GATHER_BLOCK, GATHER_RESIDENT)
    gather_rows(const RowArguments given) {
    gather_listed(given, given.messages, vertices_of(given), given.counters);
}

struct AheadArguments : RowArguments {
    i64 n_iterations;  // each with a row of counters, one after another
    double tolerance;
    u32* barrier;  // 0 before
};

// Returns whether an iteration ends the run, by the same rule as `iterate` in run.py.
__device__ __forceinline__ bool has_ended(const u64* counters, double tolerance) {
    return __ldcg(&counters[FOUND]) == 0 ||
           __ldcg(reinterpret_cast<const double*>(counters) + RESIDUAL_SUM) < tolerance;
}

// Iterates until the run has ended; iterations alternate between the two arrays of messages.
extern "C" __global__ void __launch_bounds__(GATHER_BLOCK, GATHER_RESIDENT)
    gather_ahead(const AheadArguments given) {
    value_t* messages = const_cast<value_t*>(given.messages);
    Vertices vertices = vertices_of(given);
    u64* counters = given.counters;
    u32 epoch = 0;
    for (i64 i = 0; i < given.n_iterations; ++i) {
        gather_listed(given, messages, vertices, counters);
        __syncthreads();
        if (threadIdx.x == 0) arrive_and_wait(given.barrier, epoch);
        __syncthreads();
        if (has_ended(counters, given.tolerance)) return;
        vertices.total = __ldcg(reinterpret_cast<const double*>(counters) + TOTAL_SUM);
        counters += ROW_WORDS;
        swap(messages, vertices.messages);
    }
}

struct PlainArguments : GatherArguments {
    i64 first_row;
    i64 n_rows;
    const u8* marks;
};

// Gathers the rows from `first_row` on, or only the marked ones if `marks` is not null.
extern "C" __global__ void gather_plain(const PlainArguments given) {
    const edge_t* const row_offsets = given.row_offsets;
    const u8* const marks = given.marks;
    const Edges edges{row_offsets, given.column_indices, given.weights, {given.messages, nullptr, 0}};
    const Vertices vertices = vertices_of(given);
    const i64 after = given.first_row + given.n_rows;
    Tally tally;
    for (i64 v = given.first_row + global_thread(); v < after; v += global_threads()) {
        if (marks != nullptr && marks[v] == 0) continue;
        value_t gathered = identity();
        for (i64 edge = row_offsets[v]; edge < row_offsets[v + 1]; ++edge) {
            gathered = reduce(gathered, edges.arriving(edge));
        }
        tally.edges += degree(row_offsets, static_cast<vertex_t>(v));
        settle(vertices, v, gathered, tally);
    }
    __syncwarp();
    report(given.counters, tally);
}
