"""Columns, predecessors and paths, made from finished searches."""
