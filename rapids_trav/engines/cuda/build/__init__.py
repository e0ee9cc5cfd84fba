"""Compressed rows from edges on a GPU."""
