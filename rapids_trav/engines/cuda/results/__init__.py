"""Columns, predecessors and paths from finished searches."""
