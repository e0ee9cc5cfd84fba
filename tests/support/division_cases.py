"""Vertex programs that divide by zero, and the results that `Program` documents for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rapids_trav import Program

EDGES = pd.DataFrame({"src": [0, 1, 2, 3], "dst": [1, 2, 3, 0]})  # each vertex receives one message
START = np.array([3, -3, 0, 7])
INF, NAN = float("inf"), float("nan")
DIVISIONS = {  # (function for `scatter` and `gather`, function for `apply`)
    "/": (lambda value: value / (value - value), lambda value, gathered: gathered / (value - value)),
    "//": (lambda value: value // (value - value), lambda value, gathered: gathered // (value - value)),
    "%": (lambda value: value % (value - value), lambda value, gathered: gathered % (value - value)),
}
FLOATS = {"/": [INF, INF, -INF, NAN], "//": [INF, INF, -INF, NAN], "%": [NAN] * 4}
CASES = [(dtype, operator, FLOATS[operator]) for dtype in ("float32", "float64") for operator in DIVISIONS]
CASES += [(dtype, operator, [0] * 4) for dtype in ("int32", "int64") for operator in ("//", "%")]


def divided(dtype: str, operator: str, place: str, engine: Any) -> list:
    """Return what vertices 0 to 3 get after 7, 3, -3, 0 are divided in `scatter`, `gather` or `apply`."""
    function = DIVISIONS[operator][place == "apply"]
    program = Program(f"{operator} in {place}", dtype, "sum", **{place: function})
    graph = EDGES.trav.graph(directed=True, engine=engine)
    result = graph.run(program, initial=START, max_iterations=1)["value"]
    return (result.to_pandas() if hasattr(result, "to_pandas") else result).tolist()
