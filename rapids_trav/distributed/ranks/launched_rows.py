"""Rows of a rank for searches in one launch on each GPU, or the reason why ranks cannot search that way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.distributed.ranks.numbering import Numbering
from rapids_trav.engines.multigpu.communicator import RankError
from rapids_trav.engines.multigpu.one_launch.dealing import SHARED, Dealing
from rapids_trav.engines.multigpu.partition import Part
from rapids_trav.errors import TravError

if TYPE_CHECKING:
    from rapids_trav.engines.multigpu.one_launch.group import Member

ROWS = {"both": "rows by both ends for one launch", "lean": "rows by destination for one launch (lean)"}


@dataclass
class LaunchedRows:
    """Rows for searches in one launch on each GPU, by direction, dealt at the first search."""

    numbering: Numbering
    part: Part
    round_edges: int
    members: dict[str, Member] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)  # why there are none

    def member(self, direction: str) -> Member | None:
        """Return this rank's part in searches in a direction; every rank calls it.

        There is none on CPUs, and where the ranks cannot search in one launch.
        """
        if self.part.work.xp is np or not self.numbering.n:
            return None
        name = direction if self.part.directed else "out"
        if name not in self.members and name not in self.refused:
            try:
                self.members[name] = self._dealt(name)
            except TravError as error:
                if isinstance(error, RankError):
                    raise
                self.refused[name] = str(error)
        return self.members.get(name)

    def memory(self) -> list[tuple[str, int]]:
        """Return the name and the bytes of each structure, and the reason where there is none."""
        held = []
        for direction, member in self.members.items():
            rows, of = member.rank.rows, f", direction {direction}" if self.part.directed else ""
            held.append((f"{ROWS[rows.layout]}{of}", rows.nbytes))
            held.append((f"{SHARED}{of}", member.rank.layout.n_bytes))
        for direction, reason in self.refused.items():
            of = f" in direction {direction}" if self.part.directed else ""
            held.append((f"searches{of} are variant '2d': {reason}", 0))
        return held

    def release(self) -> list[object]:
        """Let go of memory of other ranks; return memory that they may still read."""
        shared: list[object] = [member.release() for member in self.members.values()]
        self.members.clear()
        return shared

    def _dealt(self, direction: str) -> Member:
        from rapids_trav.engines.multigpu.one_launch.deal_among import deal_among, layout_for
        from rapids_trav.engines.multigpu.one_launch.group import Member

        communicator, n = self.numbering.rank.communicator, self.numbering.n
        layout = layout_for(communicator, self.part, n, direction)
        dealing = Dealing(n, communicator.size)
        rows = deal_among(communicator, self.part, dealing, direction, layout, self.round_edges)
        return Member(communicator, rows)
