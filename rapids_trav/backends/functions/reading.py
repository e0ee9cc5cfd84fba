"""Graphs from frames: `networkx.convert_matrix`."""

from __future__ import annotations

import networkx as nx

from rapids_trav.backends.dispatch import ANY, dispatched, original
from rapids_trav.backends.from_frame import structure_of_frame
from rapids_trav.backends.graphs import TravDiGraph, TravGraph, from_networkx, graph_over
from rapids_trav.backends.networkx_types import Value


@dispatched(least=ANY, graphs=False)
def from_pandas_edgelist(
    df: Value,
    source: Value = "source",
    target: Value = "target",
    edge_attr: Value = None,
    create_using: Value = None,
    edge_key: Value = None,
) -> Value:
    directed = {None: False, nx.Graph: False, TravGraph: False, nx.DiGraph: True, TravDiGraph: True}
    wanted = _columns(df, source, target, edge_attr)
    if wanted is not None and edge_key is None and create_using in directed:
        structure = structure_of_frame(df, source, target, wanted, directed[create_using])
        if structure is not None:
            return graph_over(structure)
    made = original("from_pandas_edgelist")(df, source, target, edge_attr, create_using, edge_key)
    return from_networkx(made) if isinstance(made, nx.Graph) else made


def _columns(df: Value, source: Value, target: Value, edge_attr: Value) -> list | None:
    """Return the columns of attributes; None if the call is left to NetworkX."""
    if edge_attr is None:
        return []
    if edge_attr is True:
        listed = [name for name in df.columns if name not in (source, target)]
    else:
        listed = list(edge_attr) if isinstance(edge_attr, (list, tuple)) else [edge_attr]
    return listed or None
