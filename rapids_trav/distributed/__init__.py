"""Graphs distributed over the workers of a Dask cluster.

A rank is one worker's part of a graph.  Every question is one program that all ranks run at the same time,
each on its own slice of the vertices (`ranks`).  A session starts one rank on each worker and connects the
ranks with each other (`session`).
"""
