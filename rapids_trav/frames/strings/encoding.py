"""Grouping of equal strings where few are distinct, by Arrow, with a part of the rows on each thread.

Arrow's hash table is probed row by row, which is fast while its strings stay in the cache; `grouping` handles
larger vocabularies.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rapids_trav.frames.strings.grouping import Groups, group_strings
from rapids_trav.frames.strings.text import buffers_of
from rapids_trav.jit.kernels import Threads

SAMPLE = 1 << 14  # rows sampled to estimate how many strings are distinct
REPEATED = 0.95  # largest distinct fraction of the sample: some 160,000 equally frequent strings


def repeats(text: pa.LargeStringArray) -> bool:
    """Return whether a sample suggests that strings repeat."""
    sample = text.take(pa.array(np.arange(0, len(text), max(len(text) // SAMPLE, 1))))
    return len(sample.unique()) <= REPEATED * len(sample)


def encode_strings(text: pa.LargeStringArray, threads: Threads) -> Groups:
    """Group strings by their bytes."""
    n = len(text)

    def encode(begin: int, end: int) -> pa.DictionaryArray:
        return text.slice(begin, end - begin).dictionary_encode()

    parts = threads.run_parts(encode, n)
    joined = pa.concat_arrays([part.dictionary for part in parts])
    numbers, firsts = group_strings(*buffers_of(joined), threads)
    codes = np.empty(n, numbers.dtype)
    begin = base = 0
    for part in parts:
        end, size = begin + len(part), len(part.dictionary)
        codes[begin:end] = numbers[base : base + size][part.indices.to_numpy()]
        begin, base = end, base + size
    rows = np.empty(len(firsts), np.int32 if n < 2**31 else np.int64)
    rows[codes] = np.arange(n, dtype=rows.dtype)
    return Groups(codes, rows)
