"""One question in cuGraph and in rapids_trav, and cuGraph's result brought into the other's form.

    python examples/coming_from_cugraph.py

Without a GPU the cuGraph half is left out and the other runs on pandas; docs/from-cugraph.md names the
differences one by one.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pandas as pd

from rapids_trav import datasets
from rapids_trav.engines import gpu_is_there


def with_trav(edges: Any, source: int) -> Any:
    """Build and ask; the same line for a cuDF and a pandas frame."""
    return edges.trav.graph().bfs(source)


def with_cugraph(edges: Any, source: int) -> Any:
    """The same with cuGraph."""
    import cugraph

    graph = cugraph.Graph(directed=False)
    graph.from_cudf_edgelist(edges, source="src", destination="dst")
    return cugraph.bfs(graph, source)


def normalise(theirs: pd.DataFrame) -> pd.DataFrame:
    """cuGraph's result, in pandas, with nulls and rows as rapids_trav has them."""
    result = theirs[["vertex", "distance", "predecessor"]].sort_values("vertex", ignore_index=True)
    unreached = result["distance"] == np.iinfo(result["distance"].dtype).max
    result["distance"] = result["distance"].astype("Int32").mask(unreached)
    predecessor = result["predecessor"].astype(f"Int{8 * result['vertex'].dtype.itemsize}")
    result["predecessor"] = predecessor.mask(result["predecessor"] == -1)
    return result


def main(source: int = 0) -> None:
    if not gpu_is_there() or importlib.util.find_spec("cugraph") is None:
        print("No GPU with cuGraph here; rapids_trav on pandas:")
        print(with_trav(datasets.load("facebook"), source).head().to_string(index=False))
        return
    edges = datasets.load("facebook", library="cudf")
    theirs = normalise(with_cugraph(edges, source).to_pandas())
    ours = with_trav(edges, source).to_pandas(nullable=True)
    print(ours.head().to_string(index=False))
    same = bool((ours["distance"] == theirs["distance"]).all())
    print(
        f"the distances of all {len(ours):,} vertices are {'the same' if same else 'NOT the same'} in cuGraph"
    )


if __name__ == "__main__":
    main()
