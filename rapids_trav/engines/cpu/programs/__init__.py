"""Vertex programs on the CPU."""
