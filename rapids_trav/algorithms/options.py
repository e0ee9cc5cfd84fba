"""Options of searches and of vertex programs, defined once, with the checks that need no graph.

The methods of `Graph` take these options, with the same defaults and types.  The accessor is derived from
those methods, and the command line from these classes.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields
from functools import cached_property
from numbers import Real
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from rapids_trav.engines.interface import MOST_LEVELS
from rapids_trav.errors import TravError, written
from rapids_trav.storage.filters import Filter
from rapids_trav.tuning import Policy, RunTuning, SearchTuning, tuned
from rapids_trav.utilities.checks import flag, integer, one_of
from rapids_trav.utilities.locations import location
from rapids_trav.utilities.progress import ProgressOption, check_progress

Mode = Literal["joint", "each"]
Direction = Literal["out", "in", "both"]
RunMode = Literal["auto", "pull", "notify", "push"]
Processor = Literal["auto", "cpu", "gpu", "hybrid"]
Schedule = Literal["auto", "sweep", "paths"]
CheckpointEvery = int | Literal["page"]
ScoresOf = Literal["vertices", "edges"]
Ranks = Literal["float64", "float32"]

EVERY = 10  # iterations between checkpoints, unless the caller says otherwise
PAGE = "page"  # the choice of checkpoints after each page
UNTUNED = SearchTuning()


@functools.cache
def _kinds(options: type[object]) -> dict[str, tuple[str, ...] | type[bool]]:
    """Return what the fields of a class of options may be: the words of a `Literal`, or a flag."""
    hints = {name: hint for name, hint in get_type_hints(options).items() if name != "progress"}
    words = {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    return words | {name: bool for name, hint in hints.items() if hint is bool}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Base class of options: `progress`, and a check of every field that takes words or a flag."""

    progress: ProgressOption = False

    def __post_init__(self) -> None:
        for name, allowed in _kinds(type(self)).items():  # type: ignore[arg-type]
            value = getattr(self, name)
            if allowed is bool:
                if value is not True and value is not False:
                    flag(name, value)
            elif not isinstance(value, str) or value not in allowed:
                one_of(name, value, allowed)
        if self.progress is not False:
            check_progress(self.progress)

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Self:
        """Return options from the `locals()` of a method that takes them by their names."""
        return cls(**{name: arguments[name] for name in cls.__dataclass_fields__.keys() & arguments})


@dataclass(frozen=True, kw_only=True)
class SearchOptions(Options):
    """Options of `Graph.bfs`, which documents them; `paths`, `levels` and `khop` take some of them."""

    mode: Mode = "joint"
    depth_limit: int | None = None
    targets: object = None
    direction: Direction = "out"
    predecessors: bool = True
    reached_only: bool = False
    deterministic: bool = False
    where: Filter = None
    variant: str = "auto"
    tuning: Mapping[str, object] | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.depth_limit is not None:
            whole_number("depth_limit", self.depth_limit, "None searches without limit")
        for name, variant in (("policy", "direction"), ("hub_degree", "fused")):
            value = getattr(self._settings, name)
            if value is not None and not (isinstance(self.variant, str) and self.variant == variant):
                raise TravError(
                    f"{name}={value!r} applies only to the variant {variant!r}: leave it out, or give "
                    f"variant={variant!r} as well, which a graph on workers does not take."
                )

    @property
    def policy(self) -> Policy:
        """The rule by which the variant "direction" switches direction."""
        return self._settings.policy or "gap"

    @property
    def hub_degree(self) -> int | None:
        """The least degree of vertices in the hub cache of the variant "fused"."""
        return self._settings.hub_degree

    @property
    def of_ranks(self) -> dict[str, object]:
        """Settings for graphs on the workers of a cluster, by name."""
        return self._settings.of_ranks

    @cached_property
    def _settings(self) -> SearchTuning:
        return UNTUNED if self.tuning is None else tuned(SearchTuning, self.tuning)


@dataclass(frozen=True, kw_only=True)
class PathOptions(SearchOptions):
    """Options of `Graph.paths`, which documents them."""

    weighted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {"depth_limit": None, "deterministic": False, "variant": "auto", "tuning": None}
        for name, default in given.items():
            if self.weighted and getattr(self, name) != default:
                raise TravError(
                    f"{name}={written(getattr(self, name))} is for paths with the fewest edges, but "
                    f"weighted=True asks for those of the least weight: leave out one of them."
                )


@dataclass(frozen=True, kw_only=True)
class CentralityOptions(Options):
    """Common options of the methods of `Graph` that measure many distances; the methods document them."""

    direction: Direction = "out"
    where: Filter = None


@dataclass(frozen=True, kw_only=True)
class ClosenessOptions(CentralityOptions):
    """Options of `Graph.closeness` and `Graph.harmonic`, which document them."""

    direction: Direction = "in"


@dataclass(frozen=True, kw_only=True)
class BetweennessOptions(CentralityOptions):
    """Options of `Graph.betweenness`, which documents them."""

    k: int | None = None
    sources: object = None
    of: ScoresOf = "vertices"
    normalized: bool = True
    endpoints: bool = False
    seed: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _seed(self.seed)
        if self.k is not None:
            if whole_number("k", self.k, "None takes every vertex as a source", "sources") == 0:
                raise TravError("k=0 samples no vertex: give at least 1.")
            if self.sources is not None:
                raise TravError(f"k={self.k} and sources both choose the sources: give one of them.")
        if self.endpoints and self.of == "edges":
            raise TravError("endpoints=True applies to vertices, but of='edges': leave out one of them.")


@dataclass(frozen=True, kw_only=True)
class IterationOptions(Options):
    """Options common to all methods that iterate a vertex program."""

    where: Filter = None
    asynchronous: bool | None = None
    processor: Processor = "auto"
    schedule: Schedule = "auto"
    trace: bool = False
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: CheckpointEvery = EVERY
    resume: bool = False
    tuning: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.asynchronous is not None:
            flag("asynchronous", self.asynchronous)
        if self.checkpoint is not None:
            location("checkpoint", self.checkpoint)
        self._check_every()
        if self.resume and self.checkpoint is None:
            raise TravError("resume=True continues from a checkpoint: name its folder with checkpoint=.")

    def _check_every(self) -> None:
        every = self.checkpoint_every
        by_page = isinstance(every, str) and every == PAGE
        note = f"{PAGE!r} writes what each page changed"
        if not by_page and whole_number("checkpoint_every", every, note, "iterations", 1) == 0:
            raise TravError("checkpoint_every=0 writes no checkpoint: give at least 1, or no checkpoint.")
        if self.checkpoint is None and every != EVERY:
            raise TravError(
                f"checkpoint_every={written(every)} applies only with checkpoint=: name the folder for "
                f"checkpoints, or leave it out."
            )
        if by_page and self.asynchronous is False:
            raise TravError(
                f"checkpoint_every={PAGE!r} is for asynchronous runs, since what a page of another run "
                f"changes counts only at the end of an iteration: give asynchronous=True, or a number of "
                f"iterations."
            )


@dataclass(frozen=True, kw_only=True)
class ProgramOptions(IterationOptions):
    """Options of `Graph.run`, which documents them."""

    sources: object = None
    direction: Direction = "out"
    weighted: bool = False
    parameters: Sequence[float] = ()
    max_iterations: int | None = None
    asynchronous: bool | None = False
    mode: RunMode = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_iterations is not None:
            whole_number("max_iterations", self.max_iterations, "None has no limit", "iterations")
        self.settings  # noqa: B018 -- refuses unknown ones
        if self.schedule == "paths" and self.mode in ("pull", "notify"):
            raise TravError(
                f"schedule='paths' pushes values along the edges of active vertices, but "
                f"mode={self.mode!r} gathers them: leave out one of the two."
            )
        if self.schedule == "paths" and self.settings.gather != "rows":
            raise TravError(
                f"schedule='paths' pushes values along the edges of active vertices, but "
                f"gather={self.settings.gather!r} gathers them: leave out one of the two."
            )

    def changed(self, **options: object) -> ProgramOptions:
        """Return a copy with these options, such as a filter in the graph's own form; it is not checked."""
        changed = copy(self)
        vars(changed).update(options)
        return changed

    @cached_property
    def settings(self) -> RunTuning:
        """The settings that `tuning` names."""
        return tuned(RunTuning, self.tuning)


@dataclass(frozen=True, kw_only=True)
class ComponentsOptions(Options):
    """Options of `Graph.components`, which documents them."""

    where: Filter = None
    trace: bool = False
    tuning: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.as_program  # noqa: B018 -- refuses unknown settings

    @cached_property
    def as_program(self) -> ProgramOptions:
        """Options of the program that propagates labels, which settings ask for."""
        return ProgramOptions(progress=self.progress, trace=self.trace, direction="both", tuning=self.tuning)


@dataclass(frozen=True, kw_only=True)
class SsspOptions(IterationOptions):
    """Options of `Graph.sssp`, which documents them."""

    direction: Direction = "out"
    predecessors: bool = True
    reached_only: bool = False
    mode: RunMode = "auto"

    def __post_init__(self) -> None:
        Options.__post_init__(self)  # the program's options check what else iterations have
        self.as_program  # noqa: B018 -- raises the errors of the program's options

    def leaves_way_open(self, processor: str) -> bool:
        """Return whether nothing asks for the vertex program rather than another way to the distances."""
        default = (self.asynchronous is None, self.schedule == "auto", self.mode == "auto")
        own = self.processor in ("auto", processor)
        return all(default) and own and not (self.trace or self.tuning) and self.checkpoint is None

    @cached_property
    def as_program(self) -> ProgramOptions:
        """Options of the program that computes distances."""
        return ProgramOptions(**_common(self), direction=self.direction, mode=self.mode, weighted=True)


@dataclass(frozen=True, kw_only=True)
class PagerankOptions(IterationOptions):
    """Options of `Graph.pagerank`, which documents them."""

    alpha: float = 0.85
    tol: float = 1e-5
    max_iter: int = 100
    weighted: bool | None = None
    dtype: npt.DTypeLike = "float64"
    asynchronous: bool | None = False

    def __post_init__(self) -> None:
        _between("alpha", self.alpha, 0.0, 1.0, "the probability of following an edge")
        _between("tol", self.tol, 0.0, float("inf"), "the change below which to stop")
        if whole_number("max_iter", self.max_iter, of="iterations", first=1) == 0:
            raise TravError("max_iter=0 allows no iteration: give at least 1.")
        named = self.type_of_ranks if isinstance(self.dtype, (type, np.dtype)) else self.dtype
        one_of("dtype", named, get_args(Ranks))
        self._program  # noqa: B018 -- raises the errors of the program's options

    @property
    def type_of_ranks(self) -> str:
        """Name of the type of the ranks; `dtype` may be a NumPy or Python type."""
        return self.dtype.__name__ if isinstance(self.dtype, type) else str(self.dtype)

    def as_program(self, n_vertices: int, weighted: bool) -> ProgramOptions:
        """Return the options of the program that computes the ranks of `n_vertices` vertices."""
        parameters = (float(self.alpha), 1.0 / max(n_vertices, 1))
        weighted = weighted if self.weighted is None else self.weighted
        return self._program.changed(parameters=parameters, weighted=weighted)

    @cached_property
    def _program(self) -> ProgramOptions:
        """Options of the program that do not depend on the graph."""
        return ProgramOptions(
            **_common(self),
            weighted=False if self.weighted is None else self.weighted,
            max_iterations=self.max_iter,
        )


def _common(options: IterationOptions) -> dict:
    """Return the common options of `IterationOptions`, by name."""
    return {field.name: getattr(options, field.name) for field in fields(IterationOptions)}


def whole_number(what: str, value: object, note: str = "", of: str = "levels", first: int = 0) -> int:
    """Return a whole number of 0 or more; refuse booleans, fractions and negative numbers.

    Numbers above `MOST_LEVELS` become `MOST_LEVELS`, since no search has more levels than int32 can count.
    In error messages, `what` names the option, `note` explains another accepted value, `of` says what is
    counted, and `first` is the smallest number, for callers that refuse 0 themselves.
    """
    note = f" ({note})" if note else ""
    number = integer(value)
    if number is None or number < 0:
        raise TravError(
            f"{what}={written(value)} is not a number of {of}: give an integer of {first} or more{note}."
        )
    return min(number, MOST_LEVELS)


def _seed(seed: object) -> None:
    """Refuse a seed that NumPy would not take, or would take otherwise than as a number."""
    number = 0 if seed is None else integer(seed)
    if number is None or number < 0:
        raise TravError(
            f"seed={written(seed)} is not a seed: give an integer of 0 or more (None samples anew each time)."
        )


def _between(what: str, value: object, low: float, high: float, meaning: str) -> None:
    try:
        inside = isinstance(value, Real) and not isinstance(value, bool) and low < float(value) < high
    except OverflowError:
        inside = False
    if not inside:
        least = f"above {low:g}" if high == float("inf") else f"between {low:g} and {high:g}"
        raise TravError(f"{what}={written(value)} is not {meaning}: give a number {least}.")
