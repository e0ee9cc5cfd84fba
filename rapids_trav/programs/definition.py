"""Gather-apply-scatter programs: what a vertex computes from its neighbours, written once for every engine.

L. Ma, Z. Yang, H. Chen, J. Xue, Y. Dai, "Garaph: Efficient GPU-accelerated Graph Processing on a Single
Machine with Balanced Replication", USENIX ATC 2017; J. Gonzalez et al., "PowerGraph", OSDI 2012.

Every vertex has a value.  In an iteration each vertex u offers its neighbours `scatter(value, degree)`; v
reduces what comes in over its edges, `gather(message, weight)`, with min, max or sum, and takes
`apply(value, gathered, total, parameters)` as its new value.  It is active if `active(value, new)`; a run
ends when no vertex is.

With min and max, a vertex whose value is the reducer's identity has nothing to say: its message is the
identity, and so is what arrives of an identity.  Neither `scatter` nor `gather` is called with it, so that
`message + 1` never overflows.  The 0 of a sum is a number like others.

Which vertices do so is the engine's choice, and the same values come of each (SYSTEMS G13):

- pull: all of them.
- notify: those that an active vertex has an edge to; they gather over all their edges in.  Where `apply` is
  given, the active vertices themselves as well, since it may make more of their new value.  Not with `total`,
  which may change without a neighbour.
- push, for min and max without `apply`: active vertices hand their messages to their neighbours.

A vertex without edges in gathers the reducer's identity.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from rapids_trav.errors import TravError, listed, written

Scalar = Any
REDUCERS = ("min", "max", "sum")
DTYPES = ("int32", "int64", "float32", "float64")
# The arguments that each function of a program may take; it may leave out those at the end.
ARGUMENTS = {
    "scatter": ("value", "degree"),
    "gather": ("message", "weight"),
    "apply": ("value", "gathered", "total", "parameters"),
    "active": ("value", "new"),
    "total": ("value", "degree"),
}


@dataclass(frozen=True)
class Program:
    """A vertex program.

    The functions are plain Python over scalars, compiled by Numba for the engine that runs them: arithmetic,
    comparisons, conditions and `math`.  They may leave out arguments at the end (`gather=lambda message:
    message + 1`).  Numbers that vary from run to run are best handed over as `parameters`; what a function
    takes from its surroundings is compiled in.

    Division by zero raises no error, on either engine.  Of floats, and of integers by ``/``, it gives what
    IEEE 754 says: an infinite number, or NaN for ``0 / 0`` and for a remainder.  ``//`` and ``%`` of integers
    give 0, as NumPy's do; where another value is wanted, ask first: ``value // degree if degree else value``.

    Parameters
    ----------
    name : str
        What errors and traces call it.
    dtype : {"int32", "int64", "float32", "float64"}, or NumPy's dtype or type of that name
        Type of values and messages, to which results are converted; of integers, functions that give floats
        are refused when they are compiled, and sums and differences past the type wrap around as NumPy's do.
    reducer : {"min", "max", "sum"}
        How a vertex combines what it gathers; the identity (largest, smallest, 0) if it has no edges in.
    scatter : callable(value, degree) -> message, optional
        What a vertex offers over its out-edges; `degree` is its number of out-edges, or in a weighted run the
        sum of their weights.  By default its value.  For min and max, a vertex whose value is the reducer's
        identity has nothing to say: its message is the identity, and neither `scatter` nor `gather` is
        called with it.
    gather : callable(message, weight) -> value, optional
        What arrives over one edge; `weight` is 1 in an unweighted run.  By default the message.
    apply : callable(value, gathered, total, parameters) -> value, optional
        New value of a vertex.  By default the reducer of both (min, max), or what was gathered (sum).
        `parameters` are read one by one, from ``parameters[0]`` on.  A run that gives fewer than it reads is
        refused; of an index that is computed, as in a loop, the CPU notices only one past the end, and a GPU
        none.
    active : callable(value, new) -> bool, optional
        Whether a change matters to the neighbours.  By default ``new != value``.
    total : callable(value, degree) -> number, optional
        Summed over all vertices, in float64, before each iteration and given to `apply`; 0 by default.  With
        it every vertex is applied in every iteration.
    tolerance : number from 0 on, optional
        Stop as well when the sum of ``abs(new - value)`` over all vertices is below it.
    asynchronous : bool, optional
        Whether new values may be used in the iteration that made them.  By default true for min and max,
        which reach the same end in any order, and false for sum.
    """

    name: str
    dtype: str
    reducer: str
    scatter: Callable[..., Scalar] | None = None
    gather: Callable[..., Scalar] | None = None
    apply: Callable[..., Scalar] | None = None
    active: Callable[..., bool] | None = None
    total: Callable[..., float] | None = None
    tolerance: float | None = None
    asynchronous: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TravError(f"name={written(self.name)} of a program is not a string: give it a name.")
        if not isinstance(self.reducer, str) or self.reducer not in REDUCERS:
            raise TravError(
                f"reducer={written(self.reducer)} of a program is not known: choose one of "
                f"{listed(REDUCERS)}."
            )
        dtype = getattr(self.dtype, "__name__", self.dtype)  # np.float32 as well
        dtype = dtype.name if isinstance(dtype, np.dtype) else dtype
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise TravError(
                f"dtype={written(self.dtype)} of a program is not known: choose one of {listed(DTYPES)}."
            )
        object.__setattr__(self, "dtype", dtype)
        for name, known in ARGUMENTS.items():
            function = getattr(self, name)
            if function is None:
                continue
            function = getattr(function, "py_func", function)
            if not isinstance(function, FunctionType):
                raise TravError(
                    f"{name} of program {self.name!r} is {kind_of(function)}: "
                    f"give a Python function, which may be a lambda around it."
                )
            object.__setattr__(self, name, function)
            try:
                taken = n_arguments(function)
            except TravError as error:
                raise TravError(f"{name} of program {self.name!r} {error}") from None
            if not 1 <= taken <= len(known):
                raise TravError(
                    f"{name} of program {self.name!r} takes {taken} arguments: "
                    f"it may take {', '.join(known)}, or fewer from the left."
                )
        if self.tolerance is not None and not _is_tolerance(self.tolerance):
            raise TravError(
                f"tolerance={written(self.tolerance)} of program {self.name!r} is not a number from 0 on: "
                f"give the sum of changes below which to stop, or None."
            )
        if not isinstance(self.asynchronous, (bool, np.bool_, NoneType)):
            raise TravError(
                f"asynchronous={written(self.asynchronous)} of program {self.name!r} is neither True nor "
                f"False: give one of them, or None."
            )
        if self.asynchronous is None:
            object.__setattr__(self, "asynchronous", self.reducer != "sum")

    @property
    def may_push(self) -> bool:
        """Whether handing out changed values alone gives the same: what is reduced once stays reduced."""
        return self.reducer != "sum" and self.apply is None and self.total is None

    @property
    def may_notify(self) -> bool:
        """Whether a vertex may rest while its neighbours and its own value stay as they are."""
        return self.total is None

    def has_converged(self, residual: float) -> bool:
        """Return whether changes that add up to `residual` end a run; NaN, before any iteration, does not."""
        return self.tolerance is not None and residual < self.tolerance

    @property
    def identity(self) -> Scalar:
        """Return what reducing nothing gives, as a NumPy scalar of `dtype`."""
        dtype = np.dtype(self.dtype)
        if self.reducer == "sum":
            return dtype.type(0)
        if dtype.kind == "f":
            return dtype.type(np.inf if self.reducer == "min" else -np.inf)
        limits = np.iinfo(dtype)
        return dtype.type(limits.max if self.reducer == "min" else limits.min)


def _is_tolerance(value: object) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and float(value) >= 0
    except OverflowError:
        return False


def kind_of(value: object) -> str:
    """Return the type of a value with its article: "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def n_arguments(function: Callable) -> int:
    """Count the positional arguments of a function of a program.

    Raises
    ------
    TravError
        If it has others; the message is the predicate of a sentence.
    """
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.default is not parameter.empty for parameter in parameters):
        raise TravError(
            "has arguments with defaults, and is called by position: take such values from the surroundings "
            "of the function."
        )
    kinds = [parameter.kind for parameter in parameters]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(kind not in positional for kind in kinds):
        raise TravError("takes *arguments or keywords, and is called by position: name each argument.")
    return len(kinds)
