"""What a rank keeps between requests, and what it leaves for others to fetch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.frames.columns import Frame


@dataclass
class RankState:
    """State of one rank; the first argument of every function that is called on all ranks.

    Attributes
    ----------
    communicator : Communicator
    device : {"cpu", "cuda"}
    partitions : list of (int, Frame)
        Edges that were handed over, with the number of their partition.
    items : dict
        What functions keep for later ones, for instance the graph.
    """

    communicator: Communicator
    device: Literal["cpu", "cuda"]
    partitions: list[tuple[int, Frame]] = field(default_factory=list)
    items: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Kept:
    """Answer of a rank whose frames stay where they are.

    Attributes
    ----------
    frames : mapping of str to list of frames
        The partitions of each frame of the answer that this rank has, in order.
    about : object
        What the client is told, for instance the lengths of the frames.
    """

    frames: Mapping[str, list[Frame]]
    about: object = None
