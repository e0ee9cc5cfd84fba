"""Interface that NetworkX calls: the functions of the backend by name, conversions, and when they pay."""

from __future__ import annotations

import networkx as nx

from rapids_trav.backends import graphs
from rapids_trav.backends.dispatch import Function, original
from rapids_trav.backends.functions import (
    centralities,
    connected,
    ego,
    generic,
    ranking,
    searching,
    unweighted,
    weighted,
)
from rapids_trav.backends.graphs import Unread, structure_of
from rapids_trav.backends.structure import Arguments, Graph, Value

MODULES = (centralities, connected, ego, generic, ranking, searching, unweighted, weighted)


def functions() -> dict[str, Function]:
    """Return the functions that the backend implements, by their names in NetworkX."""
    found = (value for module in MODULES for value in vars(module).values() if isinstance(value, Function))
    return {function.name: function for function in found}


class Backend:
    """The backend `trav`, as NetworkX's dispatcher expects one.

    Functions that the backend does not implement run NetworkX's own code on a graph of the backend, which is
    a NetworkX graph.  For other graphs they are refused, since a conversion would gain nothing.
    """

    def __init__(self) -> None:
        self._functions = functions()

    def __getattr__(self, name: str) -> Value:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._functions:
            return self._functions[name]
        known = nx.utils.backends._registered_algorithms
        if name in known and known[name].graphs:
            return original(name)
        raise AttributeError(name)

    def can_run(self, name: str, args: tuple, kwargs: Arguments) -> bool | str:
        """Return whether the backend runs a call, or the reason why it does not."""
        if name in self._functions:
            return self._functions[name].can_run(args, kwargs)
        given = [
            graph
            for value in (*args, *kwargs.values())
            for graph in (value if isinstance(value, (list, tuple)) else [value])
        ]
        if any(isinstance(graph, Unread) for graph in given):
            return True
        return f"the backend has no {name}"

    def should_run(self, name: str, args: tuple, kwargs: Arguments) -> bool | str:
        """Return whether converting graphs for a call pays, or the reason why it does not."""
        return self._functions[name].should_run(args, kwargs) if name in self._functions else True

    @staticmethod
    def convert_from_nx(
        graph: Graph, *, edge_attrs: dict | None = None, name: str | None = None, **preserved: object
    ) -> Value:
        """Return a graph of the backend over a NetworkX graph, with the weights that a call needs."""
        converted = graphs.from_networkx(graph)
        for attribute, default in (edge_attrs or {}).items():
            structure_of(converted).weights(attribute, default, "sum" if name == "pagerank" else "min")
        return converted

    @staticmethod
    def convert_to_nx(obj: Value, *, name: str | None = None) -> Value:
        """Return an ordinary NetworkX graph for a graph of the backend, and anything else unchanged."""
        return graphs.to_networkx(obj) if isinstance(obj, Unread) else obj


backend = Backend()
