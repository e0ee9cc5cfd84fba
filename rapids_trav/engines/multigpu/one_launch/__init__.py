"""Search over ranks that reach each other's memory, with one launch of `kernels/bfs_fused.cu` on each.

`dealing` says whose vertices are whose, `rows` makes the rows of a rank, `layout` has the arguments of the
kernel and its memory, `group` launches the ranks of one process, `trace` reads what they recorded, and
`verdict` why they gave up.
"""
