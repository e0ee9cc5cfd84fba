"""The search over many ranks, each with its part of the edges: one GPU or one CPU worker a rank.

`grid` places vertices and edges, `partition` brings the edges there, `search2d` searches and `validate`
checks the tree.  Ranks talk through a `communicator`: `loopback` (threads of one process), `tcp`
(workers of Dask) or `nccl` (GPUs).
What a rank does by itself is behind `local_work`: `local_cpu` (Numba) or `local_cuda` (CuPy).
"""
