"""New arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy._arrays import drain, host, ndarray, wrap
from cupy._counting import count


def empty(shape: Any, dtype: Any = float) -> ndarray:
    return ndarray(shape, dtype)


def empty_like(array: ndarray, dtype: Any = None) -> ndarray:
    return ndarray(array.shape, dtype or array.dtype)


def full(shape: Any, value: Any, dtype: Any = None) -> ndarray:
    made = ndarray(shape, np.asarray(host(value)).dtype if dtype is None else dtype)
    made.fill(value)
    return made


def zeros(shape: Any, dtype: Any = float) -> ndarray:
    return full(shape, 0, dtype)


def ones(shape: Any, dtype: Any = float) -> ndarray:
    return full(shape, 1, dtype)


def zeros_like(array: ndarray, dtype: Any = None) -> ndarray:
    return full(array.shape, 0, dtype or array.dtype)


def array(values: Any, dtype: Any = None) -> ndarray:
    """Return a copy of an array of the host or the device, of numbers, or of arrays of the device."""
    count("operations")
    drain()
    if isinstance(values, ndarray):  # of any device
        return wrap(np.array(values._host, dtype))
    return wrap(np.array(values if isinstance(values, np.ndarray) else host(values), dtype))


def asarray(values: Any, dtype: Any = None) -> ndarray:
    if isinstance(values, ndarray) and (dtype is None or values.dtype == np.dtype(dtype)):
        return values
    return array(values, dtype)


def ascontiguousarray(values: Any, dtype: Any = None) -> ndarray:
    found = asarray(values, dtype)
    return found if found.flags.c_contiguous else found.copy()


def asnumpy(values: Any) -> np.ndarray:
    return values.get() if isinstance(values, ndarray) else np.asarray(values)


class Generator:
    """Random numbers on the device; they are those of NumPy."""

    def __init__(self, seed: int | None = None) -> None:
        self._generator = np.random.default_rng(seed)

    def integers(self, *arguments: Any, **options: Any) -> ndarray:
        return wrap(self._generator.integers(*arguments, **options))

    def random(self, *arguments: Any, **options: Any) -> ndarray:
        return wrap(self._generator.random(*arguments, **options))
