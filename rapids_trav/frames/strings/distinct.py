"""The distinct strings of a column: numbered, and sorted if need be, by all threads.

A column of Python's strings is copied into Arrow's layout, in which threads need no interpreter lock.  Its
rows often share their objects (if they were read from a file, or taken from a list of names), so equal
addresses are found first, and few objects are looked at.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rapids_trav.frames.columns import Series
from rapids_trav.frames.strings.encoding import encode_strings, repeats
from rapids_trav.frames.strings.grouping import Groups, group_integers, group_strings
from rapids_trav.frames.strings.sorting import sort_strings
from rapids_trav.frames.strings.text import addresses, buffers_of, objects_of, text_of, text_of_objects
from rapids_trav.jit.kernels import Threads

SAMPLE = 1 << 14  # addresses that tell whether rows share their objects
SHARED = 0.99  # of them distinct at most


def distinct_strings(column: Series, ascending: bool = False) -> Groups | None:
    """Number the distinct strings of a column; None if it holds anything but strings that Arrow can hold.

    Parameters
    ----------
    column : Series
        Of pandas.
    ascending : bool
        Number them as they ascend by code points; else in an order that depends on the values of the rows
        alone, and is that of the rows if all are distinct.
    """
    with Threads() as threads:
        objects = objects_of(column)
        if objects is None:
            text = text_of(column)
            return None if text is None else _distinct(text, ascending, threads)
        shared = _shared(objects, threads)
        text = text_of_objects(objects if shared is None else objects[shared.firsts])
        if text is None:
            return None
        found = _distinct(text, ascending, threads)
        if shared is None:
            return found
        return Groups(found.codes[shared.codes], shared.firsts[found.firsts])


def _shared(objects: np.ndarray, threads: Threads) -> Groups | None:
    """Number the distinct objects, if rows share them."""
    places = addresses(objects)
    sample = places[:: max(len(places) // SAMPLE, 1)]
    if len(np.unique(sample)) > SHARED * len(sample):
        return None
    return _by_row(group_integers(places, threads))  # addresses differ from run to run


def _distinct(text: pa.LargeStringArray, ascending: bool, threads: Threads) -> Groups:
    data, offsets = buffers_of(text)
    codes, firsts = encode_strings(text, threads) if repeats(text) else group_strings(data, offsets, threads)
    if ascending:
        order = sort_strings(data, offsets, firsts, threads)
        numbers = np.empty_like(order)
        numbers[order] = np.arange(len(order), dtype=order.dtype)
        return Groups(numbers[codes], firsts[order])
    return _by_row(Groups(codes, firsts))  # whose values are then taken from neighbouring rows


def _by_row(groups: Groups) -> Groups:
    """Number the values in the order of the rows that stand for them."""
    codes, firsts = groups
    chosen = np.zeros(len(codes), bool)
    chosen[firsts] = True
    numbers = (np.cumsum(chosen, dtype=firsts.dtype) - 1)[firsts]
    return Groups(numbers[codes], np.flatnonzero(chosen))
