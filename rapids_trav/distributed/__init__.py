"""Graphs spread over the workers of a Dask cluster.

Every question is one program that all ranks run at once, each on its slice of the vertices (`ranks`); a
session brings a rank to each worker and lets them meet (`session`).
"""
