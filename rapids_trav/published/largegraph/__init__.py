"""LargeGraph: edges as paths, and blocks shared by CPU and GPU (docs/systems.md, L1 to L11).

Y. Zhang, D. Peng, X. Liao, H. Jin, H. Liu, L. Gu, B. He, "LargeGraph: An Efficient Dependency-Aware
GPU-Accelerated Large-Scale Graph Processing", ACM TACO 18(4), 2021.

The idea: a value travels along all edges of a path in one pass (L1 to L3, `Graph.path_layout`); and rows that
wait for the link are followed by the CPU (L5, L9: ``schedule="paths"`` with ``processor="hybrid"``).  Nearly
all paths of undirected graphs are single edges, which take twice the bytes of rows, so that no schedule reads
them (docs/systems.md, below the table of L).  `python -m benchmarks gpu schedules` measures the schedules
again.  Blocks by frequency (L4, L6 to L8, L10) are the default, in `engines.blocks`; the type of a layout is
`csr.paths.PathLayout`.
"""
