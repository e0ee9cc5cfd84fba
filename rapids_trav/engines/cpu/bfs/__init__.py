"""Breadth-first searches on the CPU."""
