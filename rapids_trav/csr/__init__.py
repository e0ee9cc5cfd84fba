"""Adjacencies in compressed sparse rows: their blocks, pages and statistics."""
