"""VS-Graph500: the hub cache of a bottom-up step (docs/systems.md, V6).

X. Gan et al., "TianheGraph: Customizing Graph Search for Graph500 on Tianhe Supercomputer", IEEE Transactions
on Parallel and Distributed Systems.

The idea: the vertices of highest degree come first, and each block keeps their bits of the frontier in shared
memory.  ``tuning={"hub_degree": 100}`` with ``variant="fused"`` chooses it.  On an H100 the search has 0.98
of the rate without it, since these bits stay in the first-level cache anyway (docs/performance.md);
`python -m benchmarks gpu ablation` and `... hubs` measure it again.  Sorting by degree and pruning (V1 to V5,
V7) are the default.
"""

from __future__ import annotations

from typing import cast

import cupy

from rapids_trav.csr.adjacency import Adjacency

HUB_WORDS = 1024  # most words of the frontier in shared memory
KNOWN = "hub words"  # in `Adjacency.prepared`


def hub_words(sides: tuple[Adjacency, ...], least_degree: int) -> int:
    """Return the number of frontier words, from the first on, that hold the hubs.

    Hubs are vertices of `least_degree` edges or more.  They come first if the vertices are sorted by degree;
    hubs after the first vertex with fewer edges are left out.  The number is computed once for each
    adjacency, since the host waits for it.
    """
    known = cast(dict[int, int], sides[0].prepared.setdefault(KNOWN, {}))
    if least_degree not in known:
        degrees = sum(cupy.diff(side.row_offsets[: 32 * HUB_WORDS + 1]) for side in sides)
        fewer = cupy.append(degrees < least_degree, True)
        known[least_degree] = -(-int(fewer.argmax()) // 32)
    return known[least_degree]
