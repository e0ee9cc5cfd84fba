"""Search over ranks that can access each other's memory, with one launch of `kernels/bfs_fused.cu` on each.

- `dealing` assigns vertices to ranks, `rows` makes the rows of a rank, and `deal_among` brings the edges.
- `layout` has the arguments of the kernel and its memory, and `launch` launches one rank.
- `group` runs the ranks of one process together, or one of several processes; `peers` opens the memory of the
  others.
- `trace` reads what the kernels left: the rows of their trace, or the reason why they gave up.
"""
