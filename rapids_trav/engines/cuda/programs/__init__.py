"""Vertex programs over edges in the GPU's memory."""
