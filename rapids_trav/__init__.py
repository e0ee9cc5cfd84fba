"""Graph traversal as a method of the dataframe that holds the edges.

>>> import pandas as pd, rapids_trav
>>> edges = pd.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 2, 3, 3]})
>>> edges.trav.bfs(0)["distance"].tolist()
[0, 1, 1, 2]

Importing this package registers `.trav` for pandas, and for cuDF and Dask where they are used.  It needs no
GPU and none of the GPU packages.
"""

from rapids_trav.accessor import register
from rapids_trav.algorithms.bfs import Traced
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.errors import (
    EdgeColumnsError,
    TravError,
    TravMemoryError,
    TravWarning,
    UnknownColumnError,
    UnknownVertexError,
)
from rapids_trav.graph import Graph
from rapids_trav.programs.definition import Program

__version__ = "0.1.0"

__all__ = [
    "EdgeColumnsError",
    "Graph",
    "Neighborhood",
    "Program",
    "Traced",
    "TravError",
    "TravMemoryError",
    "TravWarning",
    "UnknownColumnError",
    "UnknownVertexError",
    "programs",
]

register()
