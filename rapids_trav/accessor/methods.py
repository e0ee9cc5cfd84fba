"""The methods of `frame.trav`, derived from those of `Graph`: the same signatures, documentation and checks.

`ci/write_stubs.py` writes the stub with their signatures.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Generic

from rapids_trav.errors import NOT_COLLECTED, EdgeColumnsError
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.kinds import FrameT

if TYPE_CHECKING:
    from rapids_trav.algorithms.bfs import Answer

    Method = Callable[..., Answer]


class Derived:
    """Descriptor of a method derived from `Graph` on first access, since the import of that takes long."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, accessor: object, owner: type) -> Method:
        from rapids_trav.graph import Graph

        if self._name == "graph":
            method = building(Graph.from_edges)
        else:
            method = one_question(getattr(Graph, self._name))
        setattr(owner, self._name, method)
        return method if accessor is None else getattr(accessor, self._name)


class TravAccessor(Generic[FrameT]):
    """Graph traversal over the edges of this frame.

    It holds nothing but the frame.  Its other methods build a graph for one question; for several, keep the
    graph: ``graph = edges.trav.graph()``.

    Raises
    ------
    AttributeError
        If the frame has fewer than two columns, so that it cannot hold edges.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> edges.trav.paths(0, [3])
       target  step  vertex
    0       3     0       0
    1       3     1       1
    2       3     2       3
    >>> edges.trav.graph(directed=True)
    <Graph: 5 vertices, 4 edges (src to dst, directed), pandas frames, cpu engine>
    """

    def __init__(self, frame: FrameT) -> None:
        n_columns = len(proxies.held(frame).columns)
        if n_columns < 2:
            count = {0: "no column", 1: "one column"}[n_columns]
            raise EdgeColumnsError(f"A frame of {count} holds no edges: .trav needs a column for each end.")
        self._frame = frame

    graph = Derived()
    bfs = Derived()
    paths = Derived()
    khop = Derived()
    levels = Derived()
    distances = Derived()
    closeness = Derived()
    harmonic = Derived()
    eccentricity = Derived()
    diameter = Derived()
    betweenness = Derived()
    components = Derived()
    sssp = Derived()
    pagerank = Derived()
    run = Derived()


class LazyFrameAccessor:
    """Accessor of lazy polars frames, which says, in place of polars, that they must be collected first."""

    def __init__(self, frame: Frame) -> None:
        """Accept a frame, which is not used."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):  # special names that Python looks up, for example in copying
            raise AttributeError(name)
        raise EdgeColumnsError(NOT_COLLECTED)


def building(from_edges: Method) -> Method:
    """Return the accessor's method `graph`, which calls `Graph.from_edges` with its frame."""
    signature = inspect.signature(from_edges)
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    parameters = [own, *(part for name, part in signature.parameters.items() if name != "edges")]

    def graph(accessor: Any, /, *arguments: object, **options: object) -> Answer:
        return from_edges(accessor._frame, *arguments, **options)

    documentation = re.sub(r"\nedges : .*\n(?: .*\n)+", "\n", inspect.getdoc(from_edges) or "")
    return _dressed(graph, signature.replace(parameters=parameters), documentation)


def one_question(method: Method) -> Method:
    """Return the accessor's form of a method, which builds a graph for one question."""
    from rapids_trav.distributed import clusters
    from rapids_trav.graph import Graph

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
    from rapids_trav.tuning import BuildTuning, setting_names

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
