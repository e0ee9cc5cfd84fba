"""Loading of kernels: from `kernels/*.cu` to functions that can be launched.

Types and tunables precede the text of a file as `#define` lines.

Nothing here imports CuPy until a kernel is loaded, so the sources can be compiled and tested without a GPU.

Launches of kernels that take one struct, by the driver's own call.

CuPy converts the arguments of each launch, which takes the host several microseconds, while a whole search
of a small graph takes the GPU some forty.  The driver takes the address of the struct (CUDA Driver API,
`cuLaunchKernel`).
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.blocks.cut import MOST_BLOCKS
from rapids_trav.engines.cuda.runtime.arguments import by_value
from rapids_trav.engines.cuda.runtime.modules import Defines, Modules, compile_text, kept, source
from rapids_trav.jit.launches import launched

# The default stream; 0 can also mean the thread's own, by a setting of cuda.bindings.
_LEGACY_STREAM = 1


@functools.cache
def _modules() -> tuple[ModuleType, ModuleType] | None:
    """Return `cuda.bindings.driver`, which cuDF needs, and `cupy`; None without the former."""
    try:
        from cuda.bindings import driver
    except ImportError:
        return None
    import cupy

    return driver, cupy


def launch_with_driver(
    function: int,
    grid: tuple[int, ...],
    block: int,
    arguments: ctypes.Structure,
    shared_bytes: int,
    cooperative: bool,
) -> bool:
    """Launch `function`, a kernel's pointer, on CuPy's current stream; return False if CuPy has to launch it.

    It has to without cuda.bindings, and after an error: CuPy sets the context of a thread that has none, and
    raises its own exception for any other error.
    """
    modules = _modules()
    if modules is None:
        return False
    driver, cupy = modules
    parameter = ctypes.c_void_p(ctypes.addressof(arguments))
    shape = (*(*grid, 1, 1)[:3], block, 1, 1)
    stream = cupy.cuda.get_current_stream().ptr or _LEGACY_STREAM
    given = (function, *shape, shared_bytes, stream, ctypes.addressof(parameter))
    (error,) = driver.cuLaunchCooperativeKernel(*given) if cooperative else driver.cuLaunchKernel(*given, 0)
    return bool(error == 0)


BLOCK = 256
_BLOCKS_PER_MULTIPROCESSOR = 64

# Tunables of each file that the host code also uses; the fused kernel's are in fused.py.
TUNABLES: dict[str, dict[str, int]] = {
    "bfs_push.cu": {},
    "bfs_pull.cu": {},
    "bfs_edge.cu": {},
    "bfs_frontier.cu": {"PRIVATE_CAPACITY": 2048, "COUNTS": 0},
    "bfs_direction.cu": {"BLOCK_SIZE": BLOCK, "HEAVY_DEGREE": 8192, "BITMAPS": 1},
    "bfs_batch.cu": {"HEAVY_DEGREE": 256},
    "components.cu": {"BLOCK_SIZE": BLOCK, "HEAVY_DEGREE": 1024},
    "distance_sums.cu": {"MOST_WORDS": 4},
    "packed.cu": {},
    "pages.cu": {},
    "answer.cu": {"LABEL_BITS": 64},
    "build.cu": {},
    "dealt.cu": {},
    "external.cu": {},
    "framed.cu": {},
    "level_counts.cu": {"BINS": 1024},
    "lookup.cu": {},
    "ordered_tree.cu": {"BLOCK_SIZE": BLOCK},
    "path_rows.cu": {"LABEL_BITS": 64},
    "reached.cu": {"LABEL_BITS": 64, "BLOCK_SIZE": BLOCK},
    "rmat.cu": {},
    "rows_inside.cu": {},
    "path_shares.cu": {},
    "path_shares_batch.cu": {"HEAVY_DEGREE": 2048},
    "shortest_tree.cu": {"WEIGHT": 3},
    "sorted_paths.cu": {
        "WEIGHT": 3,
        "BLOCK_SIZE": 512,
        "RESIDENT_BLOCKS": 2,
        "CHUNK": 256,
        "LONG_ROW": 4096,
    },
    "text_lookup.cu": {"OFFSET_BITS": 32},
    "tree.cu": {},
}
# Tunables of the files that a vertex program is linked with (link.py).
PROGRAM_TUNABLES: dict[str, dict[str, int]] = {
    "gas_rows.cu": {"BLOCK_SIZE": BLOCK, "GATHER_BLOCK": 512, "GATHER_RESIDENT": 2, "PIECE_EDGES": 2048},
    "gas_shards.cu": {"BLOCK_SIZE": 512, "RESIDENT_BLOCKS": 2, "COUNTS": 0},
    "gas_state.cu": {"HEAVY_DEGREE": 1024},
    "gas_push.cu": {"BLOCK_SIZE": BLOCK, "HEAVY_DEGREE": 1024},
    "gas_blocks.cu": {
        "BLOCK_SIZE": 512,
        "RESIDENT_BLOCKS": 2,
        "CHUNK": 1024,
        "MOST_BLOCKS": MOST_BLOCKS,
        "PRICE": 32,
        "FRAMED": 0,
        "ROUND_EDGES": 8192,
        "FEW": 512,
        "CLOCKS": 0,
    },
    "gas_lent.cu": {"MOST_BLOCKS": MOST_BLOCKS},
}


def defines_of(file: str, vertex_bits: int, edge_bits: int, **tunables: int) -> Defines:
    """Return the defines of a file's preamble: the types, then its tunables, any of which may be set."""
    types = {"VERTEX_BITS": vertex_bits, "EDGE_BITS": edge_bits}
    own = TUNABLES.get(file) or PROGRAM_TUNABLES.get(file, {})
    return tuple(sorted((types | own | tunables).items()))


_BITS = (32, 64)
# Every (file, defines) that the engine loads by itself; fused.py lists those of the fused kernel.
SPECIALISATIONS: tuple[tuple[str, Defines], ...] = tuple(
    (file, defines_of(file, vertex_bits, edge_bits, **tunables))
    for file, tunables, vertices, offsets in (
        *((file, {}, _BITS, _BITS) for file in TUNABLES),
        ("bfs_frontier.cu", {"COUNTS": 1}, _BITS, _BITS),
        ("bfs_direction.cu", {"BITMAPS": 0}, _BITS, _BITS),
        *((file, {"LABEL_BITS": 32}, _BITS, (32,)) for file in ("answer.cu", "path_rows.cu", "reached.cu")),
        ("text_lookup.cu", {"OFFSET_BITS": 64}, _BITS, (32,)),
        *(("shortest_tree.cu", {"WEIGHT": weight}, _BITS, _BITS) for weight in (1, 2, 4)),
        *(("sorted_paths.cu", {"WEIGHT": weight}, (32,), _BITS) for weight in (1, 2, 4)),
        ("tree.cu", {"UNSIGNED_OFFSETS": 1}, (32,), (32,)),
    )
    for vertex_bits, edge_bits in product(vertices, offsets)
)


class Kernels:
    """The kernels of one file for one choice of types and tunables.

    Launches are on CuPy's current stream.  A Python int is passed as an `i64` parameter and None as a null
    pointer; levels are `i32` and are passed as `numpy.int32`.  A struct of `arguments.py` is passed by value;
    where it is the only argument, `launch_with_driver` launches the kernel, if it can.
    """

    def __init__(self, module: Any) -> None:
        self._module = module

    def function(self, name: str) -> Any:
        """Return an entry point on the current device, in the form that `run` calls."""
        return self._module.get_function(name)

    def launch(self, name: str, n_threads: int, *arguments: object) -> None:
        """Launch a grid-stride kernel over `n_threads` items; do nothing if there are none."""
        if n_threads > 0:
            self.launch_grid(name, grid_of(n_threads), *arguments)

    def launch_grid(
        self,
        name: str,
        grid: tuple[int, ...],
        *arguments: object,
        block: int = BLOCK,
        shared_bytes: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Launch a kernel with the given grid, if `cooperative` such that all its blocks run at once."""
        if len(arguments) == 1 and isinstance(arguments[0], ctypes.Structure):
            function = self.function(name).ptr
            if launch_with_driver(function, grid, block, arguments[0], shared_bytes, cooperative):
                launched(name)
                return
        self.run(name, grid, block, tuple(map(_parameter, arguments)), shared_bytes, cooperative)

    def prepared(
        self,
        name: str,
        grid: tuple[int, ...],
        *arguments: object,
        block: int = BLOCK,
        shared_bytes: int = 0,
    ) -> Callable[[], None]:
        """Return a function that launches a kernel with arguments that are converted once.

        A struct is passed with the values that it has at the time of each launch.
        """
        parameters = tuple(map(_parameter, arguments))
        return functools.partial(self.run, name, grid, block, parameters, shared_bytes)

    def run(
        self,
        name: str,
        grid: tuple[int, ...],
        block: int,
        parameters: tuple,
        shared_bytes: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Launch a kernel with parameters in CuPy's form, and count the launch."""
        launched(name)
        how = {"enable_cooperative_groups": True} if cooperative else {}
        self.function(name)(grid, (block,), parameters, shared_mem=shared_bytes, **how)


@functools.cache
def load(file: str, vertex_bits: int = 32, edge_bits: int = 32, **tunables: int) -> Kernels:
    """Return the kernels of `file`, compiled when one is first launched on a device."""
    text = source(file, defines_of(file, vertex_bits, edge_bits, **tunables))
    return Kernels(Modules(lambda architecture: _compiled(text, file, architecture)))


def _compiled(text: str, file: str, architecture: int) -> bytes:
    return kept((text, str(architecture)), lambda: compile_text(text, file, architecture))


def load_for(file: str, adjacency: Adjacency, **tunables: int) -> Kernels:
    """Return the kernels of `file` for the types of an adjacency."""
    return load_types(file, adjacency.column_indices.dtype, adjacency.row_offsets.dtype, **tunables)


def load_types(file: str, vertex: np.dtype, offset: np.dtype, **tunables: int) -> Kernels:
    """Return the kernels of `file` for vertices and row offsets of these types."""
    if offset.kind == "u":
        tunables["UNSIGNED_OFFSETS"] = 1
    return load(file, 8 * vertex.itemsize, 8 * offset.itemsize, **tunables)


def most_blocks() -> int:
    """Return a number of blocks that keeps the current device busy and evens out irregular work."""
    import cupy

    return multiprocessors(cupy.cuda.runtime.getDevice()) * _BLOCKS_PER_MULTIPROCESSOR


def grid_of(n_threads: int) -> tuple[int]:
    """Return the grid of a grid-stride kernel over `n_threads` items, at least one."""
    return (min(-(-n_threads // BLOCK), most_blocks()),)


def column_blocks(n_rows: int) -> tuple[int, int]:
    """Return a grid with a column of blocks for each of `n_rows` heavy rows, taller if there are fewer."""
    blocks = most_blocks()
    return min(n_rows, blocks), max(1, min(blocks // n_rows, 1024))


def multiprocessors(device: int) -> int:
    return attribute(device, "MultiProcessorCount")


@functools.cache
def attribute(device: int, name: str) -> int:
    """Return an attribute of a device from the runtime, by the name of a `cudaDevAttr`."""
    from cupy.cuda import runtime

    return runtime.deviceGetAttribute(getattr(runtime, f"cudaDevAttr{name}"), device)


def shared_bytes(kernels: Kernels, name: str, n_blocks: int) -> int:
    """Return the bytes a block may use, besides those declared, if `n_blocks` share a multiprocessor.

    The kernel is opted in to more than the 48 KB that every kernel may have.
    """
    import cupy

    device, driver = cupy.cuda.runtime.getDevice(), cupy.cuda.driver
    most, multiprocessor, reserved = (
        attribute(device, name)
        for name in (
            "MaxSharedMemoryPerBlockOptin",
            "MaxSharedMemoryPerMultiprocessor",
            "ReservedSharedMemoryPerBlock",
        )
    )
    function = kernels.function(name).ptr
    own = driver.funcGetAttribute(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
    driver.funcSetAttribute(function, driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most - own)
    return block_bytes(n_blocks, most, multiprocessor, reserved) - own


def block_bytes(n_blocks: int, most: int, multiprocessor: int | None = None, reserved: int = 0) -> int:
    """Return the shared memory of a block, if `n_blocks` are resident on a multiprocessor.

    On an H100 one block may have `most` 227 KB, by opting in, a `multiprocessor` has 228 KB (left out: as
    much as `most`), of which 1 KB is `reserved` by the system for each block.
    """
    whole = most if multiprocessor is None else multiprocessor
    return min(most, whole // n_blocks - reserved)


def _parameter(argument: object) -> object:
    if argument is None:
        return np.uint64(0)
    if isinstance(argument, int):
        return np.int64(argument)
    if isinstance(argument, ctypes.Structure):
        return by_value(argument)
    return argument
