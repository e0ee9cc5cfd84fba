"""LAGraph over SuiteSparse:GraphBLAS, in this process, from a given folder that has `liblagraph.so`.

It is linked with the GraphBLAS for which it was built.  A GraphBLAS matrix has each edge once: of
multi-edges the one with the least weight is kept.  The number of threads is OpenMP's default.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cpu.answers import ALPHA, MAX_ITER, TOL, same_parts, same_ranks, same_reached
from benchmarks.cpu.contest import Contestant
from benchmarks.cpu.inputs import Data

CSR_FORMAT, UNDIRECTED, DIRECTED, MESSAGE = 0, 0, 1, 256
NOTHING = -1  # value for a vertex without an entry in a vector


class LAGraph:
    name = "lagraph"

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._library: ctypes.CDLL | None = None

    def absent(self) -> str | None:
        """Load the library; return why it cannot run, or None."""
        if self.folder is None:
            return "not asked for: --lagraph FOLDER names the one with liblagraph.so"
        try:
            self._library = ctypes.CDLL(str(self.folder / "liblagraph.so"), mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            return f"not loaded, {error}"
        self._call("LAGraph_Init")
        return None

    @property
    def versions(self) -> dict[str, str]:
        numbers, date = (ctypes.c_int * 3)(), ctypes.create_string_buffer(MESSAGE)
        self._call("LAGraph_Version", numbers, date)
        return {"lagraph": ".".join(map(str, numbers))}

    def bfs(self, data: Data) -> Iterator[Contestant]:
        graph, vector = self.graph(data), ctypes.c_void_p

        def run(root: int, with_level: bool = False) -> Vectors:
            level, parent = vector(), vector()
            wanted = ctypes.byref(level) if with_level else None
            self._call("LAGr_BreadthFirstSearch", wanted, ctypes.byref(parent), graph, ctypes.c_uint64(root))
            return Vectors(self, parent, level)

        yield Contestant(
            "lagraph bfs, parents", run, lambda found: found.integers(data.n) >= 0, same=same_reached
        )
        yield Contestant(
            "lagraph bfs, parents and levels",
            lambda root: run(root, True),
            lambda found: found.integers(data.n, 1),
        )

    def sssp(self, data: Data, root: int) -> Iterator[Contestant]:
        graph = self.graph(data)
        whole = data.weight is not None and data.weight.dtype.kind == "i"
        of_type, suffix = (ctypes.c_int32, "INT32") if whole else (ctypes.c_double, "FP64")

        def run(root: int, delta: float) -> Vectors:
            scalar, lengths = ctypes.c_void_p(), ctypes.c_void_p()
            self._call("GrB_Scalar_new", ctypes.byref(scalar), self._type(suffix), plain=True)
            self._call(f"GrB_Scalar_setElement_{suffix}", scalar, of_type(delta), plain=True)
            self._call(
                "LAGr_SingleSourceShortestPath", ctypes.byref(lengths), graph, ctypes.c_uint64(root), scalar
            )
            self._call("GrB_Scalar_free", ctypes.byref(scalar), plain=True)
            return Vectors(self, lengths)

        delta = 64 if whole else 0.25
        yield Contestant(
            f"lagraph sssp, delta {delta:g}",
            lambda root: run(root, delta),
            lambda found: found.lengths(data.n, whole),
        )

    def components(self, data: Data) -> Iterator[Contestant]:
        graph = self.graph(data)

        def run(_: Any) -> Vectors:
            found = ctypes.c_void_p()
            self._call("LAGr_ConnectedComponents", ctypes.byref(found), graph)
            return Vectors(self, found)

        yield Contestant("lagraph components", run, lambda found: found.integers(data.n), same=same_parts)

    def pagerank(self, data: Data) -> Iterator[Contestant]:
        graph = self.graph(data)

        def run(_: Any) -> Vectors:
            found, iterations = ctypes.c_void_p(), ctypes.c_int()
            self._call(
                "LAGr_PageRank", ctypes.byref(found), ctypes.byref(iterations), graph,
                ctypes.c_float(ALPHA), ctypes.c_float(TOL), ctypes.c_int(MAX_ITER),
            )  # fmt: skip
            return Vectors(self, found)

        yield Contestant(
            "lagraph pagerank, float32", run, lambda found: found.floats(data.n), same=same_ranks
        )

    def graph(self, data: Data) -> ctypes.c_void_p:
        """Return the graph, which is freed with the data."""

        def make() -> ctypes.c_void_p:
            graph = self._graph(data)
            weakref.finalize(data, self._call, "LAGraph_Delete", ctypes.byref(graph))
            return graph

        found: ctypes.c_void_p = data.converted("lagraph", make)
        return found

    def _graph(self, data: Data) -> ctypes.c_void_p:
        offsets, columns, weights = _once(data)
        whole = weights is not None and weights.dtype.kind == "i"
        values, suffix = (
            (np.ones(len(columns), np.bool_), "BOOL") if weights is None
            else (weights.astype(np.int32), "INT32") if whole
            else (weights.astype(np.float64), "FP64")
        )  # fmt: skip
        arrays = offsets.astype(np.uint64), columns.astype(np.uint64), np.ascontiguousarray(values)
        matrix, graph = ctypes.c_void_p(), ctypes.c_void_p()
        size = ctypes.c_uint64(data.n)
        self._call(
            f"GrB_Matrix_import_{suffix}", ctypes.byref(matrix), self._type(suffix), size, size,
            *(array.ctypes.data_as(ctypes.c_void_p) for array in arrays),
            *(ctypes.c_uint64(len(array)) for array in arrays), CSR_FORMAT, plain=True,
        )  # fmt: skip
        kind = DIRECTED if data.directed else UNDIRECTED
        self._call("LAGraph_New", ctypes.byref(graph), ctypes.byref(matrix), kind)
        for cached in ("AT", "OutDegree"):
            self._call(f"LAGraph_Cached_{cached}", graph, allowed=1000)  # a warning: not needed
        if weights is not None:
            self._call("LAGraph_Cached_EMin", graph, allowed=1000)
        return graph

    def _type(self, suffix: str) -> ctypes.c_void_p:
        return ctypes.c_void_p.in_dll(self._loaded, f"GrB_{suffix}")

    @property
    def _loaded(self) -> ctypes.CDLL:
        if self._library is None:
            raise RuntimeError("LAGraph is not loaded")
        return self._library

    def _call(self, name: str, *arguments: Any, plain: bool = False, allowed: int = 0) -> None:
        """Call a function, with a last argument for its message unless it is GraphBLAS's (`plain`)."""
        message = ctypes.create_string_buffer(MESSAGE)
        function: Callable[..., int] = getattr(self._loaded, name)
        code = function(*arguments, *([] if plain else [message]))
        if not 0 <= code <= max(allowed, 1005 if plain else 0):
            raise RuntimeError(f"{name} returns {code}: {message.value.decode(errors='replace')}")


class Vectors:
    """Vectors that LAGraph has created; they are freed with this object."""

    def __init__(self, library: LAGraph, *vectors: ctypes.c_void_p) -> None:
        self._library, self._vectors = library, vectors

    def integers(self, n: int, which: int = 0) -> np.ndarray:
        return self._values(n, which, "INT64", np.int64, NOTHING)

    def floats(self, n: int, which: int = 0) -> np.ndarray:
        return self._values(n, which, "FP64", np.float64, np.inf)

    def lengths(self, n: int, whole: bool) -> np.ndarray:
        """Return distances; an entry with the largest number of its type means unreached."""
        found = self.floats(n)
        return np.where(
            found >= (np.iinfo(np.int32).max if whole else np.finfo(np.float64).max), np.inf, found
        )

    def _values(self, n: int, which: int, suffix: str, dtype: Any, missing: float) -> np.ndarray:
        places, values, count = np.empty(n, np.uint64), np.empty(n, dtype), ctypes.c_uint64(n)
        self._library._call(
            f"GrB_Vector_extractTuples_{suffix}",
            *(array.ctypes.data_as(ctypes.c_void_p) for array in (places, values)),
            ctypes.byref(count), self._vectors[which], plain=True,
        )  # fmt: skip
        whole = np.full(n, missing, dtype)
        whole[places[: count.value]] = values[: count.value]
        return whole

    def __del__(self) -> None:
        for vector in self._vectors:
            if vector.value:
                self._library._call("GrB_Vector_free", ctypes.byref(vector), plain=True)


def _once(data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the adjacency with each edge once; of repeated edges the one with the least weight."""
    offsets, columns, weights = data.matrix
    rows = np.repeat(np.arange(data.n, dtype=columns.dtype), np.diff(offsets))
    key = rows.astype(np.int64) * data.n + columns
    order = np.argsort(key, kind="stable") if weights is None else np.lexsort((weights, key))
    kept = order[np.concatenate([[True], key[order][1:] != key[order][:-1]])]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=data.n))])
    return starts, columns[kept], None if weights is None else weights[kept]
