"""`Graph`: the handle that a user keeps."""

from rapids_trav.graph.handle import Graph

__all__ = ["Graph"]
