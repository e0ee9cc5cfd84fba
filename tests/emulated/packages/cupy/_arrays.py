"""Arrays of the device: those of NumPy, but strictly apart from those of the host."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cupy._allocations import Memory, MemoryPointer, UnownedMemory
from cupy._counting import count
from cupy._devices import current_device
from cupy._streams import Stream, get_current_stream


def drain() -> None:
    """Run the work of the current stream, before the host reads or writes an array."""
    get_current_stream().drain()


def host(value: Any) -> Any:
    """Return the NumPy array behind an array of the device; refuse arrays of the host."""
    if isinstance(value, ndarray):
        value.check_device()
        return value._host
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, (list, tuple)):
        return type(value)(host(one) for one in value)
    return value


def wrap(value: Any, arguments: tuple = ()) -> Any:
    """Return a result of NumPy as one of the device: a view of an argument, or an array of its own."""
    if isinstance(value, (tuple, list)):
        return type(value)(wrap(one, arguments) for one in value)
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    found = np.asarray(value)
    for argument in arguments:
        if isinstance(argument, ndarray) and np.may_share_memory(found, argument._host):
            return ndarray._view(found, argument._memory)
    made = ndarray(found.shape, found.dtype)
    made._host[...] = found
    return made


VIEWS = ("atleast_2d", "broadcast_to", "ravel", "reshape", "transpose")
WAITING = ("argsort", "bincount", "flatnonzero", "nonzero", "sort", "unique")  # for a size, or for Thrust


def on_device(function: Callable) -> Callable:
    """Return a function of NumPy for arrays of the device."""
    is_view, is_waiting = function.__name__ in VIEWS, function.__name__ in WAITING

    def apply(*arguments: Any, out: ndarray | None = None, **options: Any) -> Any:
        plain = [host(argument) for argument in arguments]
        if not is_view:
            count("operations")
        if is_waiting:
            count("waits")
        drain()
        found = function(*plain, **{name: host(option) for name, option in options.items()})
        if out is None:
            return wrap(found, arguments)
        out._host[...] = found
        return out

    return apply


class ndarray:
    """An array of the device."""

    __array_priority__ = 1000
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None) -> None:
        dtype = np.dtype(dtype)
        shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
        n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if memptr is None:
            memptr = MemoryPointer(Memory(n_bytes), 0)
        self._memory = memptr.mem
        self._host = memptr.bytes(n_bytes).view(dtype).reshape(shape)

    @classmethod
    def _view(cls, part: np.ndarray, memory: Memory | UnownedMemory) -> ndarray:
        made = cls.__new__(cls)
        made._host, made._memory = part, memory
        return made

    def check_device(self) -> None:
        """Refuse to work on an array of a device that is not the current one."""
        if self._memory.device not in (None, current_device()):
            raise ValueError(f"an array of device {self._memory.device} is used on device {current_device()}")

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self._memory, self._host.ctypes.data - self._memory.ptr)

    dtype = property(lambda self: self._host.dtype)
    shape = property(lambda self: self._host.shape)
    size = property(lambda self: self._host.size)
    ndim = property(lambda self: self._host.ndim)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: self._host.flags)
    T = property(lambda self: self._view(self._host.T, self._memory))

    def __array__(self, *_: object, **__: object) -> np.ndarray:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`.")

    @property
    def __cuda_array_interface__(self) -> dict:
        return {**self._host.__array_interface__, "version": 3}

    def get(
        self, stream: Stream | None = None, out: np.ndarray | None = None, blocking: bool = True
    ) -> np.ndarray:
        stream = stream or get_current_stream()
        count("operations")
        if not blocking and out is not None:
            copied = out
            stream.enqueue(lambda: np.copyto(copied, self._host))
            return out
        stream.synchronize()
        if out is None:
            return np.array(self._host)
        out[...] = self._host
        return out

    def set(self, array: np.ndarray) -> None:
        if array.dtype != self.dtype or array.shape != self.shape:
            raise ValueError("Shape or dtype mismatch")
        count("operations")
        drain()
        self._host[...] = array

    def fill(self, value: Any) -> None:
        count("operations")
        self.check_device()
        plain = value.item() if isinstance(value, ndarray) else value
        get_current_stream().enqueue(lambda: self._host.fill(plain))

    def view(self, dtype: Any = None) -> ndarray:
        return self._view(self._host.view(dtype), self._memory)

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        if not copy and self.dtype == np.dtype(dtype):
            return self
        self.check_device()
        count("operations")
        drain()
        return wrap(self._host.astype(dtype))

    def copy(self) -> ndarray:
        count("operations")
        drain()
        return wrap(self._host)

    def item(self) -> Any:
        _read()
        return self._host.item()

    def tolist(self) -> Any:
        _read()
        return self._host.tolist()

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> ndarray:
        plain = host(key)  # beside the key, whose memory would be freed without it
        keys = plain if isinstance(plain, tuple) else (plain,)
        if any(isinstance(one, (np.ndarray, list)) for one in keys):
            count("operations")
            if any(getattr(one, "dtype", None) == np.bool_ for one in keys):
                count("waits")
            drain()
            return wrap(self._host[plain])
        # With the ellipsis an entry is an array without dimensions, which is a view.
        return self._view(self._host[plain if Ellipsis in keys else (*keys, Ellipsis)], self._memory)

    def __setitem__(self, key: Any, value: Any) -> None:
        plain = host(value)
        self.check_device()
        count("operations")
        drain()
        self._host[host(key)] = plain

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        _read()
        return operator.index(self._host)

    def __repr__(self) -> str:
        return repr(self.get())


def _read() -> None:
    """Copy from the device, and wait for that."""
    count("operations")
    get_current_stream().synchronize()


def _reversed(function: Callable) -> Callable:
    return lambda one, other: function(other, one)


def _in_place(function: Callable) -> Callable:
    def apply(self: ndarray, other: Any) -> ndarray:
        plain = host(other)
        self.check_device()
        count("operations")
        drain()
        function(self._host, plain)
        return self

    return apply


def _add_operators() -> None:
    for name in (
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and",
        "or",
        "xor",
        "lshift",
        "rshift",
    ):
        function = getattr(operator, f"__{name}__")
        setattr(ndarray, f"__{name}__", on_device(function))
        setattr(ndarray, f"__r{name}__", on_device(_reversed(function)))
        setattr(ndarray, f"__i{name}__", _in_place(getattr(operator, f"__i{name}__")))
    ndarray.__divmod__ = on_device(divmod)  # type: ignore[attr-defined]
    for name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "invert", "abs"):
        setattr(ndarray, f"__{name}__", on_device(getattr(operator, f"__{name}__")))
    for name in (
        "all", "any", "argmax", "argmin", "argsort", "clip", "cumsum", "max", "mean", "min", "nonzero",
        "prod", "ravel", "repeat", "reshape", "round", "searchsorted", "sort", "sum", "take",
        "transpose",
    ):  # fmt: skip
        setattr(ndarray, name, on_device(getattr(np.ndarray, name)))


_add_operators()
