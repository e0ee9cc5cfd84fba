// Work on bitmaps of the vertices word by word: distribution of the words over warps, distances for whole
// words, and conversion between a bitmap and the queues of a push step.
#pragma once
#include "fused_push.cuh"

constexpr i32 TILE_WORDS = 8;
constexpr i32 RUN_SHIFT = 3;

// Distribution of the words of the bitmap over the warps: in runs of 2^shift neighbouring words, every
// n_warps-th run to the same warp.  Work is uneven along the bitmap (with vertices in order of degree all
// hubs are at its beginning), so runs are short; but not too short, as neighbouring words are read together.
struct Deal {
    vertex_t n_warps;
    i32 shift;

    // The k-th word of a warp.
    __device__ __forceinline__ vertex_t word(vertex_t warp, u32 k) const {
        return ((warp + static_cast<vertex_t>(k >> shift) * n_warps) << shift) +
               static_cast<vertex_t>(k & ((1u << shift) - 1));
    }
};

// TILE_WORDS of a warp's words, at equal distances from each other.
struct Tile {
    vertex_t first;   // vertex of the first word's first bit
    vertex_t stride;  // vertices from a word to the next

    __device__ __forceinline__ Tile(const Deal& deal, vertex_t warp, u32 k)
        : first(deal.word(warp, k) * 32), stride(deal.shift == 0 ? deal.n_warps * 32 : 32) {}

    __device__ __forceinline__ vertex_t vertex(u32 local) const {
        return first + static_cast<vertex_t>(local / 32) * stride + static_cast<vertex_t>(local & 31);
    }
};
static_assert(TILE_WORDS == 1 << RUN_SHIFT, "a tile is a run of words, or of single words");

__device__ __forceinline__ Deal deal_words(vertex_t n_words) {
    const vertex_t n_warps = static_cast<vertex_t>(gridDim.x) * WARPS;
    return Deal{n_warps, n_words / n_warps < 16 ? 0 : RUN_SHIFT};
}

__device__ __forceinline__ vertex_t dealt_warp() {
    return static_cast<vertex_t>(warp_in_block()) * gridDim.x + blockIdx.x;
}

// Lists the positions, in the tile, of the set bits of the TILE_WORDS words held by the lanes from
// `first_lane` on; returns their number.
__device__ __forceinline__ u32 list_bits(u32 word, u32 first_lane, u8* list) {
    u32 size = 0;
#pragma unroll
    for (i32 k = 0; k < TILE_WORDS; ++k) {
        const u32 bits = __shfl_sync(FULL_WARP, word, first_lane + k);
        if (bits >> lane_id() & 1) {
            list[size + __popc(bits & lanes_below())] = static_cast<u8>(k * 32 + lane_id());
        }
        size += __popc(bits);
    }
    __syncwarp();
    return size;
}

// Queues the vertices whose bits are set; each lane holds the warp's word number `first` plus its lane.
template <class Queue>
__device__ void queue_bits(const Graph& graph, u32 bits, const Deal& deal, vertex_t warp, u32 first, u8* list,
                           const Queue& queue, Tally& tally) {
    const u32 busy = __ballot_sync(FULL_WARP, bits);
    for (u32 first_lane = 0; first_lane < WARP; first_lane += TILE_WORDS) {
        if (!(busy >> first_lane & ((1u << TILE_WORDS) - 1))) continue;
        const Tile tile(deal, warp, first + first_lane);
        const u32 size = list_bits(bits, first_lane, list);
        for (u32 at = lane_id(); at - lane_id() < size; at += WARP) {
            const bool fresh[1] = {at < size};
            const vertex_t v[1] = {tile.vertex(fresh[0] ? list[at] : list[0])};
            const edge_t begin[1] = {graph.reached_offsets()[v[0]]};
            const edge_t degree[1] = {graph.reached_offsets()[v[0] + 1] - begin[0]};
            if (fresh[0]) tally.edges += degree[0];
            queue.append(fresh, v, begin, degree);
        }
        __syncwarp();
    }
}

// Four bits as the bytes of a word: 0xff for each that is set.
__device__ __forceinline__ u32 bytes_of(u32 bits) {
    return ((bits & 15) * 0x00204081u & 0x01010101u) * 0xff;
}

// Records the distances of the vertices in a warp's words, from number `first` on: `depth` for the vertices
// found, one less for those claimed before.  Each lane holds one word's bits; `kept` has the vertices that
// have a distance already.  The bytes of neighbouring vertices are written together, eight by a lane.
__device__ __forceinline__ void measure_words(const State& state, const Deal& deal, vertex_t warp, u32 first,
                                              u32 kept, u32 claimed, u32 found, i32 depth) {
    const u32 here = static_cast<u32>(min(depth, FAR)) * 0x01010101u;
    const u32 before = static_cast<u32>(min(depth - 1, FAR)) * 0x01010101u;
    const u32 lane = lane_id();
    const u32 busy = __ballot_sync(FULL_WARP, claimed | found);
    for (u32 first_lane = 0; first_lane < WARP; first_lane += TILE_WORDS) {
        if (!(busy >> first_lane & ((1u << TILE_WORDS) - 1))) continue;
        const u32 source = first_lane + lane / 4;
        const u32 shift = lane % 4 * 8;
        const u32 now = __shfl_sync(FULL_WARP, found, source) >> shift & 255;
        const u32 last = __shfl_sync(FULL_WARP, claimed, source) >> shift & 255;
        const u32 stay = __shfl_sync(FULL_WARP, kept, source) >> shift & 255;
        if (!(now | last)) continue;
        const vertex_t v = Tile(deal, warp, first + first_lane).vertex(8 * lane);
        uint2* const place = reinterpret_cast<uint2*>(state.near + v);
        const uint2 old = stay ? *place : uint2{};
        const auto blend = [&](u32 bytes, u32 at) {
            const u32 mine = bytes_of(now >> at);
            const u32 theirs = bytes_of(last >> at);
            return (bytes & ~(mine | theirs)) | (here & mine) | (before & theirs);
        };
        *place = make_uint2(blend(old.x, 0), blend(old.y, 4));
        if (depth < FAR) continue;
        for (u32 bits = now; bits; bits &= bits - 1) state.distance[v + __ffs(bits) - 1] = depth;
        if (depth == FAR) continue;
        for (u32 bits = last; bits; bits &= bits - 1) state.distance[v + __ffs(bits) - 1] = depth - 1;
    }
}

// Completes a push step to a bitmap: its vertices become visited, and get their distance.
__device__ void settle_map(const State& state, const u32* map, vertex_t n_words, i32 depth) {
    const vertex_t warp = dealt_warp();
    const Deal deal = deal_words(n_words);
    for (u32 first = 0; deal.word(warp, first) < n_words; first += WARP) {
        const vertex_t word = deal.word(warp, first + lane_id());
        const u32 claimed = word < n_words ? map[word] : 0;
        const u32 kept = claimed ? state.visited[word] : 0;
        if (claimed) state.visited[word] = kept | claimed;
        measure_words(state, deal, warp, first, kept, 0, claimed, depth);
    }
}

// Writes the frontier of a push step to a bitmap, which must be cleared before.
__device__ void queue_to_bitmap(const NarrowItem* narrow, u64 n_narrow, const HubItem* hubs, u64 n_hubs,
                                u32* bitmap) {
    for (u64 i = static_cast<u64>(global_thread()); i < n_narrow + n_hubs;
         i += static_cast<u64>(global_threads())) {
        const vertex_t v = i < n_narrow ? narrow[i].vertex : hubs[i - n_narrow].vertex;
        atomicOr(bitmap + word_of(v), bit_of(v));
    }
}

// Writes the frontier of a pull step to queues.
template <class Queue>
__device__ void bitmap_to_queue(const Graph& graph, const u32* frontier, const Queue& queue, u8* list,
                                Tally& tally) {
    const vertex_t n_words = bitmap_words(graph.n_linked);
    const vertex_t warp = dealt_warp();
    const Deal deal = deal_words(n_words);
    for (u32 first = 0; deal.word(warp, first) < n_words; first += WARP) {
        const vertex_t word = deal.word(warp, first + lane_id());
        const u32 bits = word < n_words ? frontier[word] : 0;
        queue_bits(graph, bits, deal, warp, first, list, queue, tally);
    }
}
