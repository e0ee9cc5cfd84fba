"""The edges that a page gathers over are cut into parts of equal length, however long the rows are (G12)."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from rapids_trav import Program
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.programs import run as gas
from rapids_trav.engines.cpu.programs.pages import ResidentEdges
from rapids_trav.engines.cpu.programs.state import ProgramWork
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.jit.kernels import PIECES_PER_THREAD, Threads
from rapids_trav.programs.run_state import RunState

LARGEST = Program("largest", "int64", "max")


class Recorded(Threads):
    """Threads that records the arguments of the gather kernel by name."""

    def run(self, function, n_items, *arguments, grain):
        names = inspect.signature(function.py_func).parameters
        if "cuts" in names:
            self.gathered = dict(zip(names, arguments, strict=False)) | {"n_parts": n_items}
        return super().run(function, n_items, *arguments, grain=grain)


def parts_of(degrees, rows=None, n_parts=None, n_threads=2):
    """Return the edges of each part of an iteration in which vertex v gathers over `degrees[v]` edges."""
    n, dst = len(degrees), np.repeat(np.arange(len(degrees)), degrees)
    chunks = lambda: iter([(np.zeros_like(dst), dst)])  # noqa: E731
    engine = CpuEngine()
    into, out = engine.build_adjacency(chunks, n, transpose=True), engine.build_adjacency(chunks, n)
    with Recorded(n_threads) as team:
        view = GatherView(into, out, None, np.diff(out.row_offsets))
        work = ProgramWork(view, LARGEST, RunState(np.arange(n), np.ones(n, bool)), RunOptions(), team)
        (piece,) = ResidentEdges(view).pieces(rows)
        gas.gather(work, piece, n_parts)
        cuts = team.gathered["cuts"]
    gathered = np.asarray(degrees) if rows is None else np.asarray(degrees)[rows]
    assert cuts[-1] - cuts[0] == gathered.sum() and len(cuts) == team.gathered["n_parts"] + 1
    return np.diff(cuts)


SKEWED = np.random.default_rng(1).zipf(1.5, 3000) % 5000
DEGREES = {"hub": [1] * 999 + [9000], "hub first": [9000] + [1] * 999, "even": [7] * 1000, "skewed": SKEWED}


@pytest.mark.parametrize("n_parts", [1, 2, 3, 16, 1000])
@pytest.mark.parametrize("name", DEGREES)
def test_parts_differ_by_an_edge_at_most(name, n_parts):
    parts = parts_of(DEGREES[name], n_parts=n_parts)
    assert len(parts) == n_parts
    assert parts.max() - parts.min() <= 1


def test_notified_rows_are_cut_alike():
    parts = parts_of(DEGREES["skewed"], rows=np.arange(5, 3000, 60), n_parts=7)
    assert parts.max() - parts.min() <= 1


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_threads_get_several_parts_each_of_a_wide_iteration(n_threads):
    parts = parts_of([1_000_000, 1, 1, 200_000], n_threads=n_threads)
    assert len(parts) == PIECES_PER_THREAD * n_threads
    assert parts.max() - parts.min() <= 1
    assert len(parts_of([3, 0, 2], n_threads=n_threads)) == 1  # a few edges are not worth another thread
