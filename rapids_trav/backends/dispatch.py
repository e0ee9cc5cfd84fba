"""Functions of the backend: NetworkX's signature of each, when it can run and when it pays.

A body takes the arguments of NetworkX's function and a graph of the backend.  Arguments that it does not
support are refused, with a reason that is logged.  NetworkX's own code then runs on the graph of the backend,
in which it finds ordinary dicts.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable

import networkx as nx

from rapids_trav.backends.graphs import BACKEND, Unread
from rapids_trav.backends.structure import Arguments, Graph, Value
from rapids_trav.jit.kernels import undisguised

logger = logging.getLogger(__name__)

Refusal = Callable[[Arguments], str | None]

# Number of edge ends of a graph (an undirected edge has two) from which a call is worth running here.
# Measured by `python -m benchmarks networkx --thresholds` on paths, grids, random and R-MAT graphs and stars:
# from these sizes on most of the shapes gain.
LEAST_CACHED = 2_000  # once converted: the dispatcher takes 0.1 ms, in which NetworkX searches as many
NEVER = None  # not worth converting: the call mostly reads a small part of the graph
ONE_SEARCH = 100_000  # worth converting for one search that fills a dict, or for components
EDGES = 50_000  # ... for the edges of a search, which NetworkX yields one by one
SETS = 20_000  # ... for a set of the nodes reached, of which NetworkX makes more
BY_WEIGHT = 20_000  # ... for a search by weight
EVERY_SOURCE = 1_000  # ... for a search from every node
ANY = 0  # ... for a power iteration, for which NetworkX itself makes a matrix


NODES = ("source", "target", "n", "u")  # arguments that are nodes


class Function:
    """A function of NetworkX that the backend implements by `body`.

    Converting a graph for a single call pays from `least` edge ends on, which is NEVER if it does not.
    `refuse` returns the reason why a call with these bound arguments is left to NetworkX, or None; `graphs`
    says whether the first argument is a graph.
    """

    def __init__(
        self,
        body: Callable,
        least: int | None,
        refuse: Refusal | None = None,
        graphs: bool = True,
        name: str = "",
    ) -> None:
        self.name = name or body.__name__
        self.__name__ = self.name
        self.__doc__ = body.__doc__
        self.body = body
        self.least = least
        self.graphs = graphs
        self._refuse = refuse
        self._signature = inspect.signature(body)

    def __call__(self, *args: Value, **kwargs: Value) -> Value:
        kwargs = self._taken(kwargs)
        reason = self.refusal(args, kwargs) or self._no_node(args, kwargs)
        if reason is None:
            logger.debug("running %s", self.name)
            try:
                with undisguised():
                    return self.body(*args, **kwargs)
            except NotImplementedError as error:
                if not self.graphs:
                    raise
                reason = str(error)
        logger.debug("leaving %s to NetworkX: %s", self.name, reason)
        return original(self.name)(*args, **kwargs)

    def refusal(self, args: tuple, kwargs: Arguments) -> str | None:
        """Return why the body cannot take these arguments, or None."""
        try:
            bound = self._signature.bind(*args, **self._taken(kwargs))
        except TypeError as error:
            return f"the arguments do not fit: {error}"
        bound.apply_defaults()
        return None if self._refuse is None else self._refuse(bound.arguments)

    def _no_node(self, args: tuple, kwargs: Arguments) -> str | None:
        """Return why an argument cannot be a node, or None: functions of NetworkX word it differently."""
        if not self.graphs:
            return None
        for name, value in self._signature.bind(*args, **kwargs).arguments.items():
            if name not in NODES:
                continue
            if value is None and self._signature.parameters[name].default is not None:
                return f"{name} is None"
            try:
                hash(value)
            except TypeError:
                return f"{name} cannot be hashed"
            if not equals_itself(value):
                return f"{name} does not equal itself"
        return None

    def _taken(self, kwargs: Arguments) -> Arguments:
        """Leave out arguments of a later NetworkX that the body lacks, where they have its default value."""
        added = kwargs.keys() - self._signature.parameters.keys()
        if not added:
            return kwargs
        defaults = {name: p.default for name, p in inspect.signature(original(self.name)).parameters.items()}
        left_out = {name for name in added if kwargs[name] is defaults.get(name, inspect.Parameter.empty)}
        return {name: value for name, value in kwargs.items() if name not in left_out}

    def can_run(self, args: tuple, kwargs: Arguments) -> bool | str:
        """Return whether the backend can run a call, or the reason why it cannot."""
        if not self.graphs:
            return self.refusal(args, kwargs) or True
        graph = args[0] if args else kwargs.get("G")
        if isinstance(graph, Unread):
            return True  # by NetworkX's own code, if necessary
        return strangeness(graph) or self.refusal(args, kwargs) or True

    def should_run(self, args: tuple, kwargs: Arguments) -> bool | str:
        """Return whether converting the graph for a call pays, or the reason why it does not."""
        if not self.graphs:
            return True
        graph: Graph = args[0] if args else kwargs["G"]
        ends = sum(len(nbrs) for nbrs in graph._adj.values())
        if _is_converted(graph):
            least = LEAST_CACHED if self.least is None else min(self.least, LEAST_CACHED)
            return ends >= least or f"the graph has fewer than {least} edge ends"
        if self.least is None:
            return "the call looks at a part of the graph, and converting it takes all of it"
        return ends >= self.least or f"the graph has fewer than {self.least} edge ends to convert"


def dispatched(
    least: int | None, refuse: Refusal | None = None, graphs: bool = True
) -> Callable[[Callable], Function]:
    """Return a decorator that makes a body a function of the backend; see `Function`."""
    return lambda body: Function(body, least, refuse, graphs)


def equals_itself(node: object) -> bool:
    """Return whether a node equals itself, which NaN does not and which NetworkX's searches assume."""
    try:
        return bool(node == node)
    except TypeError:  # pandas' NA
        return False


def networkx_version() -> tuple[int, ...]:
    """Return the major and minor version of NetworkX."""
    return tuple(int(part) for part in nx.__version__.split(".")[:2])


def original(name: str) -> Callable:
    """Return NetworkX's own code of a function."""
    return nx.utils.backends._registered_algorithms[name].orig_func


def strangeness(graph: object) -> str | None:
    """Return why a graph's dicts may not define its neighbours, or None."""
    if not isinstance(graph, nx.Graph):
        return f"{type(graph).__name__} is not a NetworkX graph"
    classes = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
    for name in ("neighbors", "__getitem__", "adj"):
        if getattr(type(graph), name) not in [getattr(kind, name) for kind in classes]:
            return f"{type(graph).__name__} has {name} of its own"
    return None


def _is_converted(graph: Graph) -> bool:
    cache = getattr(graph, "__networkx_cache__", None) or {}
    kept = cache.get("backends", {}).get(BACKEND, {}).values()
    return any(isinstance(other, Unread) for other in kept)
