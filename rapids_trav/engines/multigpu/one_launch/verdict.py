"""Why ranks gave a search up, from the word that the kernel left."""

from __future__ import annotations

from rapids_trav.engines.multigpu.errors import RankError
from rapids_trav.engines.multigpu.one_launch.dealing import MOST_RANKS

STOPPED = 2**32 - 1  # as in kernels/fused_meeting.cuh


def verdict_of(stop: int, deadline: float) -> RankError | None:
    """Return the error for the word, or None if the search ended.

    Parameters
    ----------
    stop : int
        `stop` of the kernel's `Meeting`.
    deadline : float
        Seconds for which a rank waited for others.
    """
    if stop == 0:
        return None
    if stop == STOPPED:
        return RankError.because("the search was stopped while ranks waited for each other")
    rank, missing = divmod(stop - 1, MOST_RANKS)
    return RankError.because(f"rank {missing} did not answer rank {rank} within {deadline:g} s", missing)
