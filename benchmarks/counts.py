"""What the parts of the published systems that are left out would save, by count: no GPU, and no times.

    python -m benchmarks counts                                  # facebook, rmat14, grid256, chains15
    python -m benchmarks counts --graph rmat16 --graph edges.parquet

docs/systems.md has the figures and what follows from them.  All bytes are multiples of those of all edges,
with memory for a quarter of them, unless a column says otherwise.

- `blocks` (L4): bytes that shortest paths load and read in place, by the order of the rows in blocks; `used`
  is by the number of times that rows became active in three searches from other roots.
- `paths` (L3): edges of a search level by level, of active rows, of the paths with an active vertex, and of
  those and all that depend on them.
- `ranks` (L11): bytes that PageRank loads in sweeps until the changes add up to less than 1e-5, with as many
  pages kept as fit; and in blocks whose rows hand on what has changed, first the block with the most,
  iterated until each row in memory has less than an even share of 1e-5.
- `searches` (V3, V5, V6): of the vertices of frontiers the share that is in a queue, in order of discovery;
  vertices with self-loops alone; and on a grid of 4 x 4 ranks the bytes of a search, without those for
  predecessors, and what they would be if every rank knew after each level which hubs have been found.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

import click
import numpy as np
import pandas as pd
from rich.console import Console
from scipy.sparse import csr_array

from benchmarks import graphs
from benchmarks.harness import Row, make
from benchmarks.scale.model import message_bytes
from rapids_trav import Graph
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.blocks.cut import cut, edge_bytes, whole_shift
from rapids_trav.engines.blocks.residency import Copy, Landed
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.programs.blocks.executor import Blocks
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.engines.iterations import iterate
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.run_state import RunState
from rapids_trav.programs.shipped import shortest_paths

GRAPHS = ("facebook", "rmat14", "grid256", "chains15")
PARTS = 4  # memory holds this part of the edges
TOLERANCE, ALPHA = 1e-5, 0.85
HUB_DEGREE, SIDE = 100, 4


@dataclass(frozen=True)
class Edges:
    """Weighted edges of `n` vertices, and roots that reach many of them."""

    n: int
    src: np.ndarray
    dst: np.ndarray
    directed: bool

    @classmethod
    def load(cls, name: str, directed: bool = False) -> Edges:
        is_file = name.endswith(".parquet")
        frame = pd.read_parquet(name) if is_file else graphs.load(name, "pandas")
        src, dst = frame["src"].to_numpy(np.int64), frame["dst"].to_numpy(np.int64)
        return cls(
            int(max(src.max(), dst.max())) + 1, src, dst, directed if is_file else graphs.is_directed(name)
        )

    @cached_property
    def weights(self) -> np.ndarray:
        return np.random.default_rng(0).integers(1, 256, len(self.src))

    @cached_property
    def degree(self) -> np.ndarray:
        return np.bincount(np.r_[self.src, self.dst], minlength=self.n)

    def view(self, place: np.ndarray | None = None) -> GatherView:
        """Return the edges in rows, with the vertices at these places."""
        src, dst = (self.src, self.dst) if place is None else (place[self.src], place[self.dst])

        def build(**how: bool) -> Adjacency:
            return CpuEngine().build_adjacency(lambda: iter([(src, dst, self.weights)]), self.n, **how)

        out = build(symmetric=not self.directed)
        into = build(transpose=True) if self.directed else out
        degrees = np.diff(out.row_offsets)
        return GatherView(into, out, into.weights, degrees, out_weights=out.weights)

    @cached_property
    def roots(self) -> list[int]:
        view = self.view()
        found = CpuEngine().search(view, np.array([view.degrees.argmax()]), BfsOptions()).distance >= 0
        return np.random.default_rng(3).choice(np.flatnonzero(found), 4).tolist()

    def locality(self) -> np.ndarray:
        frame = pd.DataFrame({"src": self.src, "dst": self.dst})
        graph = Graph.from_edges(frame, directed=self.directed, order="locality", vertices=np.arange(self.n))
        return np.arange(self.n) if graph.ids.rank is None else graph.ids.rank


class AtOnce:
    """Loader that has loaded each block when the next launch ends, so that counts are the same each time."""

    most = 1

    def __init__(self, copy: Copy) -> None:
        self._copy, self._coming = copy, deque[Landed]()

    @property
    def n_coming(self) -> int:
        return len(self._coming)

    def begin(self, block: int, place: int) -> None:
        self._coming.append(Landed(block, place, self._copy(block, place)))

    def landed(self, wait: bool = False) -> Landed | None:
        return self._coming.popleft() if self._coming else None

    def close(self) -> None:
        self._coming.clear()


def moved(view: GatherView, root: int) -> float:
    """Return the bytes that shortest paths move over blocks."""
    program, n = shortest_paths("int64"), view.n_vertices
    values, active = np.full(n, program.identity), np.zeros(n, bool)
    values[root], active[root] = 0, True
    state, options = RunState(values, active), RunOptions(asynchronous=True, weighted=True)
    shift = whole_shift(view.out.n_edges)
    blocks = cut(view.out.row_offsets, shift, view.out.n_edges // PARTS >> shift)
    with Blocks(view, program, state, options, blocks, AtOnce) as run:
        counters = iterate(run, program, state, options).counters
    return (counters["loaded"] + counters["in_place"]) / (view.out.n_edges * edge_bytes(view))


def activations(view: GatherView, root: int) -> np.ndarray:
    """Return how often each row becomes active in shortest paths, round by round."""
    out = view.out
    src = np.repeat(np.arange(view.n_vertices), np.diff(out.row_offsets))
    distance = np.full(view.n_vertices, np.iinfo(np.int64).max // 2)
    distance[root], counts = 0, np.zeros(view.n_vertices, np.int64)
    active = distance == 0
    while active.any():
        counts += active
        pushed = np.flatnonzero(active[src])
        before = distance.copy()
        np.minimum.at(distance, out.column_indices[pushed], distance[src[pushed]] + out.weights[pushed])
        active = distance < before
    return counts


def descending(key: np.ndarray) -> np.ndarray:
    """Return the place of each vertex in descending order of a key."""
    place = np.empty(len(key), np.int64)
    place[np.argsort(-key, kind="stable")] = np.arange(len(key))
    return place


def of_blocks(edges: Edges) -> Row:
    plain, root = edges.view(), edges.roots[0]
    places = {
        "ids": np.arange(edges.n),
        "degree": descending(edges.degree),
        "locality": edges.locality(),
        "used": descending(sum(activations(plain, other) for other in edges.roots[1:])),
    }
    return {name: moved(edges.view(place), int(place[root])) for name, place in places.items()}


def of_paths(edges: Edges) -> Row:
    frame = pd.DataFrame({"src": edges.src, "dst": edges.dst})
    graph = Graph.from_edges(frame, directed=edges.directed, order="ids", vertices=np.arange(edges.n))
    layout, view = graph.path_layout(), edges.view()
    distance = CpuEngine().search(view, np.array(edges.roots[:1]), BfsOptions()).distance
    lengths = np.diff(layout.starts) - 1
    path_of = np.repeat(np.arange(len(lengths)), lengths + 1)
    rows = with_active = closure = 0
    for level in range(int(distance.max()) + 1):
        active = distance == level
        rows += int(view.degrees[active].sum())
        with_active += int(lengths[np.unique(path_of[active[layout.vertices]])].sum())
        closure += int(lengths[layout.active_paths(active)].sum())
    m = view.out.n_edges
    return {
        "edges_a_path": m / len(lengths),
        "rows": rows / m,
        "active": with_active / m,
        "closure": closure / m,
    }


def of_ranks(edges: Edges) -> Row:
    out = edges.view().out
    n, m, degrees = edges.n, out.n_edges, np.diff(out.row_offsets)
    shares = np.repeat(ALPHA / np.maximum(degrees, 1), degrees)
    onwards = csr_array((shares, out.column_indices, out.row_offsets), shape=(n, n)).T.tocsr()
    change, sweeps = np.full(n, (1 - ALPHA) / n), 0
    left = change.copy()
    while change.sum() >= TOLERANCE:
        change, sweeps = onwards @ change, sweeps + 1
    shift = whole_shift(m)
    blocks = cut(out.row_offsets, shift, m // PARTS >> shift)
    block_of = np.minimum(out.row_offsets[:-1] >> shift, blocks.n_blocks - 1)
    left[degrees == 0] = 0.0  # they hand nothing on
    resident: deque[int] = deque()
    here, loads = np.zeros(blocks.n_blocks, bool), 0
    while left.sum() >= TOLERANCE:
        waiting = np.bincount(block_of, left, blocks.n_blocks)
        waiting[here] = -1.0
        if len(resident) == blocks.n_places:
            here[resident.popleft()] = False
        resident.append(int(waiting.argmax()))
        here[resident[-1]], loads = True, loads + 1
        while (ready := here[block_of] & (left > TOLERANCE / n)).any():
            handed = np.where(ready, left, 0.0)
            left = left - handed + np.where(degrees > 0, onwards @ handed, 0.0)
    kept = blocks.room / m
    return {"sweeps": sweeps, "in_sweeps": sweeps * (1 - kept) + kept, "in_blocks": (loads << shift) / m}


def of_searches(edges: Edges) -> Row:
    view = edges.view(descending(edges.degree))
    root = int(descending(edges.degree)[edges.roots[0]])
    found = CpuEngine().search(view, np.array([root]), BfsOptions(trace=True))
    queued = sum(row.frontier for row in found.trace if row.direction == "push")
    apart = edges.src != edges.dst
    others = np.bincount(np.r_[edges.src[apart], edges.dst[apart]], minlength=edges.n)
    plain, known = of_hubs(edges, edges.roots[0])
    return {
        "queued": queued / sum(row.frontier for row in found.trace),
        "vertices": int((edges.degree > 0).sum()),
        "loops_alone": int(((edges.degree > 0) & (others == 0)).sum()),
        "grid_mb": plain / 1e6,
        "hubs_known_mb": known / 1e6,
    }


def of_hubs(edges: Edges, root: int) -> tuple[int, int]:
    """Return the bytes of a search on a grid, and those if the hubs that were found were known to all.

    A rank sends each vertex that it finds once.  If it knew, it would not send a hub that was found in an
    earlier level; to know, it sends a bit for each hub in each level to another rank, and receives as many.
    """
    view, grid = edges.view(), Grid(SIDE, SIDE, edges.n)
    distance = CpuEngine().search(view, np.array([root]), BfsOptions()).distance
    levels, nb = int(distance.max()) + 1, grid.block
    owner, out = grid.owner(np.arange(edges.n)), view.out
    src = np.repeat(np.arange(edges.n), np.diff(out.row_offsets))
    never = np.iinfo(np.int32).max
    first = np.full((SIDE, edges.n), never)  # the level in which a column of the grid finds a vertex
    reached = distance[src] >= 0
    np.minimum.at(first, (src[reached] // nb // SIDE, out.column_indices[reached]), distance[src[reached]])
    hubs = edges.degree >= HUB_DEGREE
    frontier = np.zeros((levels, grid.size), np.int64)
    np.add.at(frontier, (distance[distance >= 0], owner[distance >= 0]), 1)
    expand = (SIDE - 1) * int(message_bytes(frontier, nb, "auto").sum())
    sent = []
    for skipped in (np.zeros(edges.n, bool), hubs):
        fold = 0
        for column in range(SIDE):
            told = (first[column] < never) & (owner // SIDE != column)
            told &= ~(skipped & (first[column] >= distance))
            claimed = np.zeros((levels, grid.size), np.int64)
            np.add.at(claimed, (first[column][told], owner[told]), 1)
            fold += int(message_bytes(claimed, nb, "auto").sum())
        sent.append(expand + fold)
    return sent[0], sent[1] + levels * grid.size * -(-int(hubs.sum()) // 8)


TABLES = {"blocks": of_blocks, "paths": of_paths, "ranks": of_ranks, "searches": of_searches}


@click.command(help=__doc__)
@click.option("--graph", "names", multiple=True, default=GRAPHS, help="A name, or a Parquet file.")
@click.option("--directed", is_flag=True, help="Whether the edges of files are.")
@click.option("--only", type=click.Choice(tuple(TABLES)), multiple=True, default=tuple(TABLES))
def main(names: tuple[str, ...], directed: bool, only: tuple[str, ...]) -> None:
    for title in only:
        rows = [{"graph": name, **TABLES[title](Edges.load(name, directed))} for name in names]
        Console(width=120).print(make(title, tuple(rows[0]), rows))
