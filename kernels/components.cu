// Weakly connected components by linking trees, lock-free (Afforest).
//
// `parent` holds a forest; in the end every tree is a component, and its root is the component's smallest
// vertex.
//
// 1. begin_below(): makes each vertex a child of its first neighbour if that is smaller.
// 2. link_first(): links each vertex with its second neighbour, and with its first if that is larger.
// 3. compress(): makes each vertex a child of its root.  The host then finds from a sample which component
//    is the largest so far.
// 4. list_rows(): lists the rows of the vertices outside that component, short rows from the front of a queue
//    and long rows from its back; link_light() and link_heavy() link all edges of these rows.
//
// Columns that the GPU cannot read in place arrive in parts, and link_part() links all their edges.
//
// Invariants.  No parent is larger than its vertex, so there are no cycles.  Only a root is linked, by
// compare-and-swap.  All other writes make a vertex a child of one of its ancestors, so a stale parent is
// still an ancestor.  A row may be skipped only if each of its edges is also in the row of its other end, or
// both ends are in the component that is skipped.
//
// Reference: M. Sutton, T. Ben-Nun, A. Barak, Optimizing Parallel Graph Connectivity Computation via Subgraph
// Sampling, IPDPS 2018; J. Jaiganesh, M. Burtscher, A High-Performance Connected Components Implementation
// for GPUs, HPDC 2018 (the initial parents, and shortening paths while they are followed).
//
// Must agree with: the CPU engine (rapids_trav/engines/cpu/components.py).
#include "along.cuh"

#ifndef HEAVY_DEGREE
#define HEAVY_DEGREE 1024  // rows with more edges are spread over a column of blocks
#endif

constexpr i64 PART_EDGES = 16;  // edges that a thread links one after another

// Returns the root of a vertex's tree, and halves the path to it.
__device__ __forceinline__ vertex_t root_of(vertex_t* parent, vertex_t vertex) {
    vertex_t above = __ldcg(&parent[vertex]);
    while (above != vertex) {
        const vertex_t further = __ldcg(&parent[above]);
        if (further != above) parent[vertex] = further;
        vertex = above;
        above = further;
    }
    return vertex;
}

__device__ __forceinline__ vertex_t compare_and_swap(vertex_t* address, vertex_t expected, vertex_t value) {
#if VERTEX_BITS == 64
    return static_cast<i64>(
        atomicCAS(reinterpret_cast<u64*>(address), static_cast<u64>(expected), static_cast<u64>(value)));
#else
    return atomicCAS(address, expected, value);
#endif
}

// Joins the trees of two vertices: the larger of their roots becomes a child of the other.
__device__ __forceinline__ void link(vertex_t* parent, vertex_t u, vertex_t v) {
    vertex_t a = root_of(parent, u);
    vertex_t b = root_of(parent, v);
    while (a != b) {
        if (a < b) swap(a, b);
        const vertex_t above = compare_and_swap(&parent[a], a, b);
        if (above == a) return;
        a = root_of(parent, above);
        b = root_of(parent, b);
    }
}

// An entry of `first_neighbors` is NONE if the row is empty, and -2 - u if u is its only neighbour.
__device__ __forceinline__ vertex_t neighbor_in(vertex_t entry) {
    return entry < NONE ? -2 - entry : entry;
}

extern "C" __global__ void begin_below(const vertex_t* __restrict__ first_neighbors, i64 n_vertices,
                                       vertex_t* parent) {
    for (i64 i = global_thread(); i < n_vertices; i += global_threads()) {
        const vertex_t v = static_cast<vertex_t>(i);
        const vertex_t first = neighbor_in(first_neighbors[v]);
        parent[v] = first != NONE && first < v ? first : v;
    }
}

extern "C" __global__ void link_first(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ columns,
                                      const vertex_t* __restrict__ first_neighbors, i64 n_vertices,
                                      vertex_t* parent, u64* counters) {
    i64 examined = 0;
    for (i64 i = global_thread(); i < n_vertices; i += global_threads()) {
        const vertex_t v = static_cast<vertex_t>(i);
        const vertex_t entry = first_neighbors[v];
        if (entry == NONE) continue;
        const vertex_t first = neighbor_in(entry);
        if (first > v) link(parent, v, first);
        if (entry >= 0) link(parent, v, columns[row_offsets[v] + 1]);
        examined += entry >= 0 ? 2 : 1;
    }
    count(counters, EDGES, examined);
}

// Counts the roots in FOUND.  A thread writes only the parent of its own vertex: if it halved paths, it could
// restore a parent of another vertex that it had read before that vertex became a child of its root.
extern "C" __global__ void compress(i64 n_vertices, vertex_t* parent, u64* counters) {
    i64 roots = 0;
    for (i64 i = global_thread(); i < n_vertices; i += global_threads()) {
        const vertex_t v = static_cast<vertex_t>(i);
        vertex_t above = __ldcg(&parent[v]);
        roots += above == v;
        for (vertex_t further = __ldcg(&parent[above]); further != above; further = __ldcg(&parent[above])) {
            parent[v] = above = further;
        }
    }
    count(counters, FOUND, roots);
}

// With a negative `largest` all rows with edges are listed.
extern "C" __global__ void list_rows(const edge_t* __restrict__ row_offsets, i64 n_vertices, i64 largest,
                                     vertex_t* parent, vertex_t* queue, u64* counters) {
    for (i64 i = global_thread(); i < n_vertices; i += global_threads()) {
        const vertex_t v = static_cast<vertex_t>(i);
        const edge_t length = degree(row_offsets, v);
        if (length == 0) continue;
        if (largest >= 0 && root_of(parent, v) == root_of(parent, static_cast<vertex_t>(largest))) continue;
        if (length > HEAVY_DEGREE) {
            queue[n_vertices - 1 - next_place(counters, HEAVY)] = v;
        } else {
            queue[next_place(counters, LIGHT)] = v;
        }
    }
}

struct Linking {
    using carried_t = vertex_t;
    vertex_t* parent;

    __device__ __forceinline__ vertex_t carry(vertex_t u) const { return root_of(parent, u); }
    __device__ __forceinline__ void over(vertex_t root, i64, vertex_t v) const { link(parent, root, v); }
};

extern "C" __global__ void __launch_bounds__(BLOCK_SIZE)
    link_light(const edge_t* __restrict__ row_offsets, const vertex_t* __restrict__ columns,
               const vertex_t* __restrict__ queue, i64 n_light, vertex_t* parent, u64* counters) {
    Linking step{parent};
    along_light(row_offsets, columns, queue, n_light, step, counters);
}

extern "C" __global__ void link_heavy(const edge_t* __restrict__ row_offsets,
                                      const vertex_t* __restrict__ columns, i64 n_vertices,
                                      const vertex_t* __restrict__ queue, i64 n_heavy, vertex_t* parent,
                                      u64* counters) {
    Linking step{parent};
    along_heavy(row_offsets, columns, n_vertices, queue, n_heavy, step, counters);
}

// Links `n_edges` edges, from edge number `first` on, whose columns are `part`.
extern "C" __global__ void link_part(const edge_t* __restrict__ row_offsets,
                                     const vertex_t* __restrict__ part, i64 n_vertices, i64 first,
                                     i64 n_edges, vertex_t* parent) {
    for (i64 begin = global_thread() * PART_EDGES; begin < n_edges; begin += global_threads() * PART_EDGES) {
        const i64 end = min(begin + PART_EDGES, n_edges);
        i64 row = lower_bound(row_offsets, n_vertices + 1, static_cast<edge_t>(first + begin + 1)) - 1;
        for (i64 edge = begin; edge < end; ++edge) {
            while (row_offsets[row + 1] <= first + edge) row += 1;
            link(parent, static_cast<vertex_t>(row), part[edge]);
        }
    }
}

// Gives each root the smallest of the places in its tree.  A plain read before each atomic makes most of the
// atomics unnecessary.
extern "C" __global__ void smallest_place(const vertex_t* __restrict__ parent, i64 n_vertices,
                                          vertex_t* places) {
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        const vertex_t root = parent[v];
        if (root != v && places[v] < __ldcg(&places[root])) atomicMin(&places[root], places[v]);
    }
}

// Gives each vertex the place of its root.
extern "C" __global__ void take_place(const vertex_t* __restrict__ parent, i64 n_vertices, vertex_t* places) {
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        const vertex_t root = parent[v];
        if (root != v) places[v] = places[root];
    }
}
