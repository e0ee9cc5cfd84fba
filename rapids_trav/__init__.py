"""Graph traversal as a method of the dataframe that holds the edges.

>>> import pandas as pd, rapids_trav
>>> edges = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 2, 3, 3]})
>>> edges.trav.bfs(0)["distance"].tolist()
[0, 1, 1, 2]

Importing this package registers `.trav` for pandas, and for cuDF, Dask and polars where they are used.  It
needs no GPU and none of the GPU packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from rapids_trav.accessor import TravAccessor, register
from rapids_trav.errors import (
    EdgeColumnsError,
    TravError,
    TravMemoryError,
    TravWarning,
    UnknownColumnError,
    UnknownVertexError,
)

if TYPE_CHECKING:
    from rapids_trav import programs
    from rapids_trav.algorithms.bfs import Traced
    from rapids_trav.algorithms.bfs_stream import BfsStream
    from rapids_trav.algorithms.khop import Neighborhood
    from rapids_trav.graph import Graph
    from rapids_trav.io import EdgeFileReport, inspect_edges, read_edges
    from rapids_trav.programs.definition import Program

__version__ = "0.1.0"

__all__ = [
    "BfsStream",
    "EdgeColumnsError",
    "EdgeFileReport",
    "Graph",
    "Neighborhood",
    "Program",
    "Traced",
    "TravAccessor",
    "TravError",
    "TravMemoryError",
    "TravWarning",
    "UnknownColumnError",
    "UnknownVertexError",
    "inspect_edges",
    "programs",
    "read_edges",
]

# Modules that take long to import are imported at first access.
_LAZY = {
    "BfsStream": "rapids_trav.algorithms.bfs_stream",
    "EdgeFileReport": "rapids_trav.io",
    "Graph": "rapids_trav.graph",
    "Neighborhood": "rapids_trav.algorithms.khop",
    "Program": "rapids_trav.programs.definition",
    "Traced": "rapids_trav.algorithms.bfs",
    "inspect_edges": "rapids_trav.io",
    "read_edges": "rapids_trav.io",
}
_MODULES = ("datasets", "generators", "io", "plot", "programs", "tuning")


def __getattr__(name: str) -> object:
    if name in _LAZY:
        globals()[name] = found = getattr(import_module(_LAZY[name]), name)
        return found
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*special, *__all__, *_MODULES})


register()
