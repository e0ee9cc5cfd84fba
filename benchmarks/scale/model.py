"""Bytes and messages of the search on a grid of ranks, for machines that are not available.

    python -m benchmarks scale                              # R-MAT of scale 16 to 18, 1 to 8,192 ranks
    python -m benchmarks scale --scale 20 --ranks 400 --levels
    python -m benchmarks scale --scale 20 --json rows.jsonl

One search on this machine gives the level of every vertex of a real R-MAT graph.  The bytes that each rank
sends follow from the levels and the ownership of vertices, without running the ranks: the frontier of a rank
is the vertices of a level that it owns, and a rank claims a vertex in the first level in which one of its
edges reaches it.  tests/engines/multigpu/test_scale_model.py compares the count with the counters of loopback
ranks, byte for byte.

Layouts: "1d" has all ranks in one column, so that a level is one gather over all ranks; "2d" is the squarest
grid; "hosts" has a column of the grid on each host of 8 GPUs, so that a frontier is gathered over NVLink and
only discovered vertices cross hosts.  Ranks are numbered along the hosts.

Columns: levels; messages a rank sends in a level; megabytes that a rank sends in a search, mean and most, and
the ratio with lists alone over it; the part of them for predecessors; megabytes that leave a host, mean;
imbalance of the edges, most over mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.console import Console

from benchmarks.graphs import OneAdjacency
from benchmarks.harness import make
from rapids_trav import generators
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.engines.multigpu.grid import Grid, choose_grid
from rapids_trav.jit.kernels import kernel

HOST = 8  # GPUs per host
LAYOUTS = ("1d", "2d", "hosts")
RANKS = tuple(1 << k for k in range(14))
NEVER = np.int32(2**30)  # level in which nothing arrives


@dataclass(frozen=True)
class Sent:
    """Bytes that every rank sends.

    Attributes
    ----------
    expand, fold : int64 array, (levels, ranks)
        Bytes sent to other ranks in each level.
    expand_off_host, fold_off_host : int64 array, (levels, ranks)
        The part of them sent to ranks of other hosts.
    candidates : int64 array, (levels, ranks)
        Number of vertices claimed.
    resolution : int64 array, (ranks,)
        Bytes of requests and replies for predecessors.
    edges : int64 array, (ranks,)
        Number of edges held.
    """

    expand: np.ndarray
    fold: np.ndarray
    expand_off_host: np.ndarray
    fold_off_host: np.ndarray
    candidates: np.ndarray
    resolution: np.ndarray
    edges: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Bytes of each rank over the search."""
        return self.expand.sum(axis=0) + self.fold.sum(axis=0) + self.resolution

    @property
    def off_host(self) -> np.ndarray:
        """Bytes that leave each host, without those for predecessors."""
        ranks = (self.expand_off_host + self.fold_off_host).sum(axis=0)
        return np.add.reduceat(ranks, np.arange(0, len(ranks), HOST))


def rmat(scale: int, edge_factor: int) -> Adjacency:
    edges = generators.rmat(scale, edge_factor)
    src, dst = edges["src"].to_numpy(), edges["dst"].to_numpy()
    return CpuEngine().build_adjacency(lambda: iter([(src, dst)]), 1 << scale, symmetric=True)


def distances(adjacency: Adjacency, root: int) -> np.ndarray:
    return (
        CpuEngine().search(OneAdjacency(adjacency), np.array([root]), BfsOptions(predecessors=False)).distance
    )


def grid_of(layout: str, n_ranks: int, n_vertices: int) -> Grid | None:
    """Return the grid of a layout; None where it equals another one, or does not exist."""
    if layout == "1d":
        return Grid(n_ranks, 1, n_vertices)
    if layout == "hosts":
        return Grid(HOST, n_ranks // HOST, n_vertices) if n_ranks > HOST and n_ranks % HOST == 0 else None
    shape = choose_grid(n_ranks)
    return Grid(*shape, n_vertices) if shape[1] > 1 else None


def count(adjacency: Adjacency, distance: np.ndarray, grid: Grid, exchange: str = "auto") -> Sent:
    """Count the bytes that the ranks of a grid send in the search that found these distances."""
    n_rows, n_columns, n_ranks, nb = grid.n_rows, grid.n_columns, grid.size, grid.block
    levels = int(distance.max()) + 1
    ranks = np.arange(n_ranks)
    rows, columns = grid.place(ranks)

    reached = np.flatnonzero(distance >= 0)
    frontier = np.zeros((levels, n_ranks), np.int64)
    np.add.at(frontier, (distance[reached], grid.owner(reached)), 1)
    shape = message_bytes(frontier, nb, exchange)
    near = np.minimum((ranks // HOST + 1) * HOST, (columns + 1) * n_rows) - np.maximum(
        ranks // HOST * HOST, columns * n_rows
    )  # ranks of the column on the same host, including the rank itself: both are runs of ranks

    claimed = np.zeros((levels, n_columns, n_ranks), np.int32)  # by the column of the finder and the owner
    finder = np.full(adjacency.n_vertices, -1, np.int32)
    edges = np.zeros((n_columns, n_ranks), np.int64)
    _count_claims(
        adjacency.row_offsets, adjacency.column_indices, distance, nb, n_rows, claimed, finder, edges,
        np.full(n_columns, NEVER, np.int32),
    )  # fmt: skip

    fold = np.zeros((levels, n_ranks), np.int64)
    fold_off_host = np.zeros_like(fold)
    candidates = np.zeros_like(fold)
    held = np.zeros(n_ranks, np.int64)
    for column in range(n_columns):
        sender = column * n_rows + rows  # in the row of each owner
        to_other = sender != ranks
        to_other_host = sender // HOST != ranks // HOST
        n_bytes = message_bytes(claimed[:, column], nb, exchange)
        for level in range(levels):
            np.add.at(fold[level], sender, n_bytes[level] * to_other)
            np.add.at(fold_off_host[level], sender, n_bytes[level] * to_other_host)
            np.add.at(candidates[level], sender, claimed[level, column])
        np.add.at(held, sender, edges[column])

    found = np.flatnonzero(distance > 0)
    owner = grid.owner(found)
    asked = np.zeros((n_columns, n_ranks), np.int64)  # by the column of the finder and the owner
    np.add.at(asked, (finder[found], owner), 1)
    resolution = np.zeros(n_ranks, np.int64)
    for column in range(n_columns):
        sender = column * n_rows + rows
        away = sender != ranks
        resolution += message_bytes(asked[column], nb, exchange) * away  # the requests
        np.add.at(resolution, sender, 4 * asked[column] * away)  # the replies
    return Sent(
        (n_rows - 1) * shape, fold, (n_rows - near) * shape, fold_off_host, candidates, resolution, held
    )


def message_bytes(vertices: np.ndarray, block: int, exchange: str) -> np.ndarray:
    """Return the bytes of messages with these numbers of vertices of a block (K10)."""
    as_list, as_bitmap = 4 * vertices.astype(np.int64), np.int64(block // 8)
    if exchange == "auto":
        return np.minimum(as_list, as_bitmap)
    return as_list if exchange == "list" else np.full_like(as_list, as_bitmap)


@kernel
def _count_claims(row_offsets, column_indices, distance, nb, n_rows, claimed, finder, edges, first):
    """Count, for each vertex and column of the grid, the first level with an edge from there to it."""
    for v in range(len(row_offsets) - 1):
        owner = v // nb
        for e in range(row_offsets[v], row_offsets[v + 1]):
            u = column_indices[e]
            j = u // nb // n_rows
            edges[j, owner] += 1
            if distance[u] >= 0:
                first[j] = min(first[j], distance[u])
        for e in range(row_offsets[v], row_offsets[v + 1]):
            j = column_indices[e] // nb // n_rows
            if first[j] < NEVER:
                claimed[first[j], j, owner] += 1
                if first[j] == distance[v] - 1 and finder[v] < 0:
                    finder[v] = j  # the first of them, since rows ascend
                first[j] = NEVER


def rows_of(
    scale: int, edge_factor: int, n_ranks: tuple[int, ...], layouts: tuple[str, ...]
) -> Iterator[dict]:
    """Yield a row for each layout and number of ranks."""
    adjacency = rmat(scale, edge_factor)
    root = int(np.argmax(np.diff(adjacency.row_offsets) > 0))
    distance = distances(adjacency, root)
    for ranks in n_ranks:
        for layout in layouts:
            grid = grid_of(layout, ranks, adjacency.n_vertices)
            if grid is None or grid.block * ranks > 2 * max(adjacency.n_vertices, 32):
                continue  # equal to another one, or mostly padding
            sent = count(adjacency, distance, grid)
            lists = count(adjacency, distance, grid, "list")
            off_host = sent.off_host
            yield {
                "scale": scale,
                "ranks": ranks,
                "layout": layout,
                "grid": f"{grid.n_rows} x {grid.n_columns}",
                "levels": len(sent.expand),
                "messages": grid.n_rows + grid.n_columns - 2,
                "mb_a_rank": sent.total.mean() / 1e6,
                "mb_most": sent.total.max() / 1e6,
                "lists_over_auto": lists.total.sum() / max(1, sent.total.sum()),
                "mb_predecessors": sent.resolution.mean() / 1e6,
                "mb_off_host": off_host.mean() / 1e6 if ranks > HOST else 0.0,
                "edge_imbalance": sent.edges.max() / max(1, sent.edges.mean()),
                "by_level": [
                    {
                        "level": level + 1,
                        "expand_mb": float(sent.expand[level].mean() / 1e6),
                        "fold_mb": float(sent.fold[level].mean() / 1e6),
                        "candidates": int(sent.candidates[level].sum()),
                    }
                    for level in range(len(sent.expand))
                ],
            }


@click.command(help=__doc__.split("\n")[0])
@click.option("--scale", "scales", multiple=True, type=click.IntRange(5, 26), default=(16, 17, 18))
@click.option("--edge-factor", default=16, show_default=True)
@click.option("--ranks", "n_ranks", multiple=True, type=click.IntRange(1), default=RANKS)
@click.option("--layout", "layouts", multiple=True, type=click.Choice(LAYOUTS), default=LAYOUTS)
@click.option("--levels", is_flag=True, help="Show each level too.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Append the rows to this file.")
def main(
    scales: tuple[int, ...],
    edge_factor: int,
    n_ranks: tuple[int, ...],
    layouts: tuple[str, ...],
    levels: bool,
    path: Path | None,
) -> None:
    rows: list[dict[str, Any]] = []
    for scale in scales:
        for row in rows_of(scale, edge_factor, n_ranks, layouts):
            rows.append(row)
            if path:
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
    if not rows:
        raise click.ClickException("No layout has so many ranks on a graph of this scale: choose fewer.")
    columns = [name for name in rows[0] if name != "by_level"]
    if levels:
        columns.append("expand + fold, MB by level")
        for row in rows:
            each = (f"{one['expand_mb']:.3g}+{one['fold_mb']:.3g}" for one in row["by_level"])
            row[columns[-1]] = "  ".join(each)
    Console(width=180).print(make("a search on a grid of ranks, by count", columns, rows))
