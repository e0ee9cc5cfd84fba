"""Kernels that run on the CPU."""

from __future__ import annotations

import ctypes
import functools
import math
import shutil
import struct
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from cupy._arrays import ndarray
from cupy._compiler import SOURCES, compiled, compiled_kernels
from cupy._counting import count
from cupy._devices import RANGES, current_device
from cupy._errors import CUDARuntimeError
from cupy._queues import OPENED, RANDOM, Joint
from cupy._streams import Stream, get_current_stream
from cupy._translation import translated
from cupy.cuda import device_limits

_MOST_ARGUMENTS = 64
_LEAST_ADDRESS = 1 << 32  # of an allocation on the heap
_KERNELS: weakref.WeakValueDictionary[int, Kernel] = weakref.WeakValueDictionary()


def kernel_of(ptr: int) -> Kernel:
    """Return the kernel with a pointer."""
    return _KERNELS[ptr]


@functools.cache
def _threads() -> ctypes.CDLL:
    """Return the library that runs blocks of threads; the kernels find it by its symbols."""
    text = "\n".join(path.read_text() for path in sorted(SOURCES.glob("*.cpp")))
    library = ctypes.CDLL(str(compiled(text, "-O3", "-fno-semantic-interposition")), mode=ctypes.RTLD_GLOBAL)
    library.emulated_error.restype = ctypes.c_char_p
    return library


class Library:
    """The kernels of a text.

    Parameters
    ----------
    functions : dict, optional
        Addresses of the functions of a vertex program.  The library is loaded from a copy of its file then,
        so that every program has its own.
    """

    def __init__(self, code: str, cooperative: bool = False, functions: dict[str, int] | None = None) -> None:
        self.cooperative = cooperative
        self.joint = "#define RANKED 1\n" in code
        _threads()
        path = compiled_kernels(translated(code, functions is not None))
        if functions is None:
            self.loaded = ctypes.CDLL(str(path))
            return
        with tempfile.TemporaryDirectory() as folder:
            self.loaded = ctypes.CDLL(shutil.copy(path, Path(folder)))
        for name, address in functions.items():
            ctypes.c_void_p.in_dll(self.loaded, f"emulated_{name}").value = address

    def kernel(self, name: str) -> Kernel:
        if not hasattr(self.loaded, f"emulated_call_{name}"):
            raise CUDARuntimeError(f"there is no kernel {name}")
        return Kernel(self, name)


class RawModule:
    """The kernels of a text, compiled when the first of them is asked for."""

    def __init__(
        self,
        *,
        code: str,
        backend: str = "nvrtc",
        options: tuple = (),
        enable_cooperative_groups: bool = False,
    ) -> None:
        self._make = functools.cache(lambda: Library(code, enable_cooperative_groups))

    def get_function(self, name: str) -> Kernel:
        return self._make().kernel(name)


class Kernel:
    """A kernel: call it with a grid, a block and its arguments."""

    def __init__(self, library: Library, name: str) -> None:
        self.name, self.ptr = name, id(self)
        self.max_dynamic_shared_size_bytes = device_limits.SHARED_BYTES
        self._cooperative, self._joint = library.cooperative, library.joint
        self._call = getattr(library.loaded, f"emulated_call_{name}")
        sizes = (ctypes.c_int * _MOST_ARGUMENTS)()
        n = getattr(library.loaded, f"emulated_sizes_{name}")(sizes)
        self._sizes = list(sizes[:n])
        _KERNELS[self.ptr] = self

    def __call__(
        self,
        grid: tuple,
        block: tuple,
        arguments: tuple,
        *,
        shared_mem: int = 0,
        stream: Stream | None = None,
        enable_cooperative_groups: bool = False,
    ) -> None:
        """Launch the kernel on a stream."""
        raw = [_raw(argument) for argument in arguments]
        cooperative = enable_cooperative_groups or self._cooperative
        self.launch(grid, block, raw, shared_mem, stream or get_current_stream(), cooperative)

    def launch(
        self, grid: tuple, block: tuple, raw: list[bytes], shared_mem: int, stream: Stream, cooperative: bool
    ) -> None:
        """Launch the kernel with the bytes of its arguments."""
        count("launches")
        if [len(one) for one in raw] != self._sizes:
            raise CUDARuntimeError(
                f"{self.name} takes arguments of {self._sizes} bytes, not of {[len(one) for one in raw]}"
            )
        self._check_shape(grid, block, shared_mem, cooperative)
        self._check_addresses(raw)
        launch = Launch(self.name, self._call, grid, block, raw, shared_mem, cooperative)
        stream.enqueue(JointLaunch(launch, raw[0]) if self._joint else launch)

    def read(self, parameters: int) -> list[bytes]:
        """Return the bytes of the arguments, given the address of their addresses."""
        addresses = (ctypes.c_void_p * len(self._sizes)).from_address(parameters)
        return [ctypes.string_at(*pair) for pair in zip(addresses, self._sizes, strict=True)]

    def _check_addresses(self, raw: list[bytes]) -> None:
        """Refuse arguments that are, or hold, addresses of memory of other devices."""
        for one in raw:
            for (word,) in struct.iter_unpack("<Q", one[: len(one) // 8 * 8]):
                device = RANGES.device_of(word) if word >= _LEAST_ADDRESS else None
                if device not in (None, current_device()):
                    raise CUDARuntimeError(
                        f"{self.name} on device {current_device()} takes memory of device {device}"
                    )

    def _check_shape(self, grid: tuple, block: tuple, shared_bytes: int, cooperative: bool) -> None:
        n_blocks, n_threads = math.prod(grid), math.prod(block)
        if not (n_blocks > 0 and 0 < n_threads <= device_limits.THREADS_OF_BLOCK):
            raise CUDARuntimeError(f"{self.name} cannot run in a grid of {grid} blocks of {block} threads")
        if shared_bytes > self.max_dynamic_shared_size_bytes:
            raise CUDARuntimeError(f"{self.name} has not opted in to {shared_bytes} bytes of shared memory")
        most = device_limits.MULTIPROCESSORS * device_limits.THREADS_OF_MULTIPROCESSOR
        if cooperative and n_blocks * n_threads > most:
            raise CUDARuntimeError(f"{n_blocks} blocks of {self.name} do not fit on the device at a time")


class _Call(ctypes.Structure):
    """`Call` of threads.hpp."""

    _fields_ = (
        ("kernel", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_size_t),
        ("arguments", ctypes.c_void_p),
        ("seed", ctypes.c_uint),
    )


class Launch:
    """A launch of a kernel; call it to run the kernel."""

    def __init__(
        self, name: str, call: Any, grid: tuple, block: tuple, raw: list[bytes], shared: int, together: bool
    ) -> None:
        self.name, self._call, self._grid, self._block = name, call, grid, block
        self._shared, self._cooperative = shared, together
        self._places = [ctypes.create_string_buffer(one, len(one)) for one in raw]
        self._pointers = (ctypes.c_void_p * _MOST_ARGUMENTS)(*map(ctypes.addressof, self._places))

    def __call__(self, *others: Launch) -> None:
        """Run the kernel, and those of other launches at the same time."""
        launches = (self, *others)
        calls = (_Call * len(launches))(*(launch.call() for launch in launches))
        threads = _threads()
        if threads.emulated_launch(calls, len(launches), int(self._cooperative), int(bool(OPENED))):
            raise CUDARuntimeError(f"{self.name} failed: {threads.emulated_error().decode()}")

    def call(self) -> _Call:
        shape = [(ctypes.c_uint * 3)(*sizes, *[1] * (3 - len(sizes))) for sizes in (self._grid, self._block)]
        kernel, pointers = (ctypes.cast(one, ctypes.c_void_p) for one in (self._call, self._pointers))
        return _Call(kernel, *shape, self._shared, pointers, RANDOM.getrandbits(31))


class JointLaunch(Joint):
    """A launch whose kernel waits for the kernels of others."""

    def __init__(self, launch: Launch, raw: bytes) -> None:
        super().__init__(_n_ranks(raw))
        self.launch = launch

    def run_with(self, others: list[Joint]) -> None:
        self.launch(*(other.launch for other in others))


def _n_ranks(arguments: bytes) -> int:
    """Return the number of ranks that the arguments of a kernel with ranks tell."""
    from rapids_trav.engines.multigpu.one_launch.layout import RANKED_ARGUMENTS

    kinds = {ctypes.sizeof(kind): kind for kind in RANKED_ARGUMENTS.values()}
    return kinds[len(arguments)].from_buffer_copy(arguments).n_ranks


def _raw(argument: Any) -> bytes:
    """Return the bytes of an argument, by the types that CuPy gives to Python's numbers."""
    if isinstance(argument, ndarray):
        return argument.data.ptr.to_bytes(8, "little")
    if isinstance(argument, bool):
        return bytes([argument])
    if isinstance(argument, int):
        return argument.to_bytes(8, "little", signed=True)
    if isinstance(argument, float):
        return np.float64(argument).tobytes()
    if isinstance(argument, (np.generic, np.ndarray)):
        return argument.tobytes()
    raise TypeError(f"an argument of type {type(argument).__name__}")
