"""Operations on frames, for pandas and cuDF alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from common import rows, to_pandas

from rapids_trav.frames.columns import FEW, Masked, library_of, move
from rapids_trav.frames.libraries import library


@pytest.fixture
def frames(frame_library):
    return library(frame_library.__name__)


class OwnFrame(pd.DataFrame):
    """Subclass of the pandas frame, as geopandas has one."""


def test_library_of(frame_library):
    name = frame_library.__name__
    assert library_of(frame_library.DataFrame({"a": [1]})) == name
    assert library_of(frame_library.Series([1])) is None
    assert library_of(frame_library.Series([1]), ("Series", "Index")) == name
    assert library_of(frame_library.RangeIndex(3), ("Series", "Index")) == name
    assert library_of(OwnFrame()) == "pandas"
    for other in ([1], "frame", None, np.zeros(2), {"a": [1]}):
        assert library_of(other) is None


def test_library_of_dask():
    dask = pytest.importorskip("dask.dataframe")
    assert library_of(dask.from_pandas(pd.DataFrame({"a": [1]}), npartitions=1)) == "dask"


def test_frame_of_arrays_masks_and_columns(frames, frame_library):
    xp = frames.xp
    frame = frames.frame(
        {
            "plain": xp.arange(3, dtype="int32"),
            "masked": Masked(xp.asarray([7, -1, 9], dtype="int64"), xp.asarray([True, False, True])),
            "text": frames.column(["a", None, "c"]),
        }
    )
    assert isinstance(frame, frame_library.DataFrame)
    assert rows(frame) == [(0, 7, "a"), (1, None, None), (2, 9, "c")]
    assert [str(dtype).lower() for dtype in frame.dtypes][:2] == ["int32", "int64"]
    again = frames.frame({"masked": Masked(xp.asarray([1, 2]), xp.asarray([False, False]))})
    assert rows(again) == [(None,), (None,)]


def test_frame_of_arrays_of_the_host(frames):
    frame = frames.frame({"a": np.arange(2), "b": Masked(np.arange(2), np.array([True, False]))})
    assert rows(frame) == [(0, 0), (1, None)]


def test_frame_without_rows(frames):
    xp = frames.xp
    nothing = xp.zeros(0, dtype="int32")
    frame = frames.frame({"a": nothing, "b": Masked(nothing, nothing.astype(bool))})
    assert len(frame) == 0
    assert list(frame.columns) == ["a", "b"]


def test_array(frames):
    xp = frames.xp
    for dtype in ("int8", "uint64", "float32", "bool"):
        array = frames.array(frames.column([1, 0, 1], dtype=dtype))
        assert isinstance(array, xp.ndarray)
        assert array.dtype == dtype
        assert array.tolist() == [1, 0, 1]


@pytest.mark.parametrize("dtype", ["int64", "float64", "bool"])
def test_array_is_not_copied(dtype):
    values = np.zeros(4, dtype=dtype)
    assert np.shares_memory(library("pandas").array(pd.Series(values, copy=False)), values)


def test_null_count(frames):
    assert frames.null_count(frames.column([1, 2])) == 0
    assert frames.null_count(frames.column(["a", None, None])) == 2
    assert frames.null_count(frames.column([1.0, float("nan")])) == 1


def test_factorize(frames):
    codes, uniques = frames.factorize(frames.column(["b", "a", "b"]))
    assert to_pandas(uniques).iloc[codes.tolist()].tolist() == ["b", "a", "b"]
    assert len(uniques) == 2


@pytest.mark.parametrize("count", [1, FEW + 1])
def test_positions(frames, count):
    vocabulary = frames.column(["a", "c", "e"])
    found = frames.positions(vocabulary, frames.column(["c", "b", "zz", "", "a"] * count))
    assert found.tolist() == [1, -1, -1, -1, 0] * count


def test_take(frames):
    column = frames.column(["a", "b", "c"])
    assert to_pandas(frames.take(column, np.array([2, 0]))).tolist() == ["c", "a"]
    taken = to_pandas(frames.take(column, np.array([2, -1]), nulls=True))
    assert taken[0] == "c"
    assert pd.isna(taken[1])
    assert to_pandas(frames.take(column, None)).tolist() == ["a", "b", "c"]
    nothing = frames.take(frames.column([], dtype="str"), np.array([-1]), nulls=True)
    assert to_pandas(nothing).isna().tolist() == [True]


def test_move():
    array = np.arange(3)
    assert move(array, np) is array


@pytest.mark.gpu
def test_move_between_the_host_and_the_device():
    import cupy

    array = move(np.arange(3), cupy)
    assert isinstance(array, cupy.ndarray)
    assert move(array, cupy) is array
    assert isinstance(move(array, np), np.ndarray)
