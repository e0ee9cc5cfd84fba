"""Options for building a graph, defined once, with the checks that need neither edges nor engine."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from rapids_trav.engines.interface import Engine
from rapids_trav.errors import TravError, written
from rapids_trav.tuning import BuildTuning, tuned
from rapids_trav.utilities.checks import flag, integer, one_of
from rapids_trav.utilities.locations import folder
from rapids_trav.utilities.progress import ProgressOption, check_progress
from rapids_trav.utilities.sizes import parse_limit

Ends = Hashable | Sequence[Hashable] | None
Order = Literal["degree", "locality", "ids"]


@dataclass(frozen=True)
class BuildOptions:
    """Options of `Graph.from_edges`; see there for their meaning."""

    src: Ends = None
    dst: Ends = None
    directed: bool | None = None
    weight: Hashable | None = None
    vertices: object = None
    engine: str | Engine = "auto"
    degree_sort: bool | None = None
    order: Order | None = None
    memory_limit: int | str | None = None
    spill: str | os.PathLike[str] | None = None
    tuning: Mapping[str, object] | None = None
    client: object = None
    grid: tuple[int, int] | None = None
    devices: str | Sequence[int] | None = None
    keep_rows: bool = True
    progress: ProgressOption = False

    def __post_init__(self) -> None:
        if self.progress is not False:
            check_progress(self.progress)
        if self.directed is not None:
            flag("directed", self.directed)
        if self.degree_sort is not None:
            flag("degree_sort", self.degree_sort)
        if self.order is not None:
            one_of("order", self.order, get_args(Order))
            if self.degree_sort is not None:
                raise TravError(
                    f"order={self.order!r} and degree_sort={self.degree_sort} both choose the numbering of "
                    f"the vertices: leave out degree_sort."
                )
        if self.memory_limit is not None:
            parse_limit(self.memory_limit)
        if self.spill is not None:
            folder("spill", self.spill)
        sort = None if self.tuning is None else self.settings.sort
        if sort is not None and not self.degree_sort and self.order != "degree":
            remedy = "degree_sort=True as well" if self.order is None else "order='degree'"
            raise TravError(
                f"sort={sort!r} applies only to the order by degree: leave it out, or give {remedy}."
            )
        if self.grid is not None:
            _check_grid(self.grid)
        if self.devices is not None:
            self._check_devices()
        if self.keep_rows is not True:
            flag("keep_rows", self.keep_rows)

    @cached_property
    def settings(self) -> BuildTuning:
        """The settings for research."""
        return tuned(BuildTuning, self.tuning)

    def vertex_order(self, usual: Literal["none", "radix"]) -> Order:
        """Return the order in which vertices are numbered; `usual` is the engine's default sort."""
        if self.order is not None:
            return self.order
        by_degree = usual != "none" if self.degree_sort is None else self.degree_sort
        return "degree" if by_degree else "ids"

    @property
    def for_workers(self) -> bool:
        """Whether an option is given that only graphs on the workers of a cluster take."""
        return self.client is not None or self.grid is not None or self.keep_rows is not True

    def _check_devices(self) -> None:
        """Refuse anything but "all" or numbers of GPUs, and options that do not go with several."""
        given = self.devices
        numbers = given.tolist() if isinstance(given, np.ndarray) else given
        numbers = numbers if isinstance(numbers, (tuple, list, range)) else ()
        if not (isinstance(given, str) and given == "all") and not (
            len(numbers) and all((number := integer(one)) is not None and number >= 0 for one in numbers)
        ):
            raise TravError(
                f'devices={written(given)} does not name GPUs: give their numbers, such as [0, 1], or "all".'
            )
        for name in ("memory_limit", "spill"):
            if (value := getattr(self, name)) is not None:
                raise TravError(
                    f"{name}={written(value)} has no meaning with devices, which hold all edges: leave out "
                    f"one of them."
                )
        if self.order not in (None, "degree") or self.degree_sort is False:
            name = "degree_sort" if self.order is None else "order"
            raise TravError(
                f"{name}={written(getattr(self, name))} does not go with devices, which need the vertices in "
                f"order of degree: leave it out."
            )


def _check_grid(grid: object) -> None:
    """Refuse anything but a pair of positive integers, the rows and columns."""
    sides = grid if isinstance(grid, (tuple, list)) else ()
    if len(sides) != 2 or not all((integer(side) or 0) > 0 for side in sides):
        raise TravError(
            f"grid={written(grid)} is not a grid of workers: give its rows and columns, such as (2, 2)."
        )
