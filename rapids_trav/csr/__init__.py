"""Adjacencies in compressed sparse rows, with their blocks, pages, paths and statistics."""
