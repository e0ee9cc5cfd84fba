"""Extrapolation from counted searches: bytes by a law, seconds by costs, and the memory of each rank.

The law: a search on a grid of one shape and number of ranks sends, over all ranks, the same number of bytes
per vertex with an edge, at any scale.  As R-MAT grows, more and more of its vertices have no edge; the number
of vertices with an edge is known in closed form.  The bytes are the mean over the counted scales; `held_out`
omits the largest from the mean and returns the prediction for it.

Seconds are the sum of costs that do not overlap: levels, messages, bytes inside hosts and
between them, and edges followed.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.harness import Row
from rapids_trav.engines.multigpu.grid import LOCAL_IDS, WORD, choose_grid

HOST = 8  # GPUs per host
EDGE_FACTOR = 16
ENTRIES = 2 * EDGE_FACTOR  # entries of the adjacency per id: every edge in both directions
UPPER = 0.57 + 0.19  # share of an edge's ends that have a 0 in a given bit
LEAST_BLOCK = 128  # vertices of a rank; below this, padding and chance dominate
BY_COUNT_FROM = 64  # ranks, from which the bytes of square grids are fitted by the number of ranks
GPU_BYTES = 80e9 * 0.9  # memory of an H100, without contexts and NCCL


@dataclass(frozen=True)
class Cost:
    """A constant of the model, in seconds, or in bytes or edges a second."""

    what: str
    value: float
    written: str
    source: str


TWO = "measured on two H200 of one host"
COSTS = {
    "level": Cost(
        "launches and waits of the host in a level", 100e-6, "100 us",
        "assumed: ten launches or allocations of some 10 us",
    ),
    "call": Cost("a call of NCCL with 1 KiB", 8.5e-6, "8.5 us", f"{TWO}: 7-10 us"),
    "near": Cost("each further partner inside a host", 1.2e-6, "1.2 us", f"{TWO}: a flag there and back"),
    "far": Cost(
        "each partner on another host", 1.5e-6, "1.5 us",
        "[small RDMA write with GPUDirect](https://factryze.ai/scale-atlas/interconnect/gpudirect-rdma)",
    ),
    "inside": Cost("bytes inside a host, a GPU", 231e9, "231 GB/s", f"{TWO}: all-gather of 64 MiB"),
    "between": Cost(
        "bytes between hosts, a GPU", 50e9, "50 GB/s",
        "[DGX H100 User Guide](https://docs.nvidia.com/dgx/dgxh100-user-guide/): 400 Gb/s for each GPU",
    ),
    "edges": Cost(
        "edges followed, a GPU", 34e9, "34 billion/s",
        "measured on one H100: variant `edge`, R-MAT scale 24, 2^29 entries in 15.7 ms",
    ),
}  # fmt: skip


def connected(scale: int) -> float:
    """Return the expected number of the 2^scale ids of an R-MAT graph that have an edge.

    An id with k bits of 0 is an end of an edge with probability UPPER^k * (1 - UPPER)^(scale - k).
    """
    total = 0.0
    for k in range(scale + 1):
        degree = ENTRIES * 2.0**scale * UPPER**k * (1 - UPPER) ** (scale - k)
        total += math.comb(scale, k) * -math.expm1(-degree)
    return total


@dataclass(frozen=True)
class Shape:
    """Bytes that a search sends on one grid, for each vertex with an edge and over all ranks.

    Attributes
    ----------
    n_bytes, between : float
        Bytes in all, and bytes to other hosts.
    scales : tuple of int
        Scales from which they are known.
    """

    n_bytes: float
    between: float
    scales: tuple[int, ...]


def of_row(row: Row) -> tuple[float, float]:
    """Return bytes, and bytes between hosts, of a counted search for each vertex with an edge."""
    per_vertex = row["ranks"] / connected(row["scale"])
    between = 0.0
    if row["ranks"] > HOST:
        between = row["mb_off_host"] / HOST + row["mb_predecessors"]  # these go along grid rows
    return 1e6 * row["mb_a_rank"] * per_vertex, min(1e6 * between, 1e6 * row["mb_a_rank"]) * per_vertex


class Law:
    """The law fitted to some counted rows.

    Parameters
    ----------
    rows : iterable of dict
        Rows of `scale_model`.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        found: dict[tuple[str, int], list[Row]] = defaultdict(list)
        self.levels: dict[int, int] = {}
        for row in rows:
            self.levels[row["scale"]] = row["levels"]
            if (1 << row["scale"]) >= LEAST_BLOCK * row["ranks"]:
                found[row["grid"], row["ranks"]].append(row)
        self.shapes: dict[tuple[str, int], Shape] = {}
        for key, chosen in found.items():
            by_scale = {row["scale"]: row for row in chosen}  # layouts may share a grid
            told = [of_row(row) for row in by_scale.values()]
            self.shapes[key] = Shape(
                fmean(one for one, _ in told), fmean(one for _, one in told), tuple(sorted(by_scale))
            )

    def shape(self, grid: tuple[int, int]) -> Shape | None:
        """Return the bytes sent on a grid: counted, or for larger square ones by the number of ranks."""
        ranks = grid[0] * grid[1]
        known = self.shapes.get((written(grid), ranks))
        if known or grid != choose_grid(ranks):
            return known
        squares = [
            (count, shape)
            for (name, count), shape in self.shapes.items()
            if name == written(choose_grid(count)) and count >= BY_COUNT_FROM
        ]
        if len(squares) < 3 or ranks < max(count for count, _ in squares):
            return None
        slope, start = line([(math.log2(count), math.log2(shape.n_bytes)) for count, shape in squares])
        largest = max(squares, key=lambda one: one[0])[1]
        n_bytes = 2 ** (start + slope * math.log2(ranks))
        return Shape(n_bytes, n_bytes * largest.between / largest.n_bytes, ())

    def n_levels(self, scale: int) -> int:
        """Return the levels of a search, from a line through the counted ones, rounded up."""
        if scale in self.levels or len(self.levels) < 2:
            return self.levels.get(scale, max(self.levels.values()))
        slope, start = line([(float(known), float(n)) for known, n in self.levels.items()])
        return max(math.ceil(start + slope * scale - 1e-9), 1)


def held_out(rows: Sequence[Row]) -> list[tuple[Row, float]]:
    """Return each row of the largest scale with the megabytes a rank predicted from the other scales."""
    last = max(row["scale"] for row in rows)
    law = Law(row for row in rows if row["scale"] < last)
    found = []
    for row in rows:
        shape = law.shapes.get((row["grid"], row["ranks"]))
        if row["scale"] == last and row["ranks"] > 1 and shape:
            found.append((row, shape.n_bytes * connected(last) / row["ranks"] / 1e6))
    return found


@dataclass(frozen=True)
class Prediction:
    """Seconds of a search, by cost."""

    levels: float
    messages: float
    inside: float
    between: float
    edges: float

    @property
    def communication(self) -> float:
        return self.messages + self.inside + self.between

    @property
    def total(self) -> float:
        return self.levels + self.communication + self.edges

    def gteps(self, scale: int) -> float:
        return EDGE_FACTOR * 2.0**scale / self.total / 1e9


def predict(law: Law, scale: int, grid: tuple[int, int]) -> Prediction | None:
    """Return the seconds of a top-down search; None for a grid without data."""
    rows, columns = grid
    ranks = rows * columns
    shape = Shape(0.0, 0.0, ()) if ranks == 1 else law.shape(grid)
    if shape is None:
        return None
    cost = {name: one.value for name, one in COSTS.items()}
    n_levels = law.n_levels(scale)
    per_rank = connected(scale) / ranks
    hosts = -(-ranks // HOST)
    near = min(rows, HOST) - 1 + (min(columns, HOST // rows) - 1 if rows < HOST else 0)
    far = rows + columns - 2 - near
    calls = 2 * (rows > 1) + 2 * (columns > 1) + (ranks > 1)  # lengths, then contents; and a sum
    one = calls * cost["call"] + 2 * (near * cost["near"] + far * cost["far"])
    one += 2 * math.ceil(math.log2(hosts)) * cost["far"]
    return Prediction(
        levels=n_levels * cost["level"],
        messages=n_levels * one,
        inside=(shape.n_bytes - shape.between) * per_rank / cost["inside"],
        between=shape.between * per_rank / cost["between"],
        edges=ENTRIES * 2.0**scale / ranks / cost["edges"],
    )


def holds(scale: int, grid: tuple[int, int]) -> dict[str, float]:
    """Return the bytes of a rank by structure: undirected, evenly distributed, with `keep_rows=False`."""
    rows, columns = grid
    ranks = rows * columns
    block = block_of(scale, ranks)
    entries = ENTRIES * 2.0**scale / ranks
    wide = 8 if entries >= 2**31 else 4
    vertex = 8 if ranks * block > LOCAL_IDS else 4
    frontier = 0.8 * rows * block  # vertices of a column's frontier in the largest level
    return {
        "edges": 4 * entries,
        "offsets": wide * rows * block,
        "claims and predecessors": (1 / 8 + 4 + 4) * columns * block,
        "frontier": (4 + 8 + 8) * frontier,
        "own vertices": (1 / 8 + 4 + 4 + 8 + 2 * vertex) * block,
    }


def block_of(scale: int, ranks: int) -> int:
    return math.ceil(connected(scale) / (ranks * WORD)) * WORD


def has_local_ids(scale: int, grid: tuple[int, int]) -> bool:
    """Return whether the vertices of a column and of a row of the grid can be numbered with 31 bits."""
    return max(grid) * block_of(scale, grid[0] * grid[1]) < LOCAL_IDS


def least_ranks(scale: int, n_bytes: float = GPU_BYTES) -> tuple[int, tuple[int, int], str]:
    """Return the fewest ranks, a power of two, that hold a graph, their grid, and the limiting factor."""
    ranks, why = 1, "edges"
    while True:
        grid = choose_grid(ranks)
        parts = holds(scale, grid)
        if not has_local_ids(scale, grid):
            why = "local ids of 31 bits"
        elif sum(parts.values()) > n_bytes:
            why = max(parts, key=parts.__getitem__)
        else:
            return ranks, grid, why
        ranks *= 2


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return slope and intercept of the least-squares line."""
    x, y = fmean(point[0] for point in points), fmean(point[1] for point in points)
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return slope, y - slope * x


def written(grid: tuple[int, int]) -> str:
    return f"{grid[0]} x {grid[1]}"
