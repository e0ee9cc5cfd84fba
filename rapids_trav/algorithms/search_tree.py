"""The tree of a search, of which a part is shown: the largest branches first."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import pandas as pd

from rapids_trav.frames.columns import Frame
from rapids_trav.frames.exchange import EdgeColumns, ends_of, names_of, on_host

MOST = 1_000_000  # vertices of a tree that is worth its memory beside a result


class Shown(NamedTuple):
    """A vertex of the part that is shown: its row, its depth, its children and all its descendants."""

    row: int
    depth: int
    children: int
    below: int


class SearchTree:
    """The tree of the predecessors in a result of `bfs`; of the first search, if there are several.

    Rows are those of the reached vertices, in the order of the result: `distance`, `parent` (the row of the
    predecessor, -1 at sources) and `below`, the number of descendants.  `is_first` says whether the result
    has other searches as well.
    """

    def __init__(self, result: Frame) -> None:
        result = on_host(result)
        self._vertices = _first_search(result)
        self.is_first = len(self._vertices) < int(result["distance"].notna().sum())
        vertex, predecessor = (_named(self._vertices, name) for name in ("vertex", "predecessor"))
        self._columns = EdgeColumns(vertex, predecessor, None, True)
        self.distance = self._vertices["distance"].to_numpy(np.int64)
        later = self._vertices[self.distance > 0]
        types = {above: self._vertices[of].dtype for above, of in zip(predecessor, vertex, strict=True)}
        children, parents = ends_of(self._vertices, later.astype(types), self._columns)
        self.parent = np.full(len(self.distance), -1, np.int64)
        self.parent[children] = parents
        self.below = self._descendants()
        # The children of a row are side by side in `_order`, from the largest branch to the smallest.
        self._order = np.lexsort((-self.below, self.parent))
        self._starts = np.searchsorted(self.parent[self._order], np.arange(-1, len(self.parent) + 1))

    def _descendants(self) -> np.ndarray:
        below, parent = [0] * len(self.parent), self.parent.tolist()
        deepest_first = np.argsort(-self.distance, kind="stable")
        for row in deepest_first[: np.count_nonzero(self.parent >= 0)].tolist():
            below[parent[row]] += below[row] + 1
        return np.array(below, np.int64)

    @property
    def title(self) -> str:
        """Name of the tree above a text or picture of it."""
        return "tree of predecessors" + (" of the first source" if self.is_first else "")

    @property
    def sources(self) -> np.ndarray:
        """Rows of the sources, from the largest tree to the smallest."""
        return self.children(-1)

    def children(self, row: int) -> np.ndarray:
        """Return the rows of a vertex's children, from the largest branch to the smallest."""
        return self._order[self._starts[row + 1] : self._starts[row + 2]]

    def part(self, n_vertices: int, depth: int) -> list[Shown]:
        """Return at most `n_vertices`, none below `depth`, of the largest branches, in preorder."""
        shown: set[int] = set()
        waiting: list[tuple[int, int, int]] = []  # the size of a branch, its row, its place among siblings

        def offer(parent: int, place: int) -> None:
            siblings = self.children(parent)
            if place < len(siblings):
                heappush(waiting, (-int(self.below[siblings[place]]), int(siblings[place]), place))

        offer(-1, 0)
        while waiting and len(shown) < n_vertices:
            _, row, place = heappop(waiting)
            shown.add(row)
            offer(int(self.parent[row]), place + 1)
            if self.distance[row] < depth:
                offer(row, 0)
        return self._preorder(shown)

    def _preorder(self, shown: set[int]) -> list[Shown]:
        found: list[Shown] = []
        stack = [row for row in self.sources[::-1].tolist() if row in shown]
        while stack:
            row = stack.pop()
            children = self.children(row)
            found.append(Shown(row, int(self.distance[row]), len(children), int(self.below[row])))
            # Siblings are shown in order, so those after the first that is not shown are not either.
            kept = []
            for child in children.tolist():
                if child not in shown:
                    break
                kept.append(child)
            stack += kept[::-1]
        return found

    def layers(self, most: int, depth: int) -> list[np.ndarray]:
        """Return up to `most` rows of each of the first `depth` layers, each in the order of its parents.

        A layer has the parents of all rows of the next layer, and then the largest branches.
        """
        found: list[np.ndarray] = []
        parents = np.zeros(0, np.int64)
        for d in reversed(range(min(int(self.distance.max(initial=-1)) + 1, depth))):
            rows = np.flatnonzero(self.distance == d)
            first = np.lexsort((-self.below[rows], ~np.isin(rows, parents)))
            rows = np.sort(rows[first[:most]])
            parents = self.parent[rows]
            found.insert(0, rows)
        for i, rows in enumerate(found[1:], 1):
            place = {row: at for at, row in enumerate(found[i - 1].tolist())}
            found[i] = rows[np.argsort([place[row] for row in self.parent[rows].tolist()], kind="stable")]
        return found

    def names(self, rows: Sequence[int] | np.ndarray) -> list[str]:
        """Return the ids of these rows as text."""
        return [_written(name) for name in names_of(self._vertices.iloc[rows], self._columns)]


def _first_search(result: pd.DataFrame) -> pd.DataFrame:
    """Return the reached vertices of the first search of a result."""
    sources = _named(result, "source") if len(result) else []
    for name in sources:
        result = result[result[name] == result[name].iloc[0]]
    result = result[result["distance"].notna()]
    return result.drop_duplicates(_named(result, "vertex")) if sources else result  # a source may be repeated


def _named(frame: pd.DataFrame, name: str) -> list[str]:
    return [column for column in frame.columns if column == name or str(column).startswith(f"{name}_")]


def _written(vertex: Hashable | Sequence[Hashable]) -> str:
    return ",".join(map(str, vertex)) if isinstance(vertex, tuple) else str(vertex)
