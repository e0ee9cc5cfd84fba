"""`Graph`, the user's handle of a graph."""

from rapids_trav.graph.handle import Graph

__all__ = ["Graph"]
