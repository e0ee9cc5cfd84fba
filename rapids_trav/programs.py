"""The vertex programs that come with the package, for `Graph.run`."""

from .algorithms.programs import breadth_first, connected_components, pagerank, shortest_paths

__all__ = ["breadth_first", "connected_components", "pagerank", "shortest_paths"]
