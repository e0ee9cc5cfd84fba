"""Decimal numbers as integers of their last digit, and back; sums of weights, in a type that holds them."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Array, Dtype, Masked, Series, Values, move

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


class Decimals:
    """What decimal weights need as integers: digits after the point, and the sum of all."""

    def __init__(self) -> None:
        self.found = False  # whether there were any
        self.scale = 0  # the most digits after the point
        self._total = 0  # of all, in units of the last of `scale` digits; None if one does not fit

    def add(self, values: pa.Array) -> np.dtype:
        """Take a column; return the type that holds all so far, int64 or float64."""
        self.found = True
        scale = max(values.type.scale, self.scale)
        whole = as_integers(values, scale)
        if whole is not None:
            self._total = self._total * 10 ** (scale - self.scale) + magnitude(whole)
            self.scale = scale
        fits = whole is not None and self._total < LIMIT
        return np.dtype(np.int64 if fits else np.float64)
