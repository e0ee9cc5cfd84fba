"""Machine instructions for which Numba has no public function.

Atomic operations are relaxed unless they say otherwise: they order nothing but accesses to their own word.
Steps of a search are separated by joining the threads, which orders everything else.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


def _item_pointer(context, builder, array_type, array, index):
    struct = make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)


def _updating(operation, ordering):
    """Return the generator of an instruction that changes a word and returns what it held."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw(operation, pointer, args[2], ordering)

    return generate


@intrinsic
def compare_and_swap(typing_context, array, index, expected, desired):
    """Store `desired` in `array[index]` if it holds `expected`; return the former value."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        pair = builder.cmpxchg(pointer, args[2], args[3], "monotonic", "monotonic")
        return builder.extract_value(pair, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), generate


@intrinsic
def fetch_and_add(typing_context, array, index, amount):
    """Add `amount` to `array[index]`; return the former value."""
    return array.dtype(array, types.intp, array.dtype), _updating("add", "monotonic")


@intrinsic
def exchange(typing_context, array, index, desired):
    """Store `desired` in `array[index]`; return the former value.  Acquires and releases."""
    return array.dtype(array, types.intp, array.dtype), _updating("xchg", "acq_rel")


@intrinsic
def add_in_order(typing_context, array, index, amount):
    """Add `amount` to `array[index]`; return the former value.  Acquires and releases."""
    return array.dtype(array, types.intp, array.dtype), _updating("add", "acq_rel")


@intrinsic
def load(typing_context, array, index):
    """Return `array[index]`, which other threads change.  Acquires."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(pointer, "acquire", array.dtype.bitwidth // 8)

    return array.dtype(array, types.intp), generate


@intrinsic
def prefetch(typing_context, array, index):
    """Prefetch the cache line of `array[index]`, which need not exist."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        byte_pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        instruction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte_pointer.type, word, word, word]),
            "llvm.prefetch.p0i8",
        )
        read, keep_in_all_caches, data = word(0), word(3), word(1)
        builder.call(instruction, [byte_pointer, read, keep_in_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def trailing_zeros(typing_context, word):
    """Return the position of the lowest set bit of a 64-bit `word`, which must not be zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def population_count(typing_context, word):
    """Return the number of set bits of a 64-bit `word`."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def bits_of(typing_context, value):
    """Return the bits of a number as a signed integer of the same width; an integer is returned unchanged."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    if not isinstance(value, (types.Integer, types.Float)):
        return None
    return types.Integer.from_bitwidth(value.bitwidth, True)(value), generate
