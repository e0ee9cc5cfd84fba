"""Access to the bytes of strings, eight at a time.

`data` holds the bytes of all strings, in UTF-8, and string `i` is `data[offsets[i]:offsets[i + 1]]`, as in
Arrow; there are at least eight bytes.  Words are loaded in little-endian order on any machine.
"""

from __future__ import annotations

import sys

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from rapids_trav.jit.kernels import kernel

WORD = 8
BIG_ENDIAN = sys.byteorder == "big"


@intrinsic
def _load(typing_context, data, at):
    """Load the eight bytes of `data` that start at `at`, at any alignment."""

    def generate(context, builder, signature, args):
        array = make_array(signature.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(
            context, builder, signature.args[0], array, [args[1]], wraparound=False
        )
        word = builder.load(builder.bitcast(pointer, ir.IntType(64).as_pointer()), align=1)
        return builder.bswap(word) if BIG_ENDIAN else word

    return types.uint64(data, types.intp), generate


@intrinsic
def swapped(typing_context, word):
    """Reverse the bytes of a word, so that comparing numbers orders words like their bytes."""
    return types.uint64(types.uint64), lambda context, builder, signature, args: builder.bswap(args[0])


@kernel
def word_at(data, at, end):
    """Return the one to eight bytes from `at` to `end`, followed by zeros."""
    start = min(at, len(data) - WORD)
    word = _load(data, start) >> types.uint64(8 * (at - start))
    left = end - at
    if left < WORD:
        word &= (types.uint64(1) << types.uint64(8 * left)) - types.uint64(1)
    return word


@kernel
def are_equal(data, offsets, one, other):
    """Return whether two strings have the same bytes."""
    at, end = offsets[one], offsets[one + 1]
    other_at, other_end = offsets[other], offsets[other + 1]
    if end - at != other_end - other_at:
        return False
    while at < end:
        if word_at(data, at, end) != word_at(data, other_at, other_end):
            return False
        at += WORD
        other_at += WORD
    return True


@kernel
def compared(data, at, end, other_data, other_at, other_end):
    """Return a negative number, 0 or a positive one: whether bytes are less than others, equal or greater."""
    longer = (end - at) - (other_end - other_at)
    while at < end and other_at < other_end:
        word, other_word = word_at(data, at, end), word_at(other_data, other_at, other_end)
        if word != other_word:
            return -1 if swapped(word) < swapped(other_word) else 1
        at += WORD
        other_at += WORD
    return longer


@kernel
def comes_first(data, offsets, one, other, depth):
    """Return whether string `one` is less than `other`; their first `depth` bytes are equal."""
    at, other_at = offsets[one] + depth, offsets[other] + depth
    return compared(data, at, offsets[one + 1], data, other_at, offsets[other + 1]) < 0


@kernel
def hash_strings(data, offsets, hashes, begin, end):
    """Hash each string to 64 bits: multiply and shift for each word, then the finalizer of MurmurHash3."""
    for i in range(begin, end):
        at, last = offsets[i], offsets[i + 1]
        value = types.uint64(last - at) * types.uint64(0x9E3779B97F4A7C15)
        while at < last:
            value = (value ^ word_at(data, at, last)) * types.uint64(0xD6E8FEB86659FD93)
            value ^= value >> types.uint64(32)
            at += WORD
        hashes[i] = mixed(value)


@kernel
def hash_integers(values, hashes, begin, end):
    """Hash 64-bit integers one to one."""
    for i in range(begin, end):
        hashes[i] = mixed(types.uint64(values[i]))


@kernel
def mixed(value):
    value ^= value >> types.uint64(33)
    value *= types.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> types.uint64(33)
    value *= types.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> types.uint64(33))
