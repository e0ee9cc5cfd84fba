"""Synthetic graphs; the same seed gives the same graph in every frame library.

Random numbers are a hash of a counter (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
Generators", OOPSLA 2014), so NumPy and the GPU generate the same edges, regardless of how the edges are
divided into pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError, TravMemoryError, written
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Array, Frame
from rapids_trav.io import LIBRARIES
from rapids_trav.io.tables import import_cudf
from rapids_trav.utilities.checks import integer, one_of
from rapids_trav.utilities.machine import available_bytes
from rapids_trav.utilities.progress import ProgressOption, check_progress, opened, report, shown
from rapids_trav.utilities.sizes import readable

BLOCK = 1 << 16  # edges generated at once, so that the intermediate arrays stay in the cache
ROWS = 1 << 26  # edges per frame, where there are several frames
ROUNDS = 4  # rounds of the permutation of labels
A, B, C = 0.57, 0.19, 0.19
MOST_SCALE = 32
MOST = 2**63 - 1  # largest value of any other count


def rmat(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 1,
    library: str = "pandas",
    progress: ProgressOption = False,
) -> Frame:
    """Generate Graph500's Kronecker graph: `2**scale` possible vertices, `edge_factor * 2**scale` edges.

    Vertex labels are permuted.  The specification also shuffles the edges; here they are drawn independently,
    so their order is random already.  Self-loops and duplicates are kept, and about a quarter to a half of
    the vertices have no edge, as in the specification.

    Parameters
    ----------
    scale : int
        Binary logarithm of the number of possible vertices, from 0 to 32.
    edge_factor : int
        Edges for each possible vertex, 0 or more.
    seed : int
        Seed of the random numbers, from 0 to 2^63 - 1.
    library : {"pandas", "cudf"}
        Library of the frame.
    progress : bool or callable, default False
        Show on a terminal or in a notebook what is done; or a function, called every now and then with what
        is done, of how much and the unit, "rows".  The other generators take it as well.

    Returns
    -------
    frame
        Columns `src` and `dst`, int32 (int64 from scale 32 on).

    Raises
    ------
    TravError
        If an argument is invalid.
    TravMemoryError
        If the edges do not fit in the free memory.

    References
    ----------
    Chakrabarti, Zhan and Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004;
    graph500.org, specification, section "Graph generation".

    Examples
    --------
    >>> from rapids_trav import generators
    >>> edges = generators.rmat(scale=10)
    >>> len(edges), edges["src"].dtype
    (16384, dtype('int32'))
    """
    scale, n_edges, seed = _rmat_arguments(scale, edge_factor, seed)
    _check_room(n_edges, _rmat_dtype(scale), library, "; rmat_frames makes them a frame at a time")
    with shown("rmat", progress):
        return rmat_part(scale, 0, n_edges, seed, library, report)


def rmat_frames(
    scale: int,
    edge_factor: int = 16,
    *,
    seed: int = 1,
    library: str = "pandas",
    rows: int = ROWS,
    progress: ProgressOption = False,
) -> Iterator[Frame]:
    """Yield the edges of `rmat` as successive frames of `rows` rows.

    Each edge is computed from its number alone, so a graph whose edges do not fit in memory can be built from
    a function that generates them.

    Examples
    --------
    >>> import functools, rapids_trav
    >>> from rapids_trav.generators import rmat_frames
    >>> edges = functools.partial(rmat_frames, 8, edge_factor=4, rows=100)
    >>> rapids_trav.Graph.from_edges(edges).n_edges
    1024
    """
    scale, n_edges, seed = _rmat_arguments(scale, edge_factor, seed)
    rows = _whole("rows", rows, 1)
    _check_room(min(rows, n_edges), _rmat_dtype(scale), library, ", or give fewer rows")
    check_progress(progress)

    def frames() -> Iterator[Frame]:
        with opened("rmat_frames", progress) as told:
            for begin in range(0, n_edges, rows):
                end = min(begin + rows, n_edges)
                yield rmat_part(scale, begin, end, seed, library)
                if told is not None:
                    told.tell(end, n_edges, "rows", "")

    return frames()


def _rmat_arguments(scale: object, edge_factor: object, seed: object) -> tuple[int, int, int]:
    """Check the arguments; return the scale, the number of edges and the seed."""
    scale = _whole("scale", scale, 0, MOST_SCALE)
    return scale, _whole("edge_factor", edge_factor, 0) << scale, _whole("seed", seed, 0)


def _rmat_dtype(scale: int) -> np.dtype:
    return np.dtype(np.int32 if scale < 32 else np.int64)


def rmat_part(
    scale: int,
    begin: int,
    end: int,
    seed: int,
    library: str,
    tell: Callable[[int, int, str], None] = lambda done, total, unit: None,
) -> Frame:
    """Return the edges `begin` to `end - 1` of `rmat`, whose arguments were checked."""
    xp, dtype = _arrays(library), _rmat_dtype(scale)
    stream, factor, term = _streams(seed)
    thresholds = [np.uint64(share * 2**32) for share in (A + B, A / (A + B), C / (1 - A - B))]
    numbers = (stream, *thresholds, factor, term)
    src, dst = xp.empty(end - begin, dtype), xp.empty(end - begin, dtype)
    if library == "cudf":
        from rapids_trav.engines.cuda.runtime.loader import load

        kernels = load("rmat.cu", vertex_bits=8 * dtype.itemsize)
        kernels.launch("rmat_edges", len(src), begin, len(src), scale, *numbers, src, dst)
        tell(end - begin, end - begin, "rows")
    else:
        for first in range(begin, end, BLOCK):
            made = slice(first - begin, min(first + BLOCK, end) - begin)
            edge = np.arange(first, min(first + BLOCK, end), dtype=np.uint64)
            src[made], dst[made] = _rmat_edges(edge, scale, *numbers)
            tell(min(first + BLOCK, end) - begin, end - begin, "rows")
    return _frame(library, src, dst)


def _rmat_edges(
    edge: np.ndarray,
    scale: int,
    stream: np.uint64,
    to_lower: np.uint64,
    upper_to_right: np.uint64,
    lower_to_right: np.uint64,
    factor: np.uint64,
    term: np.uint64,
) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the edges with these numbers; `kernels/rmat.cu` does the same."""
    u, v = np.zeros_like(edge), np.zeros_like(edge)
    for bit in range(scale):
        counter = edge * np.uint64(scale) + np.uint64(bit + (1 << scale))
        draw = _mix(counter ^ stream)  # two draws of 32 bits
        lower = (draw >> np.uint64(32)) > to_lower
        right = (draw & np.uint64(0xFFFFFFFF)) > np.where(lower, lower_to_right, upper_to_right)
        u |= lower.astype(np.uint64) << np.uint64(bit)
        v |= right.astype(np.uint64) << np.uint64(bit)
    return _label(u, scale, factor, term), _label(v, scale, factor, term)


def _streams(seed: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the streams of a seed: a number for the draws, and an odd one and another for the labels."""
    stream = _mix(np.array([seed], dtype=np.uint64))
    factor, term = _mix(stream + np.array([2, 1], dtype=np.uint64))
    return stream[0], factor | np.uint64(1), term


def _label(vertex: np.ndarray, scale: int, factor: np.uint64, term: np.uint64) -> np.ndarray:
    """Permute 0, ..., 2**scale - 1 by computation, since a table would take gigabytes.

    Multiplying by an odd number, adding, and folding the upper half of the bits onto the lower half are each
    one-to-one; the first two mix the upper bits, the last carries them to the lower ones.
    """
    mask, half = np.uint64((1 << scale) - 1), np.uint64((scale + 1) // 2)
    for _ in range(ROUNDS):
        vertex = (vertex * factor + term) & mask
        vertex = vertex ^ (vertex >> half)
    return vertex


def grid(rows: int, columns: int, *, library: str = "pandas", progress: ProgressOption = False) -> Frame:
    """Make a grid of `rows * columns` vertices in row order, joined to the right and downwards.

    The frame has columns `src` and `dst`, int32 (int64 from 2^31 vertices on), as do those of `path` and
    `star`.

    Examples
    --------
    >>> from rapids_trav import generators
    >>> generators.grid(2, 2)
       src  dst
    0    0    1
    1    2    3
    2    0    2
    3    1    3
    """
    rows, columns = _whole("rows", rows, 0), _whole("columns", columns, 0)
    _check_room(2 * rows * columns, _dtype(rows * columns), library)
    xp = _arrays(library)
    with _all_at_once("grid", progress, max(2 * rows * columns - rows - columns, 0)):
        vertex = xp.arange(rows * columns, dtype=_dtype(rows * columns)).reshape(rows, columns)
        src = xp.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
        dst = xp.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
        return _frame(library, src, dst)


def path(n_vertices: int, *, library: str = "pandas", progress: ProgressOption = False) -> Frame:
    """Make the path 0, 1, ..., n_vertices - 1.

    Examples
    --------
    >>> from rapids_trav import generators
    >>> generators.path(1000).trav.graph().diameter()
    999
    """
    n_vertices = _whole("n_vertices", n_vertices, 0)
    _check_room(n_vertices, _dtype(n_vertices), library)
    with _all_at_once("path", progress, max(n_vertices - 1, 0)):
        vertex = _arrays(library).arange(n_vertices, dtype=_dtype(n_vertices))
        return _frame(library, vertex[:-1].copy(), vertex[1:].copy())


def star(n_vertices: int, *, library: str = "pandas", progress: ProgressOption = False) -> Frame:
    """Make a star: vertex 0 joined to each of the n_vertices - 1 others.

    Examples
    --------
    >>> from rapids_trav import generators
    >>> generators.star(1000).trav.graph().diameter()
    2
    """
    n_vertices = _whole("n_vertices", n_vertices, 0)
    _check_room(n_vertices, _dtype(n_vertices), library)
    xp = _arrays(library)
    with _all_at_once("star", progress, max(n_vertices - 1, 0)):
        leaf = xp.arange(1, n_vertices, dtype=_dtype(n_vertices))
        return _frame(library, xp.zeros_like(leaf), leaf)


@contextmanager
def _all_at_once(task: str, progress: ProgressOption, n_edges: int) -> Iterator[None]:
    """Show or tell before and after the block that none and all of the edges are made."""
    with shown(task, progress):
        report(0, n_edges, "rows")
        yield
        report(n_edges, n_edges, "rows")


def _mix(counter: np.ndarray) -> np.ndarray:
    """Apply SplitMix64's finaliser: one-to-one on 64-bit words, so different counters never collide."""
    x = counter * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _dtype(n_vertices: int) -> np.dtype:
    return np.dtype(np.int32 if n_vertices < 2**31 else np.int64)


def _whole(what: str, value: object, first: int, last: int = MOST) -> int:
    """Return an integer from `first` to `last`; refuse booleans and floats."""
    number = integer(value)
    if number is None or not first <= number <= last:
        raise TravError(f"{what}={written(value)} is not accepted: give an integer from {first} to {last}.")
    return number


def _check_room(n_edges: int, dtype: np.dtype, library: str, other: str = "") -> None:
    """Refuse edges that do not fit in the free host memory; on a GPU the allocator checks."""
    one_of("library", library, LIBRARIES)
    needed = 2 * n_edges * dtype.itemsize
    if library == "pandas" and needed > (free := available_bytes()):
        raise TravMemoryError(
            f"{n_edges:,} edges take {readable(needed)}, but {readable(free)} of memory are free: "
            f"make a smaller graph{other}."
        )


def _arrays(library: str) -> ModuleType:
    if library == "cudf":
        import_cudf()
        import cupy

        return cupy
    return np


def _frame(library: str, src: Array, dst: Array) -> Frame:
    if library == "cudf":
        import cudf

        return cudf.DataFrame({"src": src, "dst": dst})
    return proxies.proxied(pd.DataFrame({"src": src, "dst": dst}))
