// Writes the rows of shortest paths: for each search and target, the vertices from the source to the target.
//
// 1. pick_distances: writes the distance of each target in each search, from which the host computes the
//    number of rows.
// 2. write_paths: a thread for each search and target follows the predecessors and writes the rows backwards,
//    from the end of its path.
//
// A target that is not reached has one row, with step -1.  labels.cuh translates internal ids into the
// caller's.
//
// Invariant: the predecessors of a vertex at distance d lead to a source in d steps.
//
// Must agree with: walk in tests/kernel_references.py.
#include "labels.cuh"

// Entry n_searches * n_targets says whether the first source is a vertex: it is the source, or NONE.
extern "C" __global__ void pick_distances(const i32* __restrict__ distances, i64 n_vertices,
                                          const vertex_t* __restrict__ sources, i64 n_searches,
                                          const vertex_t* __restrict__ targets, i64 n_targets,
                                          vertex_t* picked) {
    const i64 n_entries = n_searches * n_targets;
    for (i64 i = global_thread(); i <= n_entries; i += global_threads()) {
        picked[i] =
            i == n_entries
                ? sources[0]
                : static_cast<vertex_t>(distances[i / n_targets * n_vertices + targets[i % n_targets]]);
    }
}

struct PathArguments {
    i64 n_vertices;
    i64 n_targets;
    i64 n_entries;
    const vertex_t* sources;
    const vertex_t* targets;
    const vertex_t* picked;
    const i64* ends;  // of the rows of each entry
    const vertex_t* predecessors;
    const vertex_t* order;
    const label_t* labels;
    const label_t* names;
    i64 first;
    label_t* source_column;  // null: it is not asked for
    label_t* target_column;
    i32* step_column;
    label_t* vertex_column;
};

extern "C" __global__ void write_paths(const PathArguments given) {
    const auto name = [&given](vertex_t v) {
        return name_of(given.names, given.order, given.labels, given.first, v);
    };
    for (i64 i = global_thread(); i < given.n_entries; i += global_threads()) {
        const i64 search = i / given.n_targets;
        const vertex_t target = given.targets[i % given.n_targets];
        const vertex_t* predecessor = given.predecessors + search * given.n_vertices;
        const label_t target_name = name(target);
        const i64 begin = i == 0 ? 0 : given.ends[i - 1];
        i32 step = static_cast<i32>(given.picked[i]);
        vertex_t v = target;
        for (i64 row = given.ends[i] - 1; row >= begin; --row) {
            if (given.source_column != nullptr) given.source_column[row] = name(given.sources[search]);
            given.target_column[row] = target_name;
            given.step_column[row] = step;
            given.vertex_column[row] = step == UNREACHED ? 0 : name(v);
            step -= 1;
            v = predecessor[v];
        }
    }
}
