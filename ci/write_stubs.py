"""Write the type stub of the accessor, whose methods are derived from those of `Graph` at import.

python ci/write_stubs.py            write rapids_trav/accessor/methods.pyi
python ci/write_stubs.py --check    leave with 1 if it is not what would be written
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from rapids_trav.accessor import TravAccessor

STUB = Path(__file__).parents[1] / "rapids_trav/accessor/methods.pyi"
# Whether the names in the signatures are all imported, ruff and mypy check.
HEAD = """\
# Written by ci/write_stubs.py from the methods of Graph: do not edit.

import os
from collections.abc import Hashable, Mapping, Sequence

import numpy.typing as npt

from rapids_trav.algorithms.bfs import Answer
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import Direction, Mode, Processor, RunMode
from rapids_trav.edges.sources import Ends
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame
from rapids_trav.graph import Graph
from rapids_trav.programs.definition import Program
from rapids_trav.storage.filters import Filter

class TravAccessor:
    def __init__(self, frame: Frame) -> None: ...
"""


def stub() -> str:
    """Return the text of the stub."""
    return HEAD + "".join(map(method_stub, methods()))


def methods() -> list[str]:
    """Return the names of the accessor's methods."""
    return [
        name for name, value in vars(TravAccessor).items() if inspect.isfunction(value) and name[0] != "_"
    ]


def method_stub(name: str) -> str:
    """Return the signature of a method, a line for each parameter."""
    signature = inspect.signature(getattr(TravAccessor, name))
    lines, starred = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        lines.append(written(parameter))
    body = "".join(f"        {line},\n" for line in lines)
    return f"    def {name}(\n{body}    ) -> {signature.return_annotation}: ...\n"


def written(parameter: inspect.Parameter) -> str:
    """Return a parameter as it stands in a stub: annotations are strings already."""
    text = parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        default = repr(parameter.default).replace("'", '"')
        text += f" = {default}"
    return text


def main(arguments: list[str]) -> int:
    """Write the stub, or compare it."""
    text = stub()
    if arguments != ["--check"]:
        STUB.write_text(text, encoding="utf-8")
        return 0
    if STUB.exists() and STUB.read_text(encoding="utf-8") == text:
        return 0
    print(
        f"{STUB.name} is not what the methods of Graph give: run python ci/write_stubs.py.", file=sys.stderr
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
