"""How a caller wants a vertex program run: the options, checked."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from rapids_trav.algorithms.request import DIRECTIONS, whole_number
from rapids_trav.errors import TravError, listed, written
from rapids_trav.utilities.checks import flag, one_of
from rapids_trav.utilities.locations import location

RUN_MODES = ("auto", "pull", "notify", "push")


PROCESSORS = ("auto", "cpu", "gpu", "hybrid")


GATHERS = ("rows", "replicas")


EVERY = 10  # iterations between checkpoints, unless the caller says otherwise


REPLICATIONS = ("auto", "formula", 1, 2, 4, 8, 16, 32)


@dataclass(frozen=True)
class RunRequest:
    """How a caller wants a program run, checked.

    Attributes
    ----------
    checkpoint : path or None
    """

    direction: str = "out"
    where: Hashable | None = None
    weighted: bool = False
    parameters: tuple[float, ...] = ()
    max_iterations: int | None = None
    asynchronous: bool | None = None
    mode: str = "auto"
    processor: str = "auto"
    trace: bool = False
    checkpoint: Any = None
    checkpoint_every: int = EVERY
    resume: bool = False
    gather: str = "rows"
    replication: int | str = "auto"
    on_page: Callable[[int, int], None] | None = None

    def __post_init__(self) -> None:
        one_of("direction", self.direction, DIRECTIONS)
        one_of("mode", self.mode, RUN_MODES)
        one_of("processor", self.processor, PROCESSORS)
        one_of("gather", self.gather, GATHERS)
        known = isinstance(self.replication, (str, int)) and not isinstance(self.replication, bool)
        if not known or self.replication not in REPLICATIONS:
            raise TravError(
                f"replication={written(self.replication)} is not known: choose one of {listed(REPLICATIONS)}."
            )
        if self.replication != "auto" and self.gather != "replicas":
            raise TravError(
                f"replication={written(self.replication)} is how many copies replicas have: leave it out, or "
                f"give gather='replicas' as well."
            )
        if self.checkpoint is not None:
            location("checkpoint", self.checkpoint)
        for name in ("weighted", "trace", "resume"):
            flag(name, getattr(self, name))
        if self.asynchronous is not None:
            flag("asynchronous", self.asynchronous)
        if self.max_iterations is not None:
            whole_number("max_iterations", self.max_iterations, "None has no limit", "iterations")
        if whole_number("checkpoint_every", self.checkpoint_every, of="iterations", first=1) == 0:
            raise TravError("checkpoint_every=0 writes no checkpoint: give at least 1, or no checkpoint.")
        if self.checkpoint is None and self.checkpoint_every != EVERY:
            raise TravError(
                f"checkpoint_every={self.checkpoint_every} says how often, and there is no checkpoint to "
                f"write: name its folder with checkpoint=."
            )
        if self.resume and self.checkpoint is None:
            raise TravError("resume=True goes on from a checkpoint: name its folder with checkpoint=.")
