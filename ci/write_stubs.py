"""Write the stubs of `Graph` and of the accessor, from the text of their methods; a hook of hatchling.

    python ci/write_stubs.py

The stubs say what type checkers cannot infer from the sources: the library of a result, by the kind of the
edges, and that a query with ``trace=True`` returns `Traced`.  Every build writes them, that of
``pip install -e`` too, so they are not kept in the repository.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from textwrap import indent
from typing import Any

PACKAGE = Path(__file__).parents[1] / "rapids_trav"
# The classes whose methods `Graph` has; a later one overrides an earlier one.
FILES = ("properties", "join_methods", "program_methods", "centrality_methods", "search_methods", "handle")
CLASSES = ("GraphProperties", "JoinMethods", "ProgramMethods", "CentralityMethods", "SearchMethods", "Graph")
SPECIAL = ("__init__", "__enter__", "__exit__")
HEAD = """\
# Written by ci/write_stubs.py from the methods of Graph.

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Literal, TypedDict, Unpack, overload

import pandas as pd

from rapids_trav.algorithms.bfs import Traced
from rapids_trav.frames.kinds import ArrowStream, Column, DataFrameT, FrameT, SparseMatrix
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
    "Literal[False]": "FrameT",
    "Literal[True]": "Traced[FrameT]",
    "bool": "FrameT | Traced[FrameT]",
}
RETURNS = {"Frame": "FrameT"} | {name: f"{name}[FrameT]" for name in ("Neighborhood", "BfsStream", "Graph")}


def methods_of_graph() -> tuple[dict[str, ast.FunctionDef], dict[str, str]]:
    """Return the public methods and attributes of `Graph`, and the import of each name in their files."""
    methods: dict[str, ast.FunctionDef] = {}
    imports: dict[str, str] = {}
    for file in FILES:
        tree = ast.parse((PACKAGE / "graph" / f"{file}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                source = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
                for alias in node.names:
                    name = alias.asname or alias.name.partition(".")[0]
                    imports[name] = f"{source}import {ast.unparse(alias)}"
            elif isinstance(node, ast.ClassDef) and node.name in CLASSES:
                found = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                methods |= {one.name: one for one in found if one.name[0] != "_" or one.name in SPECIAL}
    return methods, imports


def graph_stub() -> str:
    """Return the text of the stub of `Graph`."""
    methods, imports = methods_of_graph()
    body = "".join(f"    {line}\n" for method in methods.values() for line in overloads(method))
    body = "    questions: Questions\n" + body
    return f'{HEAD}{used(body, imports)}\n__all__ = ["Graph"]\n\nclass Graph(Generic[FrameT]):\n{body}'


def accessor_stub() -> str:
    """Return the text of the stub of the accessor, whose queries take the options of a build as well."""
    methods, imports = methods_of_graph()
    tree = ast.parse((PACKAGE / "accessor" / "methods.py").read_text(encoding="utf-8"))
    (accessor,) = (n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "TravAccessor")
    queries = [n.targets[0].id for n in accessor.body if isinstance(n, ast.Assign)]  # type: ignore[attr-defined]
    build = deepcopy(methods["from_edges"])
    build.name, build.decorator_list = "graph", []
    build.args.args = [part for part in build.args.args if part.arg not in ("cls", "edges")]
    options = [*build.args.args, *build.args.kwonlyargs]
    shared = [part for part in options if part.arg not in ("tuning", "progress")]
    build.args.args.insert(0, ast.arg("self"))
    lines = ["def __init__(self, frame: FrameT) -> None: ...", *overloads(build, "Graph[FrameT]")]
    for name in queries:
        if name != "graph":
            query = deepcopy(methods[name])
            own = {part.arg for part in (*query.args.args, *query.args.kwonlyargs)}
            if "tuning" not in own:
                tuning = next(part for part in options if part.arg == "tuning")
                query.args.kwonlyargs.append(tuning)
                query.args.kw_defaults.append(ast.Constant(None))
            query.args.kwarg = ast.arg("build", ast.Name("Unpack[GraphOptions]"))
            lines += overloads(query)
    body = "class GraphOptions(TypedDict, total=False):\n"
    body += "".join(f"    {ast.unparse(part)}\n" for part in shared)
    body += "\nclass LazyFrameAccessor:\n    def __init__(self, frame: object) -> None: ...\n"
    body += "\nclass TravAccessor(Generic[FrameT]):\n" + "".join(f"    {line}\n" for line in lines)
    return f"{HEAD}from rapids_trav.graph import Graph\n{used(body, imports)}\n{body}"


def used(body: str, imports: dict[str, str]) -> str:
    """Return the imports of the names that a stub uses, but for those that it has already."""
    tree = ast.parse("class _:\n" + indent(body, "    "))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    given = {alias.name for node in ast.parse(HEAD).body for alias in node.names}  # type: ignore[attr-defined]
    needed = {imports[name] for name in names & set(imports) - given}
    return "".join(f"{line}\n" for line in sorted(needed) if line != "from rapids_trav.graph import Graph")


def overloads(method: ast.FunctionDef, returns: str | None = None) -> Iterator[str]:
    """Yield the lines of a method: its signature, or one for each kind of what decides about the result."""
    found = ast.unparse(method.returns) if method.returns else "None"
    if method.name == "from_edges":
        varied, kinds = "edges", EDGES
    elif method.name == "annotate":
        varied, kinds = "edges", ROWS
    elif found == "Answer":
        varied, kinds = "trace", TRACES
    else:
        if returns is None and any(ast.unparse(one) == "classmethod" for one in method.decorator_list):
            returns = "Graph[Any]"
        yield from signature(method, returns or RETURNS.get(found, found))
        return
    for kind, result in kinds.items():
        yield "@overload"
        yield from signature(method, result, varied, kind)


def signature(method: ast.FunctionDef, returns: str, varied: str = "", kind: str = "") -> Iterator[str]:
    """Yield the decorators of a method, and its signature with this kind of the parameter `varied`."""
    for decorator in method.decorator_list:
        yield "@" + ast.unparse(decorator).replace("cached_property", "property")
    arguments = deepcopy(method.args)
    for part in (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if part is not None and method.name == "__init__" and part.annotation is not None:
            part.annotation = ast.Name(ast.unparse(part.annotation).replace("object", "Any"))
        if part is not None and part.arg == varied:
            part.annotation = ast.Name(kind)
            if kind in ("Literal[True]", "bool"):  # without the default, which is False
                arguments.kw_defaults[arguments.kwonlyargs.index(part)] = None
    yield f"def {method.name}({ast.unparse(arguments)}) -> {returns}: ..."


def write() -> None:
    """Write both stubs beside their modules."""
    for file, stub in (("graph/__init__.pyi", graph_stub), ("accessor/methods.pyi", accessor_stub)):
        (PACKAGE / file).write_text(stub(), encoding="utf-8")


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # not in a build
    pass
else:

    class StubHook(BuildHookInterface[Any]):
        """Hook that writes the stubs before files are collected."""

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:
            write()


if __name__ == "__main__":
    write()
