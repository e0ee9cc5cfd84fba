"""Breadth-first search over many ranks, each with its part of the edges and one GPU or one CPU worker.

`grid` places vertices and edges, `partition` brings the edges there, `search2d` searches and `validate`
checks the tree.  Ranks communicate through a `communicator`: `tcp` (workers of Dask), `nccl` (GPUs) or
`staged` (GPUs that ranks share).  `local_work` is the protocol for the work that a rank does by itself:
`local_cpu` (Numba) or `local_cuda` (CuPy).  `one_launch` is the search over GPUs that can access each other's
memory.
"""
