"""Weights of edges: decimals as integers of their last digit, and back; sums, in a type that holds them."""

from __future__ import annotations

from collections.abc import Hashable
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import TravError, warn
from rapids_trav.frames.columns import Array, Dtype, Masked, Series, Values, move

if TYPE_CHECKING:
    from rapids_trav.frames.libraries import Library

LIMIT = 2**63 - 1  # largest sum of integers
BLOCK = 1 << 22
DIGITS = 38  # of the decimals that answers have, as many as 128 bits hold


def decimals_of(column: Series) -> pa.Array | None:
    """Return decimals, of Arrow, cuDF or finite ones of Python, as an Arrow array; None for anything else."""
    if isinstance(column.dtype, pd.ArrowDtype):
        values = pa.array(column.array) if pa.types.is_decimal(column.dtype.pyarrow_dtype) else None
    elif type(column.dtype).__name__.startswith("Decimal"):
        values = column.to_arrow()
    elif column.dtype == object and pd.api.types.infer_dtype(column) == "decimal":
        try:
            values = pa.array(column.to_numpy())
        except pa.ArrowInvalid:  # infinite, or of more digits than any type of Arrow holds
            return None
    else:
        return None
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def as_integers(values: pa.Array, scale: int) -> np.ndarray | None:
    """Return decimals times 10^scale as int64; None if one of them does not fit."""
    try:
        wide = values.cast(pa.decimal128(DIGITS, scale))
    except pa.ArrowInvalid:
        return None
    words = np.frombuffer(wide.buffers()[1], np.int64).reshape(-1, 2)[wide.offset : wide.offset + len(wide)]
    low, high = words[:, 0], words[:, 1]
    return np.ascontiguousarray(low) if bool((low >> 63 == high).all()) else None


def as_floats(values: pa.Array) -> np.ndarray:
    """Return the float64 nearest to each decimal, which Arrow's own conversion is not."""
    return values.cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False)


def from_integers(values: Array | Masked, scale: int) -> pa.Array:
    """Return integers divided by 10^scale as decimals; those that a mask leaves out are null."""
    given, mask = values if isinstance(values, Masked) else (values, None)
    whole, valid = move(given, np), None if mask is None else move(mask, np)
    words = np.empty((len(whole), 2), np.int64)
    words[:, 0], words[:, 1] = whole, whole >> 63
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(pa.decimal128(DIGITS, scale), len(whole), [bits, pa.py_buffer(words)])


def column_of(decimals: pa.Array, library: Values) -> Series:
    """Return decimals as a column of pandas or cuDF."""
    if library.xp is np:
        return pd.Series(pd.arrays.ArrowExtensionArray(decimals))
    return library.column(decimals)


def sum_dtype(dtype: np.dtype) -> np.dtype:
    """Return the type in which weights are added: int64 for integers, float64 for floats up to 64 bits."""
    if dtype.kind in "iub":
        return np.dtype(np.int64)
    return np.result_type(dtype, np.float64)


def magnitude(values: Values, xp: ModuleType = np) -> int:
    """Return the sum of the absolute values of an array of integers, exactly."""
    total = 0
    for first in range(0, len(values), BLOCK):
        block = xp.asarray(values[first : first + BLOCK])
        if block.dtype.kind == "i":
            block = xp.abs(block.astype(np.int64)).view(np.uint64)  # that of -2^63 is 2^63
        low = int((block.astype(np.uint64) & np.uint64(2**32 - 1)).sum())
        total += low + (int((block.astype(np.uint64) >> np.uint64(32)).sum()) << 32)
    return total


def weight_dtype(dtype: Dtype) -> np.dtype:
    """Return the one of the engines' four weight types that holds the values of a column."""
    dtype = np.dtype(getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype)))
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return np.dtype(np.int32 if np.can_cast(dtype, np.int32) else np.int64)


def with_sums(entries: Values) -> Values:
    """Return entries; if several have one place, they are added up in int64 or float64."""
    boolean = entries.dtype.kind == "b"
    summed = (entries if boolean else entries.astype(sum_dtype(entries.dtype))).tocsr()
    if summed.nnz == len(entries.data):
        return entries
    refuse_overflow(entries.data, repeated=not boolean)
    return summed.tocoo()


def refuse_overflow(weights: Array, repeated: bool) -> None:
    """Refuse integer weights of repeated edges if all together could pass 2^63 - 1."""
    if repeated and weights.dtype.kind in "iu" and (total := magnitude(weights)) > LIMIT:
        raise TravError(
            f"The edges are repeated, and their weights add up to {total}, more than 2^63 - 1: convert the "
            f"weights, for example with astype('float64')."
        )


class Weight(NamedTuple):
    """The column of the weights, and the dtype in which engines receive them.

    Decimals are integers there, in units of their last digit, of which `scale` are after the point.
    """

    name: Hashable
    dtype: np.dtype
    scale: int | None = None


class Weights:
    """The weights of all edges, which are checked part by part."""

    def __init__(self, name: Hashable, library: Library) -> None:
        self.name, self._library = name, library
        self._dtype: np.dtype | None = None
        self._decimal = False  # whether any are decimals
        self._scale = 0  # the most digits after the point
        self._total = 0  # of all decimals, in units of the last of these digits

    @property
    def found(self) -> Weight | None:
        """The column with the type that holds all weights; None without any part."""
        if self._dtype is None:
            return None
        whole = self._decimal and self._dtype == np.int64
        return Weight(self.name, self._dtype, self._scale if whole else None)

    def warn_if_rounded(self) -> None:
        if self._decimal and self._dtype != np.int64:
            warn(
                f"weight={self.name!r} holds decimals that do not fit 64 bits without their point, one of "
                f"them or their sum, so that they are rounded to float64: scale them, or give float64."
            )

    def add(self, column: Series) -> None:
        """Check the weights of some of the edges, and take them into account."""
        decimals, remedy = decimals_of(column), self._library.remedy
        if (decimals is None and column.dtype.kind not in "iuf") or hasattr(column.dtype, "categories"):
            raise TravError(
                f"weight={self.name!r} is a column of {column.dtype}: "
                f"name a numeric one, or convert it with {remedy('astype')}."
            )
        if nulls := self._library.null_count(column):
            floats = decimals is None and column.dtype.kind == "f"
            fill = remedy("fillna(0.0)" if floats else "fillna")
            if (
                floats
                and fill == "fillna(0.0)"
                and isinstance(column.dtype, pd.api.extensions.ExtensionDtype)
            ):
                fill = "where(weight == weight, 0.0).fillna(0.0)"  # NaN is not null there
            raise TravError(
                f"weight={self.name!r} holds {nulls} null{'s' if nulls > 1 else ''}"
                f"{' or NaN' if floats else ''}: "
                f"fill {'them' if nulls > 1 else 'it'} first, for example with {fill}."
            )
        float64 = remedy("astype('float64')")
        if column.dtype.kind == "u" and len(column) and (largest := int(column.max())) >= 2**63:
            raise TravError(
                f"weight={self.name!r} holds {largest}, which does not fit int64: "
                f"convert it, for example with {float64}."
            )
        mixed = self._dtype is not None and self._decimal != (decimals is not None)
        dtype = weight_dtype(column.dtype) if decimals is None else self._add_decimals(decimals)
        dtype = np.dtype(np.float64) if mixed else dtype  # decimals in some frames alone
        self._dtype = dtype if self._dtype is None else np.promote_types(dtype, self._dtype)

    def _add_decimals(self, values: pa.Array) -> np.dtype:
        """Take decimals; return the type that holds all so far, int64 or float64."""
        self._decimal = True
        scale = max(values.type.scale, self._scale)
        whole = as_integers(values, scale)
        if whole is not None:
            self._total = self._total * 10 ** (scale - self._scale) + magnitude(whole)
            self._scale = scale
        fits = whole is not None and self._total < LIMIT
        return np.dtype(np.int64 if fits else np.float64)
