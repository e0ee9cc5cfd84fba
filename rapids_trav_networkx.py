"""What NetworkX is told of the backend `trav` when it is imported.

It stands beside the package, since importing that brings pandas: NetworkX reads this at every start.
"""

from __future__ import annotations

FUNCTIONS = (
    "all_pairs_dijkstra",
    "all_pairs_dijkstra_path",
    "all_pairs_dijkstra_path_length",
    "all_pairs_shortest_path",
    "all_pairs_shortest_path_length",
    "ancestors",
    "average_shortest_path_length",
    "betweenness_centrality",
    "bfs_edges",
    "bfs_labeled_edges",
    "bfs_layers",
    "bfs_predecessors",
    "bfs_successors",
    "bfs_tree",
    "bidirectional_shortest_path",
    "closeness_centrality",
    "connected_components",
    "descendants",
    "descendants_at_distance",
    "diameter",
    "dijkstra_path",
    "dijkstra_path_length",
    "eccentricity",
    "ego_graph",
    "from_pandas_edgelist",
    "harmonic_centrality",
    "has_path",
    "is_connected",
    "is_weakly_connected",
    "multi_source_dijkstra",
    "multi_source_dijkstra_path",
    "multi_source_dijkstra_path_length",
    "node_connected_component",
    "number_connected_components",
    "number_weakly_connected_components",
    "pagerank",
    "shortest_path",
    "shortest_path_length",
    "single_source_dijkstra",
    "single_source_dijkstra_path",
    "single_source_dijkstra_path_length",
    "single_source_shortest_path",
    "single_source_shortest_path_length",
    "weakly_connected_components",
)


def get_info() -> dict[str, object]:
    """Return the metadata that NetworkX's `backend_info` wants."""
    return {
        "backend_name": "trav",
        "project": "rapids-trav",
        "package": "rapids_trav",
        "short_summary": "Graph traversal on compressed rows, straight from dataframes.",
        "functions": {name: {} for name in FUNCTIONS},
    }
