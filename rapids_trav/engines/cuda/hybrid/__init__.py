"""Vertex programs whose pages the CPU and the GPU share."""
