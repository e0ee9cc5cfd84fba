"""Numbering of the distinct strings of a column, optionally in sorted order, on all threads.

A column of Python strings is copied into Arrow's layout, where threads do not need the interpreter lock.
Rows often share string objects (when they were read from a file or taken from a list of names), so equal
addresses are found first and few objects have to be read.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rapids_trav.frames.columns import Series
from rapids_trav.frames.strings.grouping import Groups, group_integers, group_strings
from rapids_trav.frames.strings.sorting import sort_strings
from rapids_trav.frames.strings.text import (
    addresses,
    buffers_of,
    encode_strings,
    objects_of,
    repeats,
    text_of,
    text_of_objects,
)
from rapids_trav.jit.kernels import Threads

SAMPLE = 1 << 14  # addresses sampled to find out whether rows share their objects
SHARED = 0.99  # largest fraction of distinct addresses in the sample for which they do


def distinct_strings(column: Series, ascending: bool = False) -> Groups | None:
    """Number the distinct strings of a column; return None if it holds anything but strings Arrow can hold.

    Parameters
    ----------
    column : Series
        A pandas column.
    ascending : bool
        Number the strings in ascending order of their code points.  Otherwise the order depends only on the
        values of the rows, and is the order of the rows if all strings are distinct.
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
    """Number the distinct objects; return None if rows share few of them."""
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
    return _by_row(Groups(codes, firsts))  # so that the values are taken from neighbouring rows


def _by_row(groups: Groups) -> Groups:
    """Renumber the values in the order of their representative rows."""
    codes, firsts = groups
    chosen = np.zeros(len(codes), bool)
    chosen[firsts] = True
    numbers = (np.cumsum(chosen, dtype=firsts.dtype) - 1)[firsts]
    return Groups(numbers[codes], np.flatnonzero(chosen))
