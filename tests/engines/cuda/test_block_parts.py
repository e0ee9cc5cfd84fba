"""What places on a GPU hold of blocks: the slices of each array, and the choice of frames."""

from dataclasses import replace

import kernel_references as reference
import numpy as np
import pytest
from packed_rows import rows_of

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.packed import PackedColumns, PackedHome
from rapids_trav.engines.blocks.cut import cut
from rapids_trav.engines.cuda.blocks.parts import chosen_parts, framed_parts, place_bytes, plain_parts
from rapids_trav.engines.runs import GatherView, Pages, RunOptions
from rapids_trav.memory.budget import Budget

OFFSETS, COLUMNS = rows_of(np.sort(np.random.default_rng(4).zipf(1.6, 3000).clip(max=2500))[::-1], 3000)
WEIGHTS = np.arange(len(COLUMNS), dtype=np.float32)


def view_of(weights=None, home=None):
    rows = Adjacency(OFFSETS, COLUMNS)
    pages = Pages(np.array([0, 3000]), Budget(1 << 30), framed=home)
    return GatherView(rows, rows, weights, np.diff(OFFSETS), pages, weights)


@pytest.fixture(scope="module")
def framed():
    return PackedColumns(*reference.frame_columns(COLUMNS))


def test_parts_as_they_are():
    cuts = cut(OFFSETS, 11, 2)
    columns, weights = plain_parts(view_of(weights=WEIGHTS), cuts)
    assert place_bytes([columns, weights]) == 8 << 11
    last = cuts.n_blocks - 1
    for part, array in ((columns, COLUMNS), (weights, WEIGHTS)):
        assert np.array_equal(np.concatenate([part.of(block) for block in range(cuts.n_blocks)]), array)
        addresses = part.addresses()
        assert addresses[0] == array.ctypes.data and len(addresses) == cuts.n_blocks + 1
        assert addresses[1] - addresses[0] == part.nbytes(0) == 4 << 11
        assert addresses[last + 1] - addresses[last] == part.nbytes(last)
        assert part.nbytes(last) == 4 * (len(COLUMNS) - (last << 11))
    assert [part.name for part in plain_parts(view_of(), cuts)] == ["columns"]


def test_framed_blocks_can_be_read_where_they_are_put(framed):
    cuts = cut(OFFSETS, 11, 2)
    starts, words, weights = framed_parts(view_of(weights=WEIGHTS), cuts, framed)
    assert weights.name == "weights"
    for block in range(cuts.n_blocks):
        own, first = starts.of(block), block << 11
        assert len(own) <= starts.size == 2 and len(words.of(block)) <= words.size
        for edge in range(0, int(cuts.n_edges[block]), 97):
            found = reference.framed_column(own - own[0], words.of(block), edge, COLUMNS.dtype)
            assert found == COLUMNS[first + edge]
    assert words.size == max(len(words.of(block)) for block in range(cuts.n_blocks))


def test_frames_are_taken_unless_all_blocks_fit_as_they_are(framed):
    def chosen(n_places, compress, columns=framed, shift=10):
        packs, cuts = [], cut(OFFSETS, shift, n_places)
        free, options = (4 << shift) * n_places, RunOptions(compress=compress)

        def pack():
            packs.append(1)
            return columns

        found, parts = chosen_parts(view_of(home=PackedHome()), options, cuts, pack, free)
        assert found.n_places * place_bytes(parts) <= free
        return parts[0].name, found.n_places, len(packs)

    n_blocks = cut(OFFSETS, 10, 1).n_blocks
    name, n_places, packs = chosen(4, None)
    assert (name, packs) == ("starts", 1) and 4 < n_places < n_blocks
    assert chosen(4, False) == ("columns", 4, 0)
    assert chosen(4, None, None) == ("columns", 4, 1)
    assert chosen(n_blocks, None) == ("columns", n_blocks, 0)
    assert chosen(n_blocks, True) == ("starts", n_blocks, 1)
    assert chosen(4, True, shift=9) == ("columns", 4, 0)  # a block of the format has 1024 edges
    without = replace(view_of(), pages=replace(view_of().pages, framed=None))
    cuts = cut(OFFSETS, 10, 4)
    assert chosen_parts(without, RunOptions(compress=True), cuts, lambda: framed, 0)[0] is cuts


def test_blocks_that_frames_make_no_smaller_stay_as_they_are():
    """A single block whose frames take more than its columns decides for all places."""
    columns = COLUMNS.copy()
    columns[:1024] = np.resize([0, 2**31 - 1], 1024)
    framed = PackedColumns(*reference.frame_columns(columns))
    cuts = cut(OFFSETS, 10, 4)
    found, parts = chosen_parts(view_of(home=PackedHome()), RunOptions(), cuts, lambda: framed, 0)
    assert found is cuts and parts[0].name == "columns"
