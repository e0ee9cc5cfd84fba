"""Searches of the textbook, with a launch or a pass for each level (docs/systems.md, P1 to P6).

W. W. Hwu, D. B. Kirk, I. El Hajj, "Programming Massively Parallel Processors", 4th edition, 2022, chapter 15;
the private queues are from L. Luo, M. Wong, W. Hwu, "An Effective GPU Implementation of Breadth-First
Search", DAC 2010, the change of direction from S. Beamer, K. Asanovic, D. Patterson, SC 2012.

The idea: a thread for each vertex (P1, P2), for each edge (P3), or for each vertex of a queue (P4), in which
each block may first collect its own finds (P5); and searching from either end of the edges (P6).  ``bfs(...,
variant=)`` chooses them.  On an H100 they take 6 to 670 times as long as the default on R-MAT 20 to 24, and
private queues 0.88 of the rate of the plain one (docs/performance.md); `python -m benchmarks gpu readme` and
`... ablation` measure it again.
"""
