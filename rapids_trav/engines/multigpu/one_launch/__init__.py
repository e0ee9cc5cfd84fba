"""Search over ranks that reach each other's memory, with one launch of `kernels/bfs_fused.cu` on each.

`dealing` says whose vertices are whose, `rows` makes the rows of a rank, `layout` has the arguments of the
kernel and its memory, `launch` launches a rank,
`group` the ranks of one process together, `member` one of several processes (`handles` opens the memory of
the others, `deal_among` brings the edges), `trace` reads what they recorded, and
`verdict` why they gave up.
"""
