"""The format of packed columns: round trips of the reference, pages, and the keeper of the columns."""

import kernel_references as reference
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packed_rows import ROWS, rows_of

from rapids_trav.csr.packed import PackedColumns, PackedHome, blocks_of


def round_trip(offsets, columns):
    starts, words = reference.pack_columns(offsets, columns)
    np.testing.assert_array_equal(
        reference.unpack_columns(starts, words, len(columns), columns.dtype), columns
    )
    return PackedColumns(starts, words)


@pytest.mark.parametrize("name", ROWS)
def test_round_trips(name):
    round_trip(*ROWS[name])


@given(st.data())
def test_any_rows(data):
    dtype = data.draw(st.sampled_from([np.int32, np.int64]))
    most = data.draw(st.sampled_from([1, 40, 10**6, np.iinfo(dtype).max]))
    columns = np.array(data.draw(st.lists(st.integers(0, most), max_size=1200)), dtype)
    cuts = data.draw(st.lists(st.integers(0, len(columns)), max_size=80))
    round_trip(np.array([0, *sorted(cuts), len(columns)]), columns)


@pytest.mark.parametrize("name", ROWS)
def test_a_framed_column_is_found_without_the_others(name):
    _, columns = ROWS[name]
    starts, words = reference.frame_columns(columns)
    for edge in range(0, len(columns), 7):
        assert reference.framed_column(starts, words, edge, columns.dtype) == columns[edge]


def test_ascending_rows_become_small():
    offsets, columns = rows_of(np.full(400, 50), 20_000)
    packed = round_trip(offsets, columns)
    assert sum(part.nbytes for part in packed.parts) < 0.45 * columns.nbytes
    framed = PackedColumns(*reference.frame_columns(columns))
    assert sum(part.nbytes for part in framed.parts) < 0.6 * columns.nbytes


def test_pages_are_the_blocks_that_hold_their_edges():
    offsets, columns = rows_of([700] * 10, 5000)
    packed = round_trip(offsets, columns)
    for first, last in ((0, 7000), (0, 1), (1023, 1025), (2048, 3072), (6500, 7000), (40, 40)):
        starts, words = packed.page(first, last)
        assert packed.page_bytes(first, last) == starts.nbytes + words.nbytes
        if first == last:
            assert len(starts) == len(words) == 0
            continue
        begin = first // 1024 * 1024
        ends = np.append(starts - starts[0], len(words))
        found = reference.unpack_columns(ends, words, 7000 - begin, columns.dtype)
        np.testing.assert_array_equal(found[first - begin : last - begin], columns[first:last])
        assert len(starts) == blocks_of(first, last)[1] - blocks_of(first, last)[0]


def test_columns_are_packed_once_even_if_it_was_in_vain():
    home, calls = PackedHome(), []
    for _ in range(2):
        assert home.get(lambda: calls.append(1)) is None
    assert len(calls) == 1 and home.arrays == ()
    home = PackedHome()

    def failing():
        raise ValueError

    with pytest.raises(ValueError):
        home.get(failing)
    made = PackedColumns(np.zeros(1, np.int64), np.zeros(0, np.uint32))
    assert home.get(lambda: made) is made is home.columns
    assert home.arrays == made.parts
