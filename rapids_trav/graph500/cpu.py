"""The benchmark's own work on the CPU: loops over vertices and edge tuples, compiled by Numba."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import Threads, kernel

Result = TypeVar("Result")

LIBRARY = "pandas"
WARM_UP: int | None = None  # roots searched untimed: all, since Numba compiles a function at its first call
NONE = -1  # as an ancestor: leads to no root
OUTSIDE, ADRIFT = -1, -2  # levels of vertices without a parent, and of those that lead to no root
GRAIN = 1 << 16


def memory(devices: Sequence[int] = ()) -> AbstractContextManager:
    """Set up the allocator of a run, on all `devices` if these are several; NumPy needs none."""
    return nullcontext()


def device_name(devices: Sequence[int] = ()) -> str:
    """Return the name of the device on which the run was timed; of all `devices`, if these are several."""
    with Threads() as team:
        return f"{platform.processor() or platform.machine()}, {team.size} threads"


def timed(work: Callable[[], Result]) -> tuple[Result, float, float | None]:
    """Return the result of `work()`, the seconds it took, and those by the device's own clock, if any."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start, None


def contiguous(array: Array, dtype: np.dtype) -> Array:
    """Return the array in a type and layout for kernels; it is not copied if it has them already."""
    return np.ascontiguousarray(array, dtype)


def has_neighbor(src: Array, dst: Array, n: int) -> np.ndarray:
    """Return whether each vertex has an edge to another one: bool (n,), in host memory."""
    found = np.zeros(n, np.bool_)
    with Threads() as team:
        team.run(_has_neighbor, len(src), src, dst, found, grain=GRAIN)
    return found


def to_labels(labels: Array, predecessor: Array, root: int, n: int) -> Array:
    """Return the specification's parent array (n,): `predecessor` in the numbering of `labels`."""
    parent = np.full(n, NONE, labels.dtype)
    with Threads() as team:
        team.run(_to_labels, len(labels), labels, predecessor, parent, grain=GRAIN)
    parent[root] = root
    return parent


def component_edges(parent: Array, src: Array) -> int:
    """Count the input tuples inside the tree's component: both ends of a tuple are in it, or neither is."""
    with Threads() as team:
        return sum(team.run(_component_edges, len(src), parent, src, grain=GRAIN))


def count_faults(
    parent: Array, root: int, edges: Iterable[tuple[Array, Array]], level: Array | None
) -> list[int]:
    """Count violations of rules 1 to 5, levels that are not depths, and ends out of range."""
    n = len(parent)
    with Threads() as team:

        def total(function: Callable, items: int, *arguments: object) -> np.ndarray:
            parts = team.run(function, items, *arguments, grain=GRAIN)
            return np.asarray(np.sum(parts, axis=0, dtype=np.int64))

        ancestors, following = np.empty((2, n, 2), parent.dtype)
        team.run(_first_ancestors, n, parent, root, ancestors, grain=GRAIN)
        while total(_jump, n, root, ancestors, following):
            ancestors, following = following, ancestors
        nodes = following
        given = np.empty(0, np.int32) if level is None else level
        rule_1, rule_2, levels = total(_settle, n, parent, root, ancestors, given, nodes)
        joined = np.zeros(n, np.bool_)
        faults = np.zeros(3, np.int64)
        for src, dst in edges:
            faults += total(_check_edges, len(src), src, dst, nodes, joined)
        rule_3, rule_4, strange = faults
        rule_5 = total(_unjoined, n, root, nodes, joined)
    return [int(count) for count in (rule_1, rule_2, rule_3, rule_4, rule_5, levels, strange)]


@kernel
def _has_neighbor(src, dst, found, begin, end):
    for i in range(begin, end):
        if src[i] != dst[i]:
            found[src[i]] = True
            found[dst[i]] = True


@kernel
def _to_labels(labels, predecessor, parent, begin, end):
    for v in range(begin, end):
        if predecessor[v] >= 0:
            parent[labels[v]] = labels[predecessor[v]]


@kernel
def _component_edges(parent, src, begin, end):
    count = 0
    for i in range(begin, end):
        count += parent[src[i]] != NONE
    return count


@kernel
def _first_ancestors(parent, root, ancestors, begin, end):
    for v in range(begin, end):
        if v == root:
            ancestors[v, 0] = root
            ancestors[v, 1] = 0
        elif 0 <= parent[v] < len(parent):
            ancestors[v, 0] = parent[v]
            ancestors[v, 1] = 1
        else:
            ancestors[v, 0] = NONE
            ancestors[v, 1] = 0


@kernel
def _jump(root, ancestors, following, begin, end):
    """Do one round of pointer doubling; return the number of vertices that had not yet reached the root."""
    moved = 0
    for v in range(begin, end):
        ancestor = ancestors[v, 0]
        distance = np.int64(ancestors[v, 1])
        if ancestor != NONE and ancestor != root:
            moved += 1
            distance += ancestors[ancestor, 1]
            ancestor = ancestors[ancestor, 0]
            if ancestor == NONE or distance >= len(ancestors):
                ancestor = NONE
                distance = np.int64(0)
        following[v, 0] = ancestor
        following[v, 1] = distance
    return moved


@kernel
def _settle(parent, root, ancestors, given, nodes, begin, end):
    """Write parent and level of each vertex; count violations of rules 1 and 2, and wrong levels if given."""
    not_rooted = 0
    uneven = 0
    wrong_level = 0
    for v in range(begin, end):
        p = parent[v]
        inside = 0 <= p < len(parent)
        if ancestors[v, 0] == root:
            level = ancestors[v, 1]
        else:
            level = OUTSIDE if p == NONE else ADRIFT
        nodes[v, 0] = p if inside else NONE
        nodes[v, 1] = level
        not_rooted += p != root if v == root else level == ADRIFT
        if len(given) > 0 and level != ADRIFT:
            wrong_level += given[v] != level
            if level > 0:
                uneven += given[v] - given[p] != 1
    return not_rooted, uneven, wrong_level


@kernel
def _check_edges(src, dst, nodes, joined, begin, end):
    """Mark the vertices whose parent an edge leads to; count violations of rules 3 and 4, and invalid ids."""
    too_far = 0
    leaving = 0
    strange = 0
    n = len(nodes)
    for i in range(begin, end):
        u = src[i]
        v = dst[i]
        if not (0 <= u < n and 0 <= v < n):
            strange += 1
            continue
        if nodes[u, 0] == v:
            joined[u] = True
        if nodes[v, 0] == u:
            joined[v] = True
        u_level = nodes[u, 1]
        v_level = nodes[v, 1]
        if (u_level == OUTSIDE) != (v_level == OUTSIDE):
            leaving += 1
        elif u_level >= 0 and v_level >= 0 and abs(u_level - v_level) > 1:
            too_far += 1
    return too_far, leaving, strange


@kernel
def _unjoined(root, nodes, joined, begin, end):
    count = 0
    for v in range(begin, end):
        count += v != root and nodes[v, 0] != NONE and not joined[v]
    return count
