"""The benchmark's own work on a GPU: the functions of `cpu`, with the kernels of `kernels/graph500.cu`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime.loader import Kernels, defines_of, load
from rapids_trav.engines.cuda.runtime.modules import Defines

if TYPE_CHECKING:
    import cupy


Result = TypeVar("Result")

LIBRARY = "cudf"
WARM_UP: int | None = 1  # roots searched untimed: one compiles the kernels of all searches
FILE = "graph500.cu"
SPECIALISATIONS: tuple[tuple[str, Defines], ...] = tuple(
    (FILE, defines_of(FILE, vertex_bits, 32)) for vertex_bits in (32, 64)
)
# Must agree with `Fault` in the kernels.
FAULTS = ("rule 1", "rule 2", "rule 3", "rule 4", "rule 5", "levels", "strange", "moved")
MOVED = FAULTS.index("moved")


@contextmanager
def memory(devices: Sequence[int] = ()) -> Iterator[None]:
    """Make CuPy and cuDF allocate from a memory pool through RMM: one already set up, else CUDA's own.

    Without a pool, each search would pay for `cudaMalloc`.
    """
    import cudf  # noqa: F401  (sets CuPy's allocator when imported, which is refused further down)
    import cupy
    import rmm

    from rapids_trav.engines.cuda.runtime.memory import rapids_allocator

    here = cupy.cuda.runtime.getDevice()
    before = {device: rmm.mr.get_per_device_resource(device) for device in {here, *devices}}
    for device, resource in before.items():
        if type(resource) is rmm.mr.CudaMemoryResource:
            with cupy.cuda.Device(device):
                rmm.mr.set_per_device_resource(device, rmm.mr.CudaAsyncMemoryResource())
    try:
        with rapids_allocator():
            yield
    finally:
        for device, resource in before.items():
            rmm.mr.set_per_device_resource(device, resource)


def device_name(devices: Sequence[int] = ()) -> str:
    import cupy

    runtime = cupy.cuda.runtime
    name = runtime.getDeviceProperties(runtime.getDevice())["name"].decode()
    return f"{len(devices)} x {name}" if devices else name


def timed(work: Callable[[], Result]) -> tuple[Result, float, float | None]:
    """Return the result of `work()`, the wall-clock seconds it took, and the seconds between two CUDA events.

    The device is idle before and after.
    """
    import cupy

    stream = cupy.cuda.get_current_stream()
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    begin.record(stream)
    result = work()
    end.record(stream)
    cupy.cuda.Device().synchronize()
    seconds = time.perf_counter() - start
    return result, seconds, cupy.cuda.get_elapsed_time(begin, end) / 1e3


def contiguous(array: Array, dtype: np.dtype) -> Array:
    import cupy

    return cupy.ascontiguousarray(array, dtype)


def has_neighbor(src: Array, dst: Array, n: int) -> np.ndarray:
    import cupy

    found = cupy.zeros(n, np.bool_)
    _kernels(src).launch("has_neighbor", len(src), src, dst, len(src), found)
    return found.get()


def to_labels(labels: Array, predecessor: Array, root: int, n: int) -> Array:
    import cupy

    parent = cupy.full(n, -1, labels.dtype)
    _kernels(labels).launch("to_labels", len(labels), labels, predecessor, len(labels), parent)
    parent[root] = root
    return parent


def component_edges(parent: Array, src: Array) -> int:
    import cupy

    total = cupy.zeros(1, np.uint64)
    _kernels(src).launch("component_edges", len(src), parent, src, len(src), total)
    return int(total[0])


def count_faults(
    parent: Array, root: int, edges: Iterable[tuple[Array, Array]], level: Array | None
) -> list[int]:
    import cupy

    kernels, n = _kernels(parent), len(parent)
    faults = cupy.zeros(len(FAULTS), np.uint64)
    ancestors, nodes = _settled(kernels, parent, root, faults)
    kernels.launch("settle", n, parent, n, root, ancestors, level, nodes, faults)
    del ancestors
    joined = cupy.zeros(n, np.bool_)
    for src, dst in edges:
        kernels.launch("check_edges", len(src), src, dst, len(src), nodes, n, joined, faults)
    kernels.launch("count_unjoined", n, nodes, n, root, joined, faults)
    return faults[:MOVED].tolist()


def _settled(kernels: Kernels, parent: Array, root: int, faults: cupy.ndarray) -> tuple[Array, Array]:
    """Double pointers until they settle; return the ancestors and a spare array of that shape."""
    import cupy

    n = len(parent)
    ancestors, following = (cupy.empty((n, 2), parent.dtype) for _ in range(2))
    kernels.launch("first_ancestors", n, parent, n, root, ancestors)
    while True:
        faults[MOVED] = 0
        kernels.launch("jump", n, ancestors, n, root, following, faults)
        if not int(faults[MOVED]):
            return ancestors, following
        ancestors, following = following, ancestors


def _kernels(vertices: Array) -> Kernels:
    return load(FILE, vertex_bits=8 * vertices.dtype.itemsize)
