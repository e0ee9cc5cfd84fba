"""Vertex programs with pages that are shared between the CPU and the GPU."""
