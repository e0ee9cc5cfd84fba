"""Structs that hold the arguments of kernels which take more than eleven.

Long lists of arguments are easily mixed up.  CuPy also converts each argument of a launch separately, and
three dozen conversions take longer than a level of a search.  A struct has the fields that the kernel's file
declares, in the same order; every field must be set by name.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import re
from typing import Any, ClassVar

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.engines.cuda.runtime.modules import source

POINTER = ctypes.c_void_p
I32, I64, U32, U64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
FLOAT, DOUBLE = ctypes.c_float, ctypes.c_double

_TYPES: dict[str, type] = {
    "i32": I32, "i64": I64, "u32": U32, "u64": U64, "float": FLOAT, "double": DOUBLE,
}  # fmt: skip
_FIELD = re.compile(r"^    (?:const )?([\w ]+?)((?:\* const)?\*?) (\w+);", re.MULTILINE)
_RANKED = re.compile(r"^#if RANKED\n(.*?)^#endif\n", re.MULTILINE | re.DOTALL)


class ArgumentStruct(ctypes.Structure):
    """Base of the structs; it holds the arrays that are given, which must live until the launch.

    Each field is given by name, a pointer as an array, an address or None, otherwise as a number.
    """

    kinds: ClassVar[dict[str, type]] = {}  # the type of each field, in order
    pointers: ClassVar[tuple[str, ...]] = ()
    integers: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **given: Any) -> None:
        if given.keys() != self.kinds.keys():
            missing = sorted(self.kinds.keys() - given.keys())
            unknown = sorted(given.keys() - self.kinds.keys())
            raise TypeError(f"{type(self).__name__} lacks {missing} and does not know {unknown}.")
        self._held = tuple(given.values())
        for name in self.pointers:
            pointer = given[name]
            if pointer is not None and type(pointer) is not int:
                given[name] = pointer.data.ptr
        for name in self.integers:
            if type(given[name]) is not int:
                given[name] = operator.index(given[name])  # ctypes takes no integers of NumPy
        super().__init__(**given)

    def update(self, **given: int) -> None:
        """Set numbers for the next launch."""
        for name, value in given.items():
            assert name in self.integers
            setattr(self, name, value)

    def point(self, **given: Array) -> None:
        """Set pointers to other arrays for the next launch, until which the caller holds the arrays."""
        for name, array in given.items():
            assert name in self.pointers
            setattr(self, name, array.data.ptr)

    def swap(self, one: str, other: str) -> None:
        """Exchange two pointers."""
        before = getattr(self, one)
        setattr(self, one, getattr(self, other))
        setattr(self, other, before)

    def let_go(self) -> None:
        """Release the arrays; the caller must keep them alive until the last launch."""
        self._held = ()


@functools.cache
def arguments_of(
    file: str, name: str = "Arguments", vertex: type = I32, ranked: bool = False
) -> type[ArgumentStruct]:
    """Return the struct `name` as a file of kernels, or one that it includes, declares it.

    A `vertex` is of this type; if `ranked`, it has the fields for one of several ranks.
    """
    kinds = _fields(source(file), name, {**_TYPES, "vertex_t": vertex}, ranked)
    own = {
        "_fields_": list(kinds.items()),
        "kinds": kinds,
        "pointers": tuple(field for field, kind in kinds.items() if kind is POINTER),
        "integers": tuple(field for field, kind in kinds.items() if kind not in (POINTER, FLOAT, DOUBLE)),
    }
    return type(name, (ArgumentStruct,), own)


def _fields(text: str, name: str, types: dict[str, type], ranked: bool) -> dict[str, type]:
    """Return the fields of a struct, with those of its base first."""
    found = re.search(rf"^struct {name}(?: : (\w+))? \{{\n(.*?)^\}};", text, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    base, body = found.groups()
    code = _RANKED.sub(r"\1" if ranked else "", re.sub(r"//.*", "", body))
    fields = _FIELD.findall(code)
    assert len(fields) == code.count(";"), name
    own = {field: POINTER if star else types[kind] for kind, star, field in fields}
    return (_fields(text, base, types, ranked) if base else {}) | own


def by_value(arguments: ctypes.Structure) -> np.ndarray:
    """Return a struct in the form in which CuPy passes it by value: an array of one entry."""
    return np.frombuffer(arguments, np.dtype((np.void, ctypes.sizeof(arguments))))
