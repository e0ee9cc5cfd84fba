"""Validation of a breadth-first tree by the five rules of the Graph500 specification.

1. The parents form a tree: every vertex that has a parent leads to the root, whose parent is itself.
2. Each tree edge joins vertices whose levels differ by exactly one.
3. Each input edge joins vertices whose levels differ by at most one, or two vertices outside the tree.
4. The tree spans the root's component.
5. Each vertex and its parent are joined by an input edge.

Only the parents are taken from the search, and only the edge tuples from the graph:

1. Levels are derived by pointer doubling (J. Wyllie, "The Complexity of Parallel Computations", 1979): every
   vertex stores an ancestor and its distance from it; in each round it takes over the ancestor's ancestor, so
   that a tree of depth d is settled in log2(d) + 1 rounds.  A vertex that is n steps or more away from
   an ancestor is on a cycle or leads to one.
2. One pass over the tuples compares the levels of both ends (rules 3 and 4) and marks each vertex whose
   parent it finds at the other end.  A vertex left unmarked breaks rule 5.

A fault is counted under one rule: an edge with one end inside the tree breaks rule 4 rather than 3.  Edges of
vertices that lead to no root (rule 1) have no level and do not count under rules 2 and 3.  Levels derived
from parents always satisfy rule 2; the rule is checked for the levels that the search returned.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.searches import Verdict
from rapids_trav.errors import TravError


def functions_of(engine: str) -> ModuleType:
    """Return the module `cpu` or `cuda`, which offer the same functions; `cpu` documents them.

    They are imported only when needed, so this package requires neither Numba nor CuPy.
    """
    if engine == "cuda":
        from rapids_trav.graph500 import cuda

        return cuda
    from rapids_trav.graph500 import cpu

    return cpu


def validate(
    parent: Array, root: int, src: Array | list[Array], dst: Array | list[Array], level: Array | None = None
) -> Verdict:
    """Check a breadth-first tree against the edge tuples of the graph that was searched.

    Parameters
    ----------
    parent : int array, (n,)
        Parent of each vertex 0 to n - 1; the root is its own parent, and -1 means outside the tree.  A CuPy
        array is checked on its GPU, a NumPy array on the CPU.
    root : int
    src, dst : int array, (m,)
        Both ends of the undirected input edges, on the same device; duplicates and self-loops are allowed.
        Lists of arrays, for edges that exceed a frame, are read one after another.
    level : int array, (n,), optional
        The levels that the search returned, -1 outside the tree.

    Returns
    -------
    Verdict

    Raises
    ------
    TravError
        If the arrays do not fit together: lengths, devices, or ids that are not vertices.

    Notes
    -----
    Takes at most 17 bytes per vertex beside the arguments if all of them are int32; otherwise all are
    converted to int64, and it takes 33.
    """
    kernels = functions_of("cuda" if hasattr(parent, "__cuda_array_interface__") else "cpu")
    n = len(parent)
    sources, targets = (end if isinstance(end, list) else [end] for end in (src, dst))
    levels = [] if level is None else [level]
    for name, arrays in (("src", sources), ("dst", targets), ("level", levels)):
        for array in arrays:
            if type(array) is not type(parent):
                raise TravError(
                    f"{name} is a {_kind(array)} and parent a {_kind(parent)}: move them to one device."
                )
    if list(map(len, sources)) != list(map(len, targets)):
        given = (sum(map(len, ends)) for ends in (sources, targets))
        raise TravError("src has {} edges and dst {}: give both ends of every edge.".format(*given))
    if level is not None and len(level) != n:
        raise TravError(f"level has {len(level)} entries and parent {n}: give one for each vertex.")
    if not 0 <= root < n:
        raise TravError(f"root={root} is not a vertex: give one from 0 to {n - 1}.")
    dtypes = {array.dtype for array in (parent, *sources, *targets)}
    vertex = np.result_type(np.int32, *dtypes)  # wide enough for every id
    if vertex.kind != "i":
        raise TravError(f"parent, src and dst have no common integer type, but {vertex}: make them int64.")
    parent = kernels.contiguous(parent, vertex)
    level = None if level is None else kernels.contiguous(level, np.dtype(np.int32))
    edges = (
        tuple(kernels.contiguous(end, vertex) for end in pair) for pair in zip(sources, targets, strict=True)
    )
    *counts, strange = kernels.count_faults(parent, int(root), edges, level)
    if strange:
        raise TravError(f"{strange} edges have an end that is not a vertex: ids must be 0 to {n - 1}.")
    return Verdict(*counts)


def _kind(array: object) -> str:
    return f"{type(array).__module__.partition('.')[0]} array"
