"""The reason why ranks gave up a search, decoded from the word that the kernel left."""

from __future__ import annotations

from collections.abc import Sequence

from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.one_launch.dealing import MOST_RANKS

STOPPED = 2**32 - 1  # as in kernels/fused_meeting.cuh


def verdict_of(stop: int, deadline: float, names: Sequence[str]) -> RankError | None:
    """Return the error for the word, or None if the search ended.

    Parameters
    ----------
    stop : int
        `stop` of the kernel's `Meeting`.
    deadline : float
        Seconds for which a rank waited for others.
    names : sequence of str
        Name of each rank, with its GPU.
    """
    if stop == 0:
        return None
    if stop == STOPPED:
        return RankError("The search was stopped, because its graph was closed meanwhile.")
    rank, missing = divmod(stop - 1, MOST_RANKS)
    return RankError(
        f"{names[missing]} did not answer {names[rank]} within {deadline:g} s: end other work on it, and ask "
        f"again.",
        missing,
    )
