"""Benchmarks, and the tables of the pages made from their rows: `python -m benchmarks` lists them."""
