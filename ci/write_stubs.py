"""Write the type stubs of `Graph` and of the accessor, whose methods are derived from those of `Graph`.

python ci/write_stubs.py            write rapids_trav/graph/__init__.pyi and rapids_trav/accessor/methods.pyi
python ci/write_stubs.py --check    exit with 1 if the files differ from what would be written

The stubs state what type checkers cannot infer from the sources: the library of the answers, by the kind of
the edges, and that a query with ``trace=True`` returns `Traced`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

from rapids_trav.accessor import TravAccessor
from rapids_trav.graph import Graph

PACKAGE = Path(__file__).parents[1] / "rapids_trav"
TRACED = "from rapids_trav.algorithms.bfs import Traced\n"
ANSWERS_AND_OPTIONS = """\
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import (
    CheckpointEvery,
    Direction,
    Mode,
    Processor,
    RunMode,
    Schedule,
    ScoresOf,
)
"""
# ruff and mypy check that all names in the signatures are imported.
GRAPH_HEAD = f"""\
# Written by ci/write_stubs.py from the methods of Graph: do not edit.

import os
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Generic, Literal, overload

import igraph
import networkx
import numpy.typing as npt
import pandas as pd
import scipy.sparse

{TRACED}from rapids_trav.algorithms.bfs_stream import BfsStream
{ANSWERS_AND_OPTIONS}from rapids_trav.algorithms.results import LocalValues
from rapids_trav.csr.paths import PathLayout
from rapids_trav.edges.sources import Ends
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Values
from rapids_trav.frames.kinds import ArrowStream, Column, DataFrameT, FrameT, SparseMatrix
from rapids_trav.graph.local import LocalGraph
from rapids_trav.graph.properties import Questions
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.programs.definition import Program
from rapids_trav.storage.build_options import Order
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.filters import Filter
from rapids_trav.storage.in_memory import InMemory
from rapids_trav.utilities.progress import ProgressOption

__all__ = ["Graph"]

class Graph(Generic[FrameT]):
    questions: Questions
    def __init__(self, edges: Any, src: Ends = None, dst: Ends = None, **options: Any) -> None: ...
    def __enter__(self) -> Graph[FrameT]: ...
    def __exit__(self, *error: object) -> None: ...
"""
ACCESSOR_HEAD = f"""\
# Written by ci/write_stubs.py from the methods of Graph: do not edit.

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Generic, Literal, TypedDict, Unpack, overload

import numpy.typing as npt

{TRACED}{ANSWERS_AND_OPTIONS}from rapids_trav.edges.sources import Ends
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.kinds import FrameT
from rapids_trav.graph import Graph
from rapids_trav.programs.definition import Program
from rapids_trav.storage.build_options import Order
from rapids_trav.storage.filters import Filter
from rapids_trav.utilities.progress import ProgressOption

class LazyFrameAccessor:
    def __init__(self, frame: Frame) -> None: ...

class BuildOptions(TypedDict, total=False):
{{BUILD}}
class TravAccessor(Generic[FrameT]):
    def __init__(self, frame: FrameT) -> None: ...
"""

# The kinds of edges, in the order in which a type checker tries them, and the graph that each gives.
EDGES = {
    "DataFrameT": "Graph[DataFrameT]",
    "Iterable[DataFrameT]": "Graph[DataFrameT]",
    "Callable[[], Iterable[DataFrameT]]": "Graph[DataFrameT]",
    "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]": "Graph[Any]",
    "tuple[Column, Column] | tuple[Column, Column, Column] | SparseMatrix": "Graph[pd.DataFrame]",
    "ArrowStream | Iterable[ArrowStream] | Callable[[], Iterable[ArrowStream]]": "Graph[Any]",
}
ROWS = {"DataFrameT": "DataFrameT", "ArrowStream": "Any"}
TRACES = {
    "Literal[False] = False": "FrameT",
    "Literal[True]": "Traced[FrameT]",
    "bool": "FrameT | Traced[FrameT]",
}
RETURNS = {"Frame": "FrameT"} | {name: f"{name}[FrameT]" for name in ("Neighborhood", "BfsStream", "Graph")}

Method = Callable[..., object]


def graph_stub() -> str:
    """Return the text of the stub of `Graph`."""
    return GRAPH_HEAD + "".join(map(graph_member, members(Graph)))


def accessor_stub() -> str:
    """Return the text of the stub of the accessor."""
    build = inspect.signature(TravAccessor.graph).parameters
    common = [name for name in build if name not in ("self", "tuning", "progress")]
    options = "".join(f"    {name}: {build[name].annotation}\n" for name in common)
    queries = [name for name in vars(TravAccessor) if name[0] != "_" and name != "graph"]
    methods = [TravAccessor.graph, *(query(name, common) for name in queries)]
    return ACCESSOR_HEAD.replace("{BUILD}", options) + "".join("".join(written(method)) for method in methods)


def query(name: str, common: list[str]) -> Method:
    """Return a method of the accessor with the options that all share in one place, `BuildOptions`."""
    method = getattr(TravAccessor, name)
    signature = inspect.signature(method)
    own = [part for part in signature.parameters.values() if part.name not in common]
    built = inspect.Parameter("build", inspect.Parameter.VAR_KEYWORD, annotation="Unpack[BuildOptions]")
    method.__signature__ = signature.replace(parameters=[*own, built])
    return method


def members(kind: type) -> list[str]:
    """Return the public names of a class, those of its bases first."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("rapids_trav")]
    return list(dict.fromkeys(name for base in bases for name in vars(base) if name[0] != "_"))


def graph_member(name: str) -> str:
    """Return the stub of a method or an attribute of `Graph`."""
    member = inspect.getattr_static(Graph, name)
    if isinstance(member, (property, cached_property)):
        read = member.fget if isinstance(member, property) else member.func
        kind = inspect.signature(read).return_annotation
        return f"    @property\n    def {name}(self) -> {kind}: ...\n"
    if name == "annotate":
        return "".join(written(member, "edges", ROWS))
    if isinstance(member, classmethod):
        decorator = "    @classmethod\n"
        if name == "from_edges":
            return "".join(written(member.__func__, "edges", EDGES, decorator))
        return "".join(written(member.__func__, decorator=decorator, returns="Graph[Any]"))
    return "".join(written(member))


def written(
    method: Method,
    varied: str = "trace",
    kinds: dict[str, str] | None = None,
    decorator: str = "",
    returns: str | None = None,
) -> Iterator[str]:
    """Yield the signature of a method: one, or an overload for each kind of the parameter `varied`."""
    signature = inspect.signature(method)
    if kinds is None and signature.return_annotation == "Answer":
        kinds = TRACES
    if kinds is None:
        annotation = signature.return_annotation
        yield signature_text(
            method.__name__, signature, returns or RETURNS.get(annotation, annotation), decorator
        )
        return
    for kind, found in kinds.items():
        text = signature_text(method.__name__, signature, found, decorator, {varied: kind})
        yield f"    @overload\n{text}"


def signature_text(
    name: str,
    signature: inspect.Signature,
    returns: str,
    decorator: str,
    annotations: dict[str, str] | None = None,
) -> str:
    """Format a signature, with a line for each parameter."""
    lines, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        lines.append(parameter_text(parameter, (annotations or {}).get(parameter.name)))
    if len(lines) == 1:
        return f"{decorator}    def {name}({lines[0]}) -> {returns}: ...\n"
    whole = f"    def {name}({', '.join(lines)}) -> {returns}: ..."
    if len(whole) <= 110 and decorator + name != "":
        return f"{decorator}{whole}\n"
    body = "".join(f"        {line},\n" for line in lines)
    return f"{decorator}    def {name}(\n{body}    ) -> {returns}: ...\n"


def parameter_text(parameter: inspect.Parameter, annotation: str | None = None) -> str:
    """Format a parameter as it stands in a stub; its annotations are strings already."""
    if annotation is not None:
        return f"{parameter.name}: {annotation}"
    text = parameter.name if parameter.kind is not parameter.VAR_KEYWORD else f"**{parameter.name}"
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        default = repr(parameter.default).replace("'", '"')
        text += f" = {default}"
    return text


def main(arguments: list[str]) -> int:
    """Write the stubs, or compare them."""
    stubs = {
        PACKAGE / "graph/__init__.pyi": graph_stub(),
        PACKAGE / "accessor/methods.pyi": accessor_stub(),
    }
    if arguments != ["--check"]:
        for path, text in stubs.items():
            path.write_text(text, encoding="utf-8")
        return 0
    others = [p for p, text in stubs.items() if not p.exists() or p.read_text(encoding="utf-8") != text]
    for path in others:
        print(
            f"{path.relative_to(PACKAGE)} is not what the methods of Graph give: "
            "run python ci/write_stubs.py.",
            file=sys.stderr,
        )
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
