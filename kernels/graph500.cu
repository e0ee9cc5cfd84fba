// The steps of the Graph500 benchmark around a search: it finds the permitted roots, converts the parent
// array to the generator's labels, counts the edges of a component, and checks the five rules of validation.
//
// Validation derives levels from the parents by pointer doubling, then reads the edge tuples once;
// rapids_trav/graph500/validation.py describes it.
//
// Invariants: an Ancestor is `distance` steps above its vertex; the root's ancestor is itself, at distance 0;
// NONE means that there is no root above.  A tree is less than n_vertices deep, so the parents of a vertex
// with an ancestor that far away lead into a cycle.
//
// Reference: Graph500 specification (graph500.org), sections "Sampling search keys" to "Validation";
// J. Wyllie, The Complexity of Parallel Computations, 1979 (pointer doubling).
//
// Must agree with: rapids_trav/graph500/cpu.py.
#include "level.cuh"

constexpr vertex_t OUTSIDE = -1;  // level of a vertex without a parent
constexpr vertex_t ADRIFT = -2;   // level of a vertex whose parents lead to no root

struct alignas(2 * sizeof(vertex_t)) Ancestor {
    vertex_t vertex;
    vertex_t distance;
};

// The data of an end that an edge needs, in one load.
struct alignas(2 * sizeof(vertex_t)) Node {
    vertex_t parent;
    vertex_t level;
};

// A row of u64, in the order of rapids_trav/graph500/cuda.py; MOVED is a flag for the host's loop.
enum Fault { RULE_1, RULE_2, RULE_3, RULE_4, RULE_5, LEVELS, STRANGE, MOVED };

extern "C" __global__ void has_neighbor(const vertex_t* __restrict__ src, const vertex_t* __restrict__ dst,
                                        i64 n_edges, bool* found) {
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) {
        const vertex_t u = src[i];
        const vertex_t v = dst[i];
        if (u == v) continue;
        if (!found[u]) found[u] = true;  // hubs have millions of edges: most of them only read
        if (!found[v]) found[v] = true;
    }
}

// Before the call, `parent` is NONE everywhere; the host writes the root's parent.
extern "C" __global__ void to_labels(const vertex_t* __restrict__ labels,
                                     const vertex_t* __restrict__ predecessor, i64 n_labels,
                                     vertex_t* parent) {
    for (i64 v = global_thread(); v < n_labels; v += global_threads()) {
        const vertex_t p = predecessor[v];
        if (p != NONE) parent[labels[v]] = labels[p];
    }
}

extern "C" __global__ void component_edges(const vertex_t* __restrict__ parent,
                                           const vertex_t* __restrict__ src, i64 n_edges, u64* total) {
    i64 inside = 0;
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) inside += parent[src[i]] != NONE;
    count(total, 0, inside);
}

extern "C" __global__ void first_ancestors(const vertex_t* __restrict__ parent, i64 n_vertices, i64 root,
                                           Ancestor* ancestors) {
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        const vertex_t p = parent[v];
        if (v == root) {
            ancestors[v] = {static_cast<vertex_t>(root), 0};
        } else if (p >= 0 && p < n_vertices) {
            ancestors[v] = {p, 1};
        } else {
            ancestors[v] = {NONE, 0};
        }
    }
}

// One round of pointer doubling.
extern "C" __global__ void jump(const Ancestor* __restrict__ ancestors, i64 n_vertices, i64 root,
                                Ancestor* following, u64* faults) {
    bool moved = false;
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        Ancestor mine = ancestors[v];
        if (mine.vertex != NONE && mine.vertex != root) {
            moved = true;
            const Ancestor next = ancestors[mine.vertex];
            const i64 distance = static_cast<i64>(mine.distance) + next.distance;
            const bool lost = next.vertex == NONE || distance >= n_vertices;
            mine = lost ? Ancestor{NONE, 0} : Ancestor{next.vertex, static_cast<vertex_t>(distance)};
        }
        following[v] = mine;
    }
    if (moved) faults[MOVED] = 1;
}

// Checks rules 1 and 2, and the levels that the search returned (null: none).
extern "C" __global__ void settle(const vertex_t* __restrict__ parent, i64 n_vertices, i64 root,
                                  const Ancestor* __restrict__ ancestors, const i32* __restrict__ given,
                                  Node* nodes, u64* faults) {
    i64 not_rooted = 0;
    i64 uneven = 0;
    i64 wrong_level = 0;
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        const vertex_t p = parent[v];
        const Ancestor ancestor = ancestors[v];
        const bool inside = p >= 0 && p < n_vertices;
        const vertex_t level = ancestor.vertex == root ? ancestor.distance : p == NONE ? OUTSIDE : ADRIFT;
        nodes[v] = {inside ? p : NONE, level};
        not_rooted += v == root ? p != root : level == ADRIFT;
        if (given != nullptr && level != ADRIFT) {
            wrong_level += given[v] != level;
            uneven += level > 0 && given[v] - given[p] != 1;
        }
    }
    count(faults, RULE_1, not_rooted);
    count(faults, RULE_2, uneven);
    count(faults, LEVELS, wrong_level);
}

// Checks rules 3 and 4 on every tuple; marks the vertices that a tuple joins to their parent.
extern "C" __global__ void check_edges(const vertex_t* __restrict__ src, const vertex_t* __restrict__ dst,
                                       i64 n_edges, const Node* __restrict__ nodes, i64 n_vertices,
                                       bool* joined, u64* faults) {
    i64 too_far = 0;
    i64 leaving = 0;
    i64 strange = 0;
    for (i64 i = global_thread(); i < n_edges; i += global_threads()) {
        const vertex_t u = src[i];
        const vertex_t v = dst[i];
        if (u < 0 || v < 0 || u >= n_vertices || v >= n_vertices) {
            strange += 1;
            continue;
        }
        const Node a = nodes[u];
        const Node b = nodes[v];
        if (a.parent == v) joined[u] = true;
        if (b.parent == u) joined[v] = true;
        if ((a.level == OUTSIDE) != (b.level == OUTSIDE)) {
            leaving += 1;
        } else if (a.level >= 0 && b.level >= 0) {
            const vertex_t difference = a.level - b.level;
            too_far += difference > 1 || difference < -1;
        }
    }
    count(faults, RULE_3, too_far);
    count(faults, RULE_4, leaving);
    count(faults, STRANGE, strange);
}

// Checks rule 5.
extern "C" __global__ void count_unjoined(const Node* __restrict__ nodes, i64 n_vertices, i64 root,
                                          const bool* __restrict__ joined, u64* faults) {
    i64 unjoined = 0;
    for (i64 v = global_thread(); v < n_vertices; v += global_threads()) {
        unjoined += v != root && nodes[v].parent != NONE && !joined[v];
    }
    count(faults, RULE_5, unjoined);
}
