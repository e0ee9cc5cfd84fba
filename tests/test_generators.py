"""R-MAT edges selected by their number: labels, ranges of edges and column names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rapids_trav import generators


@pytest.mark.parametrize("scale", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("seed", [0, 1, 77])
def test_labels_are_permuted(scale, seed):
    _, factor, term = generators._streams(seed)
    label = generators._label(np.arange(1 << scale, dtype=np.uint64), scale, factor, term)
    assert np.array_equal(np.sort(label), np.arange(1 << scale))
    if scale > 3:
        assert (label != np.arange(1 << scale)).mean() > 0.9


def test_hubs_are_anywhere():
    degree = np.bincount(generators.rmat(14).to_numpy().ravel(), minlength=1 << 14)
    hubs = np.argsort(-degree)[:800]
    assert (np.histogram(hubs, 8, (0, 1 << 14))[0] > 60).all()
    assert all(0.4 < (hubs >> bit & 1).mean() < 0.6 for bit in range(14))


@pytest.mark.parametrize("rows", [1, 999, 1 << 20])
def test_stretches_are_the_whole(monkeypatch, rows):
    monkeypatch.setattr(generators, "BLOCK", 100)
    scale, factor = (4, 3) if rows == 1 else (10, 4)
    frames = list(generators.rmat_frames(scale, factor, seed=5, rows=rows))
    assert all(len(frame) == rows for frame in frames[:-1])
    assert pd.concat(frames, ignore_index=True).equals(generators.rmat(scale, factor, seed=5))


def test_wide_labels():
    frame = next(generators.rmat_frames(32, rows=50))
    assert set(frame.dtypes) == {np.dtype(np.int64)}
    assert 2**31 < frame.to_numpy().max() < 2**32
