"""Methods of the accessor, derived from those of `Graph`: the same signatures, documentation and checks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any

from rapids_trav.algorithms.bfs import Answer
from rapids_trav.distributed import clusters
from rapids_trav.graph import Graph
from rapids_trav.tuning import BuildTuning, setting_names

Method = Callable[..., Answer]


def derived(name: str) -> Method:
    """Return the accessor's method of this name: `graph`, which builds a graph, or a question of `Graph`."""
    return building(Graph.from_edges) if name == "graph" else one_question(getattr(Graph, name))


def building(from_edges: Method) -> Method:
    """Return the accessor's method `graph`, which calls `Graph.from_edges` with its frame."""
    signature = inspect.signature(from_edges)
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [own, *(part for name, part in signature.parameters.items() if name != "edges")]

    def graph(accessor: Any, /, *arguments: object, **options: object) -> Graph:
        return from_edges(accessor._frame, *arguments, **options)

    documentation = re.sub(r"\nedges : .*\n(?: .*\n)+", "\n", inspect.getdoc(from_edges) or "")
    return _dressed(graph, signature.replace(parameters=parameters), documentation)


def one_question(method: Method) -> Method:
    """Return the accessor's form of a method, which builds a graph for one question."""
    own = inspect.signature(method)
    options_of_graph = [
        part.replace(kind=Parameter.KEYWORD_ONLY)
        for name, part in inspect.signature(Graph.from_edges).parameters.items()
        if name != "edges"
    ]
    names = [option.name for option in options_of_graph]
    more = [option for option in options_of_graph if option.name not in own.parameters]

    def ask(accessor: Any, /, *arguments: object, **options: object) -> Answer:
        for_graph = {name: options.pop(name) for name in names if name in options}
        clusters.refuse_unanswered(method.__name__, accessor._frame, for_graph.get("client"))
        if "progress" in for_graph:  # of the build, and of the question
            options["progress"] = for_graph["progress"]
        if "tuning" in for_graph and "tuning" in own.parameters:
            for_graph["tuning"], options["tuning"] = _split(for_graph["tuning"])
        with Graph.from_edges(accessor._frame, **for_graph) as graph:  # type: ignore[call-overload]
            return method(graph, *arguments, **options)

    summary, _, rest = (inspect.getdoc(method) or "").partition("\n\n")
    others = _listed([part.name for part in more])
    built = f"The graph of the edges is built for this one question: {others} are as in `graph`."
    if "tuning" in own.parameters:
        built += "  `tuning` takes the settings of both."
    built += "  `progress` tells of the build, too."
    signature = own.replace(parameters=[*own.parameters.values(), *more])
    return _dressed(ask, signature, f"{summary}\n\n{built}\n\n{rest}", method.__name__)


def _split(tuning: object) -> tuple[object, object]:
    """Return the settings for building the graph, and the remaining settings."""
    if not isinstance(tuning, Mapping):
        return tuning, None  # the build refuses it
    of_build = setting_names(BuildTuning)
    return (
        {name: value for name, value in tuning.items() if name in of_build},
        {name: value for name, value in tuning.items() if name not in of_build},
    )


def _listed(names: list[str]) -> str:
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} and {last}"


def _dressed(method: Method, signature: Signature, documentation: str, name: str = "graph") -> Method:
    """Return the method with a name, a signature that is checked at each call, and documentation."""

    def checked(self: Any, /, *arguments: object, **options: object) -> Answer:
        try:
            signature.bind(self, *arguments, **options)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        return method(self, *arguments, **options)

    checked.__name__, checked.__qualname__ = name, f"TravAccessor.{name}"
    checked.__doc__ = documentation
    checked.__signature__ = signature  # type: ignore[attr-defined]
    return checked
