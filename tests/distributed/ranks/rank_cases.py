"""Loopback ranks that work on the CPU, for the tests of what ranks do together."""

from __future__ import annotations

from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.loopback import run_ranks
from rapids_trav.frames.libraries import PandasFrames

DEADLINE = 30.0


def on_ranks(size, function, deadline=DEADLINE):
    """Call `function(rank)` on every rank; return the results in their order."""
    return run_ranks(
        size, lambda communicator: function(Rank(communicator, CpuWork(), PandasFrames())), deadline=deadline
    )
