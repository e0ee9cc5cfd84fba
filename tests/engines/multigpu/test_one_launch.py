"""The search in one launch on each rank, as far as a machine without a GPU can check it."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest

from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.multigpu.one_launch.dealing import ALIGNED, MOST_RANKS, Dealing
from rapids_trav.engines.multigpu.one_launch.trace import (
    STOPPED,
    RankLevel,
    levels_of,
    verdict_of,
    worked_seconds,
)
from rapids_trav.errors import TravError


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 8, MOST_RANKS])
@pytest.mark.parametrize("n_vertices", [0, 1, 127, 128, 129, 10_000])
def test_every_vertex_has_an_id_of_its_own(n_vertices, n_ranks):
    dealing = Dealing(n_vertices, n_ranks)
    places = np.arange(n_vertices)
    ids = dealing.id(places)
    assert len(np.unique(ids)) == n_vertices
    assert np.array_equal(dealing.place(ids), places)
    assert np.array_equal(dealing.owner(ids), places % n_ranks)
    assert (ids < dealing.n_ids).all()
    assert dealing.each % ALIGNED == 0
    assert [dealing.first(rank) for rank in range(n_ranks)] == list(range(0, dealing.n_ids, dealing.each))
    # Ids that no vertex has come after all others in the order by degree.
    others = np.setdiff1d(np.arange(dealing.n_ids), ids)
    assert (dealing.place(others) >= n_vertices).all()


def test_ids_are_wide_where_narrow_ones_end():
    assert Dealing(2**31 - 1024, 2).vertex_dtype == np.int32
    assert Dealing(2**31, 2).vertex_dtype == np.int64


@pytest.mark.parametrize("n_ranks", [0, MOST_RANKS + 1])
def test_numbers_of_ranks_that_are_not_possible_are_refused(n_ranks):
    with pytest.raises(TravError, match=f"takes 1 to {MOST_RANKS} ranks, not {n_ranks}"):
        Dealing(10, n_ranks)


def test_edges_are_balanced_on_skewed_degrees():
    """Ranges of vertices, as `Grid` has them, would give the first rank most edges."""
    degrees = np.sort((1e6 / np.arange(1, 20_000) ** 0.8).astype(np.int64))[::-1]
    dealing = Dealing(len(degrees), 8)
    of_ranks = np.bincount(dealing.owner(dealing.id(np.arange(len(degrees)))), weights=degrees)
    # The first rank has the largest of each eight, so at most the largest of all more than the last.
    assert of_ranks.max() - of_ranks.min() <= degrees[0]
    assert of_ranks.max() < 2 * of_ranks.mean() < degrees[: len(degrees) // 8].sum()


def test_verdicts_name_the_gpu_that_was_missing():
    names = [f"GPU {10 + rank} (rank {rank})" for rank in range(10)]
    assert verdict_of(0, 60.0, names) is None
    late = verdict_of(1 + 3 * MOST_RANKS + 7, 0.5, names)
    assert str(late).startswith("GPU 17 (rank 7) did not answer GPU 13 (rank 3) within 0.5 s")
    assert late.rank == 7
    assert pickle.loads(pickle.dumps(late)).rank == 7
    stopped = verdict_of(STOPPED, 0.5, names)
    assert str(stopped).startswith("The search was stopped")
    assert stopped.rank is None


def test_levels_are_read_from_the_rows_of_a_trace():
    rows = np.array(
        [
            [0, 2, 0, 0, 0, 0, 1_000_000],
            [0 | 1 << 2, 1, 0, 0, 30, 0, 1_500_000],
            [1 | 3 << 2, 25, 0, 0, 70, 0, 3_500_000],
            [9, 9, 9, 9, 9, 9, 9],
        ]
    )
    assert levels_of(rows) == [
        RankLevel("push", "lists", 1, 30, 0.5),
        RankLevel("pull", "words", 25, 70, 2.0),
    ]


def test_the_wait_for_other_ranks_to_begin_is_left_out():
    assert worked_seconds(1_000, 3_000, 1_000_000, 1_005_000) == pytest.approx(7e-6)


@pytest.mark.parametrize("vertex_bits", [32, 64])
@pytest.mark.parametrize("trace", [0, 1])
def test_structs_have_one_size_in_the_kernel_and_on_the_host(vertex_bits, trace):
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda.bfs import fused
    from rapids_trav.engines.multigpu.one_launch import layout

    defines = loader.defines_of("bfs_fused.cu", vertex_bits, 64, RANKED=1, TRACE=trace)
    checks = [
        f"sizeof(Arguments) == {ctypes.sizeof(layout.RANKED_ARGUMENTS[vertex_bits // 8])}",
        f"sizeof(Shared) == {layout.SHARED_BYTES}",
        f"sizeof(Meeting) <= {layout.MEETING_BYTES}",
        f"sizeof(Control) <= {fused.CONTROL_BYTES}",
        f"__builtin_offsetof(Meeting, stop) == {4 * layout.STOP_WORD}",
        f"__builtin_offsetof(Meeting, clock) == {8 * layout.CLOCK_WORD}",
        f"__builtin_offsetof(Meeting, clock) + sizeof(Clock) == {layout.HEAD_BYTES}",
        f"MOST_RANKS == {MOST_RANKS}",
        f"STOPPED == {STOPPED}u",
    ]
    text = loader.source("fused_exchange.cuh", defines)

    def errors(checks: list[str]) -> list[str]:
        whole = "\n".join([text, *(f"static_assert({check});" for check in checks)]).encode()
        program = nvrtc.nvrtcCreateProgram(whole, b"layout.cu", 0, [], [])[1]
        nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_90", b"-std=c++17"])
        log = b" " * (1 + nvrtc.nvrtcGetProgramLogSize(program)[1])  # one byte alone would be a shared object
        nvrtc.nvrtcGetProgramLog(program, log)
        return [line for line in log.decode().splitlines() if ": error:" in line]

    assert errors(checks) == []
    assert len(errors([f"!({check})" for check in checks])) == len(checks)
