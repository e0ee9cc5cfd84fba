// Places edges in compressed rows (CSR) that are built one range of rows after another (a counting sort).
//
// The entries of each row have been counted, and their running sums are the first free places.  Each entry
// reserves the next place of its row by an atomic.
//
// Invariants: free[row] is the next free place of the row, counted over all rows; every place is taken once,
// and the entries of a row are in any order.  A place past the range is not written: it can only be reserved
// if the edges differ from those that were counted before, and `free` then shows this.
//
// Reference: D. Knuth, The Art of Computer Programming 3, section 5.2 (distribution counting).
//
// Must agree with: place_plainly in rapids_trav/engines/cuda/build/places.py.
#include "weights.cuh"

struct PlaceArguments {
    const vertex_t* rows;
    const vertex_t* columns;
    const void* weights;
    i32 weight_bytes;  // 0: no weights
    i64 n_edges;
    i32 both;  // also place the mirrored edges, self-loops once
    i64 first;
    i64 after;
    i64 begin;
    i64 n_places;
    u64* free;
    vertex_t* placed;
    void* placed_weights;
};

// Places the entries of the rows in [first, after), whose places begin at `begin`.
extern "C" __global__ void place_edges(const PlaceArguments given) {
    const vertex_t* __restrict__ const rows = given.rows;
    const vertex_t* __restrict__ const columns = given.columns;
    auto place_entry = [&](vertex_t row, vertex_t column, i64 i) {
        if (row < given.first || row >= given.after) return;
        const i64 place = static_cast<i64>(atomicAdd(&given.free[row], 1ull)) - given.begin;
        if (place >= given.n_places) return;
        given.placed[place] = column;
        copy_weight(given.weights, given.weight_bytes, i, given.placed_weights, place);
    };
    for (i64 i = global_thread(); i < given.n_edges; i += global_threads()) {
        const vertex_t row = rows[i];
        const vertex_t column = columns[i];
        place_entry(row, column, i);
        if (given.both && row != column) place_entry(column, row, i);
    }
}
