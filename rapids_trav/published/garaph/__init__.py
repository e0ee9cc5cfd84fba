"""Garaph: gathering by shards with replicas, and pages shared by CPU and GPU (docs/systems.md, G1 to G20).

L. Ma, Z. Yang, H. Chen, J. Xue, Y. Dai, "Garaph: Efficient GPU-accelerated Graph Processing on a Single
Machine with Balanced Replication", USENIX ATC 2017.

The idea: a block of threads gathers the in-edges of a run of vertices in shared memory, with as many copies
of each vertex as a formula says, against contention (``tuning={"gather": "replicas"}``); and the CPU takes
pages that the GPU has no time for (``processor="hybrid"``).  On an H100 the formula's factor doubles the rate
of one copy, but the default, which gathers row by row, takes 0.36 of its time on R-MAT 22; sharing with the
CPU takes 274 ms where the GPU alone takes 272 (docs/performance.md).  `python -m benchmarks gpu replication`
and `... out-of-core` measure it again.  Pages, notification and the rounds of a run (G4, G13 to G18) are the
default, in `engines`.
"""
