"""State of a rank between requests, and answers whose frames stay on its worker."""

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
        Partitions of the edges that the rank was given, each with its number.
    items : dict
        Objects that functions keep for later calls, for instance the graph.  If one has a method `release`,
        this is called before the object is dropped, and what it returns is added to `exported`.
    exported : list
        Memory that other ranks may still read, until all have left.
    """

    communicator: Communicator
    device: Literal["cpu", "cuda"]
    partitions: list[tuple[int, Frame]] = field(default_factory=list)
    items: dict[str, object] = field(default_factory=dict)
    exported: list[object] = field(default_factory=list)


@dataclass(frozen=True)
class Kept:
    """Answer of a rank whose frames become Dask data on its worker.

    Attributes
    ----------
    frames : mapping of str to list of frames
        The partitions of each frame of the answer that this rank has, in order.
    about : object
        Information for the client, for instance the lengths of the frames.
    """

    frames: Mapping[str, list[Frame]]
    about: object = None
