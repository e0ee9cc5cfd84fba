"""A small graph with its breadth-first tree, ways to break the tree, and a simple check of the rules."""

import numpy as np

ROOT = 0
#      0 - 1 - 3 - 5     6 - 7    8
#       \  |       |
#         2 - 4 ---+      with the loop 3 - 3, and 0 - 1 twice
SRC = np.array([0, 0, 1, 1, 2, 3, 4, 6, 3, 1], dtype=np.int32)
DST = np.array([1, 2, 2, 3, 4, 5, 5, 7, 3, 0], dtype=np.int32)
PARENT = np.array([0, 0, 0, 1, 2, 3, -1, -1, -1], dtype=np.int32)
LEVEL = np.array([0, 1, 1, 2, 2, 3, -1, -1, -1], dtype=np.int32)

# Changes to the parents and to the levels, each {vertex: new value}, and the faults that result.
MUTATIONS = {
    "cycle": ({1: 3}, {}, {"rule_1": 3}),  # 1, its child 3 and grandchild 5
    "own parent": ({3: 3}, {}, {"rule_1": 2}),
    "cycle elsewhere": ({6: 7, 7: 6}, {}, {"rule_1": 2}),
    "root's parent": ({0: 1}, {}, {"rule_1": 1}),
    "root without parent": ({0: -1}, {}, {"rule_1": 1}),
    "parent is no vertex": ({4: 99}, {}, {"rule_1": 1}),
    "parent below -1": ({4: -7}, {}, {"rule_1": 1}),
    "level skip": ({}, {5: 4}, {"rule_2": 1, "levels": 1}),
    "edge over two levels": ({2: 1}, {2: 2, 4: 3}, {"rule_3": 1}),
    "missing vertex": ({5: -1}, {5: -1}, {"rule_4": 2}),
    "root alone": (dict.fromkeys(range(1, 6), -1), dict.fromkeys(range(1, 6), -1), {"rule_4": 3}),
    "no edge to the parent": ({3: 2}, {}, {"rule_5": 1}),
    "level outside the tree": ({}, {6: 2}, {"levels": 1}),
}


def mutated(name: str) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
    """Return parents, levels and the expected faults of a mutation."""
    parent, level = PARENT.copy(), LEVEL.copy()
    parents, levels, faults = MUTATIONS[name]
    parent[list(parents)] = list(parents.values())
    level[list(levels)] = list(levels.values())
    return parent, level, faults


def garbage(seed: int) -> tuple[np.ndarray, int, np.ndarray, np.ndarray, np.ndarray]:
    """Return random parents (of any range), a root, edges and levels."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    m = int(rng.integers(0, 80))
    src, dst = rng.integers(0, n, (2, m), dtype=np.int32)
    low, high = (-2, n + 2) if seed % 2 else (0, n)
    parent = rng.integers(low, high, n, dtype=np.int32)
    if seed % 3:
        parent = np.minimum(parent, np.arange(n, dtype=np.int32) - 1)  # mostly a forest
    return parent, int(rng.integers(0, n)), src, dst, rng.integers(-1, 4, n, dtype=np.int32)


def plainly(parent, root, src, dst, given) -> dict[str, int]:
    """Count the faults by walking from every vertex up to the root."""
    n = len(parent)
    depth: list[int | None] = [_depth(parent, root, v) for v in range(n)]
    inside = [v == root or parent[v] != -1 for v in range(n)]
    edges = list(zip(src.tolist(), dst.tolist(), strict=True))
    joined = set(edges) | {(v, u) for u, v in edges}
    faults = dict.fromkeys(("rule_1", "rule_2", "rule_3", "rule_4", "rule_5", "levels"), 0)
    for v in range(n):
        p = int(parent[v])
        if v == root:
            faults["rule_1"] += p != root
            faults["levels"] += given[v] != 0
            continue
        faults["rule_5"] += 0 <= p < n and (v, p) not in joined
        if depth[v] is None:
            faults["rule_1"] += inside[v]
            faults["levels"] += not inside[v] and given[v] != -1
        else:
            faults["levels"] += given[v] != depth[v]
            faults["rule_2"] += given[v] - given[p] != 1
    for u, v in edges:
        if inside[u] != inside[v]:
            faults["rule_4"] += 1
        elif depth[u] is not None and depth[v] is not None:
            faults["rule_3"] += abs(depth[u] - depth[v]) > 1
    return {name: int(count) for name, count in faults.items() if count}


def _depth(parent, root, v) -> int | None:
    for steps in range(len(parent)):
        if v == root:
            return steps
        v = int(parent[v])
        if not 0 <= v < len(parent):
            return None
    return None


def lasso(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a ring 1, ..., n - 1 with vertex 0 joined to 1, and parents that form a cycle on the ring."""
    vertex = np.arange(n, dtype=np.int32)
    src, dst = vertex, np.roll(vertex, -1)
    src, dst = np.append(src[:-1], [n - 1]), np.append(dst[:-1], [1])
    parent = vertex - 1
    parent[0], parent[1] = 0, n - 1
    return parent, src.astype(np.int32), dst.astype(np.int32)
