"""Gather-apply-scatter programs: the computation of a vertex from its neighbours, for every engine.

L. Ma, Z. Yang, H. Chen, J. Xue, Y. Dai, "Garaph: Efficient GPU-accelerated Graph Processing on a Single
Machine with Balanced Replication", USENIX ATC 2017; J. Gonzalez et al., "PowerGraph", OSDI 2012.

Every vertex has a value.  In an iteration each vertex u sends its neighbours `scatter(value, degree)`; v
reduces the results of `gather(message, weight)` over its in-edges with min, max or sum, and takes
`apply(value, gathered, total, parameters)` as its new value.  It is active if `active(value, new)`; a run
ends when no vertex is active.

With min and max, a vertex whose value is the reducer's identity sends nothing: its message is the identity,
and so is the result of gathering an identity.  Neither `scatter` nor `gather` is called with it, so that
`message + 1` never overflows.  The 0 of a sum is an ordinary number.

The engine chooses which vertices gather, and every choice gives the same values (docs/systems.md, G13):

- pull: all vertices.
- notify: the vertices to which an active vertex has an edge; they gather over all their in-edges.  If `apply`
  is given, also the active vertices themselves, since `apply` may change their new value again.  Not with
  `total`, which may change without a neighbour.
- push, for min and max without `apply` and `start`: active vertices send their messages to their neighbours.

A vertex without in-edges gathers the reducer's identity.  With a `start` it gathers that instead, and others
reduce it with what arrives (docs/systems.md, G19); values are then not pushed.
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
# The arguments that each function of a program may take; it may omit trailing ones.
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
    comparisons, conditions and `math`.  They may omit trailing arguments (`gather=lambda message: message +
    1`).  Numbers that vary from run to run are best passed as `parameters`; globals and closures of a
    function are compiled in.

    Division by zero raises no error on either engine.  For floats, and for integers with ``/``, it gives the
    result of IEEE 754: infinity, or NaN for ``0 / 0`` and for a remainder.  ``//`` and ``%`` of integers
    give 0, as in NumPy; if another value is wanted, test first: ``value // degree if degree else value``.

    On the CPU a function may raise an error, which ends the run and gets a note that names the program.  A
    GPU refuses such a function when it is compiled.

    Parameters
    ----------
    name : str
        Name used in errors and traces.
    dtype : {"int32", "int64", "float32", "float64"}, or NumPy's dtype or type of that name
        Type of values and messages, to which results are converted.  For integers, functions that return
        floats are refused when they are compiled, and sums and differences beyond the type wrap around as in
        NumPy.
    reducer : {"min", "max", "sum"}
        Combines the gathered values; the identity (largest, smallest, 0) if a vertex has no in-edges.
    scatter : callable(value, degree) -> message, optional
        Message over the out-edges; `degree` is the number of out-edges, or in a weighted run the sum of
        their weights.  By default the vertex's value.  For min and max, a vertex whose value is the reducer's
        identity sends nothing: its message is the identity, and neither `scatter` nor `gather` is
        called with it.
    gather : callable(message, weight) -> value, optional
        Value received over one edge; `weight` is 1 in an unweighted run.  By default the message.
    apply : callable(value, gathered, total, parameters) -> value, optional
        New value of a vertex.  By default the reducer of both (min, max), or the gathered value (sum).
        `parameters` are read one by one, from ``parameters[0]`` on.  A run that is given none, or fewer than
        `apply` reads, is refused; leave the argument out if `apply` reads none.  If an index is computed, as
        in a loop, the CPU detects only an index past the end, and a GPU detects none.
    active : callable(value, new) -> bool, optional
        Whether a change matters to the neighbours.  By default ``new != value``.
    total : callable(value, degree) -> number, optional
        Summed over all vertices, in float64, before each iteration and given to `apply`; 0 by default.  With
        it, every vertex is applied in every iteration.
    tolerance : number of 0 or more, optional
        Stop as well when the sum of ``abs(new - value)`` over all vertices is below it.
    asynchronous : bool, optional
        Whether new values may be used in the iteration that computed them.  By default true for min and max,
        which reach the same result in any order, and false for sum.
    start : number, optional
        What the reduction of a vertex starts from, once in each iteration; by default the reducer's identity,
        which changes nothing.  All vertices are active at first.

    Examples
    --------
    >>> import pandas as pd
    >>> from rapids_trav import Program
    >>> roads = pd.DataFrame({"src": ["BGO", "OSL"], "dst": ["OSL", "HAM"], "km": [463, 127]})
    >>> widest = Program("widest", "int64", "max", gather=lambda message, width: min(message, width))
    >>> roads.trav.graph(weight="km").run(widest, initial={"OSL": 999}, weighted=True)
      vertex  value
    0    BGO    463
    1    HAM    127
    2    OSL    999
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
    start: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TravError(f"name={written(self.name)} of a program is not a string: give it a name.")
        if not isinstance(self.reducer, str) or self.reducer not in REDUCERS:
            raise TravError(
                f"reducer={written(self.reducer)} of a program is not known: choose one of "
                f"{listed(REDUCERS)}."
            )
        dtype = getattr(self.dtype, "__name__", self.dtype)  # accepts np.float32 as well
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
                    f"give a Python function, such as a lambda that calls it."
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
                f"tolerance={written(self.tolerance)} of program {self.name!r} is not a number of 0 or more: "
                f"give the sum of changes below which to stop, or None."
            )
        if self.start is not None:
            start = _in_dtype(self.start, np.dtype(dtype))
            if start is None:
                raise TravError(
                    f"start={written(self.start)} of program {self.name!r} is not a number of type {dtype}: "
                    f"give what a vertex's reduction starts from, or None."
                )
            object.__setattr__(self, "start", start)
        if not isinstance(self.asynchronous, (bool, np.bool_, NoneType)):
            raise TravError(
                f"asynchronous={written(self.asynchronous)} of program {self.name!r} is neither True nor "
                f"False: give one of them, or None."
            )
        if self.asynchronous is None:
            object.__setattr__(self, "asynchronous", self.reducer != "sum")

    @property
    def may_push(self) -> bool:
        """Whether sending only changed values gives the same result: a reduced value stays reduced."""
        own = (self.apply, self.total, self.start)
        return self.reducer != "sum" and own == (None, None, None)

    @property
    def active_gather(self) -> bool:
        """Whether active vertices gather in notify mode too: they may change without a neighbour.

        A sum without `apply` replaces the value, which at first need not be the sum of anything.
        """
        return self.reducer == "sum" or self.apply is not None or self.start is not None

    @property
    def may_notify(self) -> bool:
        """Whether a vertex may be skipped while its neighbours' and its own values are unchanged."""
        return self.total is None

    def has_converged(self, residual: float) -> bool:
        """Return whether changes that add up to `residual` end a run; NaN, before any iteration, does not.

        Examples
        --------
        >>> from rapids_trav import Program
        >>> Program("spread", "float64", "sum", tolerance=0.1).has_converged(0.05)
        True
        """
        return self.tolerance is not None and residual < self.tolerance

    @property
    def identity(self) -> Scalar:
        """The result of reducing nothing, as a NumPy scalar of `dtype`."""
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


def _in_dtype(value: object, dtype: np.dtype) -> float | None:
    """Return a number as a Python number that a dtype can hold; None if it is none, NaN or too large."""
    if isinstance(value, bool):
        return None
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        whole = int(value) if isinstance(value, (int, np.integer)) else None
        return whole if whole is not None and limits.min <= whole <= limits.max else None
    if not isinstance(value, Real) or value != value:
        return None
    try:
        with np.errstate(over="ignore"):
            found = dtype.type(float(value)).item()
    except OverflowError:
        return None
    return found if np.isinf(found) == np.isinf(float(value)) else None


def kind_of(value: object) -> str:
    """Return the type of a value with its article: "an int"."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def n_arguments(function: Callable) -> int:
    """Count the positional arguments of a function; the error about others is the predicate of a sentence."""
    if (known := _plain_arguments(function)) is not None:
        return known
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.default is not parameter.empty for parameter in parameters):
        raise TravError(
            "has arguments with defaults, but is called by position: use variables from outside the function "
            "instead."
        )
    kinds = [parameter.kind for parameter in parameters]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(kind not in positional for kind in kinds):
        raise TravError("takes *arguments or keywords, but is called by position: name each argument.")
    return len(kinds)


def _plain_arguments(function: Callable) -> int | None:
    """Return the number of arguments of a plain function that has only positional ones; None for others.

    Making a whole signature takes longer than many runs.
    """
    if type(function) is not FunctionType or function.__defaults__ or vars(function):
        return None
    code = function.__code__
    others = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return None if code.co_kwonlyargcount or code.co_flags & others else code.co_argcount
