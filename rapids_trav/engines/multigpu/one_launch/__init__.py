"""Search over ranks that can access each other's memory, with one launch of `kernels/bfs_fused.cu` on each.

- `dealing` assigns vertices to ranks, and `rows` makes the rows of a rank.
- `layout` has the arguments of the kernel and its memory, and `launch` launches one rank.
- `group` runs the ranks of one process together.  `member` runs one of several processes: `handles` opens the
  memory of the others, and `deal_among` brings the edges.
- `trace` reads the trace that the kernels recorded, and `verdict` the reason if they gave up.
"""
