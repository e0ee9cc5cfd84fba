"""Breadth-first searches on one GPU."""
