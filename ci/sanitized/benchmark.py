"""Graph500: the generator's edges, the rules of validation, and the steps around a search."""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav import generators, graph500
from rapids_trav.engines.cuda.runtime.loader import load
from rapids_trav.graph500 import cuda
from tests.support.graph500_trees import DST, LEVEL, MUTATIONS, PARENT, ROOT, SRC, lasso, mutated


def check_generator() -> None:
    """Check edges 300 to 999 of 512 vertices, for one seed and one set of shares."""
    stream, *labels = generators._streams(5)
    drawn = (stream, *np.array([3 << 30, 2 << 30, 1 << 30], np.uint64), *labels)
    expected = generators._rmat_edges(np.arange(300, 1000, dtype=np.uint64), 9, *drawn)
    for dtype in (np.int32, np.int64):
        src, dst = cupy.empty(700, dtype), cupy.empty(700, dtype)
        kernels = load("rmat.cu", vertex_bits=8 * np.dtype(dtype).itemsize)
        kernels.launch("rmat_edges", 700, 300, 700, 9, *drawn, src, dst)
        assert np.array_equal(src.get(), expected[0]) and np.array_equal(dst.get(), expected[1])


def check_validation(dtype: type) -> None:
    src, dst = cupy.asarray(SRC), cupy.asarray(DST)
    for name in MUTATIONS:
        parent, level, faults = mutated(name)
        verdict = graph500.validate(cupy.asarray(parent.astype(dtype)), ROOT, src, dst, cupy.asarray(level))
        assert verdict.broken == faults, name
    assert graph500.validate(cupy.asarray(PARENT.astype(dtype)), ROOT, src, dst, cupy.asarray(LEVEL)).valid
    parent, src, dst = map(cupy.asarray, lasso(1000))
    assert graph500.validate(parent.astype(dtype), 0, src, dst).rule_1 == 999


def check_pieces() -> None:
    src, dst = cupy.asarray(SRC), cupy.asarray(DST)
    joined = np.isin(np.arange(9), np.concatenate([SRC[SRC != DST], DST[SRC != DST]]))
    assert np.array_equal(cuda.has_neighbor(src, dst, 9), joined)
    assert cuda.component_edges(cupy.asarray(PARENT), src) == np.count_nonzero(PARENT[SRC] != -1)
    labels, predecessor = np.array([1, 4, 5, 7], np.int32), np.array([-1, 0, 1, -1], np.int32)
    parent = cuda.to_labels(cupy.asarray(labels), cupy.asarray(predecessor), 1, 9).get()
    assert parent.tolist() == [-1, 1, -1, -1, 1, 4, -1, -1, -1]


def run() -> None:
    print("Graph500", flush=True)
    check_generator()
    for dtype in (np.int32, np.int64):
        check_validation(dtype)
    check_pieces()
