"""Vertex programs over edges that are larger than the GPU's memory."""
