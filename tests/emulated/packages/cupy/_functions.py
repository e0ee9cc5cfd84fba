"""Functions of NumPy for arrays of the device: those that the package and its tests use."""

from __future__ import annotations

from typing import Any

import numpy as np

from cupy._arrays import drain, host, ndarray, on_device, wrap
from cupy._counting import count

UFUNCS = (
    "add", "bitwise_or", "divmod", "floor", "isfinite", "maximum", "minimum",
    "square", "subtract",
)  # fmt: skip
FUNCTIONS = (
    "append", "arange", "argpartition", "argsort", "array_equal", "atleast_2d", "bincount",
    "broadcast_to", "clip", "concatenate", "count_nonzero", "cumsum", "diff", "flatnonzero", "nonzero",
    "packbits", "repeat", "searchsorted", "sort", "stack", "take", "tile", "unique", "unpackbits", "where",
)  # fmt: skip


class Ufunc:
    """A universal function."""

    def __init__(self, name: str) -> None:
        self._ufunc = getattr(np, name)
        self._apply = on_device(self._ufunc)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._apply(*arguments, **options)

    def at(self, target: ndarray, index: Any, values: Any) -> None:
        plain = host(index), host(values)
        count("operations")
        drain()
        self._ufunc.at(host(target), *plain)


def lexsort(keys: ndarray) -> ndarray:
    if not isinstance(keys, ndarray):
        raise TypeError("lexsort takes an array of keys")
    count("operations")
    count("waits")
    drain()
    return wrap(np.lexsort(host(keys)))


def split(array: ndarray, sections: Any, axis: int = 0) -> list[ndarray]:
    """Split an array at places that the host knows."""
    return wrap(np.split(host(array), sections, axis), (array,))


def by_name() -> dict[str, Any]:
    """Return all functions that are those of NumPy, by name."""
    return {name: Ufunc(name) for name in UFUNCS} | {name: on_device(getattr(np, name)) for name in FUNCTIONS}
