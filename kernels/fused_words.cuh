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

// A warp's words from number `first` on, one for each lane, and their vertices by the place among all bits.
struct Words {
    const Deal& deal;
    vertex_t warp;
    u32 first;

    __device__ __forceinline__ vertex_t word(u32 lane) const { return deal.word(warp, first + lane); }
    __device__ __forceinline__ vertex_t vertex(u32 local) const {
        return word(local / 32) * 32 + static_cast<vertex_t>(local & 31);
    }
};

// TILE_WORDS of the words, at equal distances from each other, so that their vertices take fewer registers.
struct Tile {
    vertex_t first;   // vertex of the first word's first bit
    vertex_t stride;  // vertices from a word to the next

    __device__ __forceinline__ Tile(const Words& words, u32 first_lane)
        : first(words.word(first_lane) * 32), stride(words.deal.shift == 0 ? words.deal.n_warps * 32 : 32) {}

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

// Most vertices of a warp's words that are listed at once.
constexpr u32 LIST_SIZE = 352;
static_assert(LIST_SIZE >= TILE_WORDS * 32, "a tile can be listed");

// Lists the places of the set bits of the words that the lanes hold, at most LIST_SIZE; returns their number.
__device__ __forceinline__ u32 list_bits(u32 word, u16* list) {
    const u32 after = warp_scan(__popc(word));
    u32 at = after - __popc(word);
    for (u32 bits = word; bits; bits &= bits - 1) {
        list[at++] = static_cast<u16>(lane_id() * 32 + __ffs(bits) - 1);
    }
    __syncwarp();
    return __shfl_sync(FULL_WARP, after, WARP - 1);
}

// Queues the vertices whose bits are set; each lane holds the bits of its word.
template <class Queue>
__device__ void queue_bits(const Graph& graph, u32 bits, const Words& words, u16* list, const Queue& queue,
                           Tally& tally) {
    if (!__any_sync(FULL_WARP, bits)) return;
    const u32 lane = lane_id();
    const u32 total = __shfl_sync(FULL_WARP, warp_scan(__popc(bits)), WARP - 1);
    const u32 width = total <= LIST_SIZE ? WARP : TILE_WORDS;
    for (u32 first_lane = 0; first_lane < WARP; first_lane += width) {
        const u32 size = list_bits(lane - first_lane < width ? bits : 0, list);
        for (u32 at = lane; at - lane < size; at += WARP) {
            const bool fresh[1] = {at < size};
            const vertex_t v[1] = {words.vertex(fresh[0] ? list[at] : list[0])};
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

// Records the distances of the vertices in a warp's words: `depth` for the vertices found, one less for those
// claimed before.  Each lane holds the bits of its word; `kept` has the vertices that have a distance
// already. The bytes of neighbouring vertices are written together, eight by a lane.
__device__ __forceinline__ void measure_words(const State& state, const Words& words, u32 kept, u32 claimed,
                                              u32 found, i32 depth) {
    if (!__any_sync(FULL_WARP, claimed | found)) return;
    const u32 here = static_cast<u32>(min(depth, FAR)) * 0x01010101u;
    const u32 before = static_cast<u32>(min(depth - 1, FAR)) * 0x01010101u;
    const u32 lane = lane_id();
    // All tiles are read before any is written, so that the reads are in flight together.
    constexpr i32 TILES = WARP / TILE_WORDS;
    const auto vertex = [&](i32 tile) { return Tile(words, tile * TILE_WORDS).vertex(8 * lane); };
    const auto place = [&](i32 tile) { return reinterpret_cast<uint2*>(state.near + vertex(tile)); };
    const auto byte = [&](u32 word, i32 tile) {
        return __shfl_sync(FULL_WARP, word, tile * TILE_WORDS + lane / 4) >> lane % 4 * 8 & 255;
    };
    uint2 old[TILES];
#pragma unroll
    for (i32 tile = 0; tile < TILES; ++tile) {
        const bool changed = byte(claimed | found, tile);
        const bool stay = byte(kept, tile);
        old[tile] = changed && stay ? *place(tile) : uint2{};
    }
#pragma unroll
    for (i32 tile = 0; tile < TILES; ++tile) {
        const u32 now = byte(found, tile);
        const u32 last = byte(claimed, tile);
        if (!(now | last)) continue;
        const auto blend = [&](u32 bytes, u32 at) {
            const u32 mine = bytes_of(now >> at);
            const u32 theirs = bytes_of(last >> at);
            return (bytes & ~(mine | theirs)) | (here & mine) | (before & theirs);
        };
        *place(tile) = make_uint2(blend(old[tile].x, 0), blend(old[tile].y, 4));
        if (depth < FAR) continue;
        const vertex_t v = vertex(tile);
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
        const Words words{deal, warp, first};
        const vertex_t word = words.word(lane_id());
        const u32 claimed = word < n_words ? map[word] : 0;
        const u32 kept = claimed ? state.visited[word] : 0;
        if (claimed) state.visited[word] = kept | claimed;
        measure_words(state, words, kept, 0, claimed, depth);
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
__device__ void bitmap_to_queue(const Graph& graph, const u32* frontier, const Queue& queue, u16* list,
                                Tally& tally) {
    const vertex_t n_words = bitmap_words(graph.n_linked);
    const vertex_t warp = dealt_warp();
    const Deal deal = deal_words(n_words);
    for (u32 first = 0; deal.word(warp, first) < n_words; first += WARP) {
        const Words words{deal, warp, first};
        const vertex_t word = words.word(lane_id());
        const u32 bits = word < n_words ? frontier[word] : 0;
        queue_bits(graph, bits, words, list, queue, tally);
    }
}
