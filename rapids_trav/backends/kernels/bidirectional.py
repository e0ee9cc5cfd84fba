"""Shortest path between two vertices by a search from both ends.

I. Pohl, "Bi-directional search", Machine Intelligence 6, 1971, with the choices of NetworkX's
`bidirectional_shortest_path`: the smaller fringe advances, one level at a time, and the searches meet at the
first vertex that both sides know.  So of all shortest paths this finds the one that NetworkX finds.
"""

from __future__ import annotations

from rapids_trav.jit.kernels import kernel

NONE = -1
ROOT = -2


@kernel
def meet(offsets, columns, in_offsets, in_columns, source, target, pred, succ, forward, reverse):
    """Return the vertex where the searches meet, -1 if there is none.

    `pred` and `succ` are filled with NONE at entry and lead from that vertex to the ends.  `forward` and
    `reverse` are buffers for the vertices of each side.
    """
    pred[source] = ROOT
    succ[target] = ROOT
    if source == target:
        return source
    forward[0] = source
    reverse[0] = target
    f_head, f_tail, r_head, r_tail = 0, 1, 0, 1
    while f_head < f_tail and r_head < r_tail:
        if f_tail - f_head <= r_tail - r_head:
            end = f_tail
            for i in range(f_head, end):
                v = forward[i]
                for e in range(offsets[v], offsets[v + 1]):
                    w = columns[e]
                    if pred[w] == NONE:
                        forward[f_tail] = w
                        f_tail += 1
                        pred[w] = v
                    if succ[w] != NONE:
                        return w
            f_head = end
        else:
            end = r_tail
            for i in range(r_head, end):
                v = reverse[i]
                for e in range(in_offsets[v], in_offsets[v + 1]):
                    w = in_columns[e]
                    if succ[w] == NONE:
                        succ[w] = v
                        reverse[r_tail] = w
                        r_tail += 1
                    if pred[w] != NONE:
                        return w
            r_head = end
    return NONE
