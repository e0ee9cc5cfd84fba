"""The vertex programs that come with the package, for `Graph.run`."""

from rapids_trav.programs.shipped import breadth_first, connected_components, pagerank, shortest_paths

__all__ = ["breadth_first", "connected_components", "pagerank", "shortest_paths"]
