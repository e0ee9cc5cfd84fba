"""Graphs for searches over loopback ranks, SciPy's answers, and the traffic expected of the ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from loopback import run_ranks
from scipy.sparse import coo_array, csgraph

from rapids_trav import generators
from rapids_trav.engines.multigpu.grid import Grid
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.engines.multigpu.partition import build
from rapids_trav.engines.multigpu.records import INLINE, RankSearch
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.engines.searches import BfsOptions

GRIDS = [(1, 4), (4, 1), (2, 2), (3, 2)]
DEADLINE = 30.0


@dataclass
class Graph:
    """Graph with edges over the vertices 0 to n - 1."""

    n: int
    src: np.ndarray
    dst: np.ndarray
    directed: bool = False

    def followed(self, direction: str = "out") -> tuple[np.ndarray, np.ndarray]:
        """Return both ends of the edges that a search may follow, the end that it comes from first."""
        out, back = (self.src, self.dst), (self.dst, self.src)
        if self.directed and direction != "both":
            return out if direction == "out" else back
        keep = self.src != self.dst  # a self-loop is one edge
        return np.append(out[0], back[0][keep]), np.append(out[1], back[1][keep])

    def distance(self, sources, direction: str = "out", limit: int | None = None) -> np.ndarray:
        """Return the distance of each vertex from the nearest source, by SciPy; -1 for unreached vertices."""
        src, dst = self.followed(direction)
        start = self.n  # an extra vertex one step before every source
        src, dst = np.append(src, np.full(len(sources), start)), np.append(dst, sources)
        matrix = coo_array((np.ones(len(src)), (src, dst)), shape=(self.n + 1,) * 2).tocsr()
        steps = csgraph.shortest_path(matrix, unweighted=True, indices=start)[: self.n]
        steps[np.isinf(steps)] = 0
        found = steps.astype(np.int32) - 1
        found[found > (self.n if limit is None else limit)] = -1
        return found

    def check_tree(self, sources, distance: np.ndarray, predecessor: np.ndarray, direction: str) -> None:
        """Check that every vertex but the sources has a predecessor one step nearer, over an edge."""
        src, dst = self.followed(direction)
        edges = set(zip(src.tolist(), dst.tolist(), strict=True))
        for v in range(self.n):
            if distance[v] <= 0:
                assert predecessor[v] == -1, v
            else:
                assert distance[predecessor[v]] == distance[v] - 1, v
                assert (predecessor[v], v) in edges, v

    def smallest_predecessor(self, distance: np.ndarray, direction: str) -> np.ndarray:
        """Return the smallest vertex one step nearer, over an edge, for each vertex; -1 if there is none."""
        src, dst = self.followed(direction)
        nearer = (distance[src] >= 0) & (distance[dst] == distance[src] + 1)
        best = np.full(self.n, self.n)
        np.minimum.at(best, dst[nearer], src[nearer])
        return np.where(best == self.n, -1, best)


@dataclass
class Answer:
    """Results of all ranks, put together."""

    grid: Grid
    parts: list
    ranks: list[RankSearch]

    @property
    def distance(self) -> np.ndarray:
        return np.concatenate([rank.distance for rank in self.ranks])

    @property
    def predecessor(self) -> np.ndarray:
        return np.concatenate([rank.predecessor for rank in self.ranks])


def asked(direction="out", deterministic=False, inline=INLINE, **options) -> dict[str, object]:
    """Return the arguments of a search on a grid; without `bottom_up`, it is top-down."""
    tuning = {name: options.pop(name) for name in ("exchange", "claim", "bottom_up") if name in options}
    of_ranks = {"bottom_up": False} | tuning
    own = {"direction": direction, "deterministic": deterministic, "inline": inline}
    return own | {"options": BfsOptions(of_ranks=of_ranks, **options)}


def searched(
    graph: Graph,
    shape,
    sources,
    work=CpuWork,
    on_rank=lambda communicator: communicator,
    deadline=DEADLINE,
    **options,
):
    """Search on a grid of P loopback ranks, each of which starts with every P-th edge."""
    grid = Grid(*shape, graph.n)

    def rank(communicator):
        communicator = on_rank(communicator)
        mine = slice(communicator.rank, None, communicator.size)
        chunks = [(graph.src[mine], graph.dst[mine])]
        part = build(communicator, grid, chunks, work(), directed=graph.directed)
        return part, search(communicator, part, np.asarray(sources), **asked(**options))

    parts, ranks = zip(*run_ranks(grid.size, rank, deadline=deadline), strict=True)
    return Answer(grid, list(parts), list(ranks))


def random_graph(seed: int, n: int, m: int, directed: bool = False) -> Graph:
    """Return a graph of random edges, including self-loops and repeated edges."""
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, n, (2, m))
    again = rng.integers(0, m, m // 10)
    return Graph(n, np.append(src, src[again]), np.append(dst, dst[again]), directed)


def rmat(scale: int, edge_factor: int = 8, directed: bool = False) -> Graph:
    edges = generators.rmat(scale, edge_factor)
    return Graph(1 << scale, edges["src"].to_numpy(), edges["dst"].to_numpy(), directed)


def path(n: int) -> Graph:
    return Graph(n, np.arange(n - 1), np.arange(1, n))


def star(n: int, centre: int) -> Graph:
    leaves = np.setdiff1d(np.arange(n), [centre])
    return Graph(n, np.full(n - 1, centre), leaves)


def message_bytes(k: int, block: int, exchange: str) -> int:
    """Return the bytes of a message about k vertices of a block, by K10."""
    as_list, as_bitmap = 4 * k, block // 8
    return {"list": as_list, "bitmap": as_bitmap, "auto": min(as_list, as_bitmap)}[exchange]


def expected_traffic(
    graph: Graph, shape, sources, exchange: str, direction: str = "out", inline: int = INLINE
) -> dict:
    """Count the traffic of each rank at each level and for the predecessors, from SciPy's distances alone.

    A rank claims a vertex in the first level in which one of the rank's edges leads to it. That level is the
    least distance of the sources of those edges, plus one.

    Returns
    -------
    dict
        (level, rank) -> (frontier, candidates, expand bytes, fold bytes, messages), and ("resolution", rank)
        -> bytes.  Valid for one direction of a directed graph, or for an undirected graph.
    """
    n_rows, n_columns = shape
    grid = Grid(*shape, graph.n)
    nb = grid.block
    distance = graph.distance(sources, direction)
    u, v = graph.followed(direction)
    owner = np.arange(graph.n) // nb
    row, column = owner % n_rows, owner // n_rows
    if direction == "in":  # expand runs along the rows of the grid, fold along its columns
        holder = row[u] + column[v] * n_rows
        n_from, n_to = n_columns, n_rows
    else:
        holder = row[v] + column[u] * n_rows
        n_from, n_to = n_rows, n_columns
    deepest = int(distance.max())
    never = deepest + 10
    from_distance = np.where(distance[u] < 0, never, distance[u])
    first = np.full((grid.size, graph.n), never)
    np.minimum.at(first, (holder, v), from_distance)

    backwards = direction == "in"

    def axis(rank: int, down: bool = backwards) -> list[int]:
        """Return the ranks of a rank's column or row; by default those that own the vertices it finds."""
        if down:
            return [rank // n_rows * n_rows + i for i in range(n_rows)]
        return [rank % n_rows + j * n_rows for j in range(n_columns)]

    expected: dict = {}
    resolution = np.zeros(grid.size, np.int64)
    for rank in range(grid.size):
        for level in range(1, deepest + 2):
            frontier = np.count_nonzero((distance == level - 1) & (owner == rank))
            claimed = first[rank] == level - 1
            to = [np.count_nonzero(claimed & (owner == other)) for other in range(grid.size)]
            group = axis(rank)
            column = axis(rank, not backwards)
            longest = max(
                message_bytes(np.count_nonzero((distance == level - 1) & (owner == other)), nb, exchange)
                for other in column
            )
            along = exchange != "bitmap" and longest <= 4 * inline  # with the sums
            expands = 0 if along else n_from - 1
            assert sum(to) == sum(to[other] for other in group)
            expected[level, rank] = (
                frontier,
                sum(to),
                (n_from - 1) * message_bytes(frontier, nb, exchange),
                sum(message_bytes(to[other], nb, exchange) for other in group if other != rank),
                expands + n_to - 1,
            )
    asked = np.zeros((grid.size, grid.size), np.int64)
    for vertex in np.flatnonzero(distance > 0):
        asked[owner[vertex], np.flatnonzero(first[:, vertex] == distance[vertex] - 1)[0]] += 1
    for rank in range(grid.size):
        for other in axis(rank):
            if other != rank:
                resolution[rank] += message_bytes(asked[rank, other], nb, exchange)  # the request
                resolution[other] += 4 * asked[rank, other]  # the reply
    expected |= {("resolution", rank): int(resolution[rank]) for rank in range(grid.size)}
    return expected
