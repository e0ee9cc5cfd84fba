"""Structs that hold the arguments of kernels which take more than eleven.

Long lists of arguments are easily mixed up.  CuPy also converts each argument of a launch separately, and
three dozen conversions take longer than a level of a search.  A struct here has the same name, and the same
fields in the same order, as the struct in the kernel's file; every field must be set by name.
`fused_arguments.py` has the struct of the fused search.
"""

from __future__ import annotations

import ctypes
import operator
from typing import Any, ClassVar

import numpy as np

from rapids_trav.csr.array import Array

POINTER = ctypes.c_void_p
I32, I64, U32, U64 = ctypes.c_int32, ctypes.c_int64, ctypes.c_uint32, ctypes.c_uint64
FLOAT, DOUBLE = ctypes.c_float, ctypes.c_double


class ArgumentStruct(ctypes.Structure):
    """Base of the structs; it holds the arrays that are given, which must live until the launch.

    Parameters
    ----------
    **given
        A value for each field: an array, an address or None for a pointer, otherwise a number.

    Raises
    ------
    TypeError
        If a field is missing, a name is not that of a field, or a value is of another type.
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


def struct(name: str, base: type[ArgumentStruct] = ArgumentStruct, /, **fields: type) -> type[ArgumentStruct]:
    """Return the struct `name` with the fields of `base` and, after them, those given."""
    kinds = base.kinds | fields
    own = {
        "_fields_": list(fields.items()),
        "kinds": kinds,
        "pointers": tuple(field for field, kind in kinds.items() if kind is POINTER),
        "integers": tuple(field for field, kind in kinds.items() if kind not in (POINTER, FLOAT, DOUBLE)),
    }
    return type(name, (base,), own)


def by_value(arguments: ctypes.Structure) -> np.ndarray:
    """Return a struct in the form in which CuPy passes it by value: an array of one entry."""
    return np.frombuffer(arguments, np.dtype((np.void, ctypes.sizeof(arguments))))


# kernels/answer.cu
AnswerArguments = struct(
    "AnswerArguments",
    rank=POINTER,
    order=POINTER,
    labels=POINTER,
    names=POINTER,
    first=I64,
    n=I64,
    n_searches=I64,
    sources=POINTER,
    distance=POINTER,
    predecessor=POINTER,
    source_column=POINTER,
    vertex_column=POINTER,
    distance_column=POINTER,
    distance_bits=POINTER,
    predecessor_column=POINTER,
    predecessor_bits=POINTER,
    nulls=POINTER,
)

# kernels/reached.cu
ReachedArguments = struct(
    "ReachedArguments",
    rank=POINTER,
    order=POINTER,
    labels=POINTER,
    names=POINTER,
    first=I64,
    n=I64,
    block_rows=I64,
    distance=POINTER,
    predecessor=POINTER,
    counts=POINTER,
    vertices=POINTER,
    vertex_column=POINTER,
    distance_column=POINTER,
    predecessor_column=POINTER,
    predecessor_bits=POINTER,
)

# kernels/ordered_tree.cu
OfferArguments = struct(
    "OfferArguments",
    row_offsets=POINTER,
    column_indices=POINTER,
    n_vertices=I64,
    n_edges=I64,
    n_searches=I64,
    symmetric=I64,
    distances=POINTER,
    near=POINTER,
    level_edges=POINTER,
    order=POINTER,
    places=POINTER,
    examined=POINTER,
)

# kernels/bfs_batch.cu
PullHeavyArguments = struct(
    "PullHeavyArguments",
    row_offsets=POINTER,
    column_indices=POINTER,
    n_vertices=I64,
    n_words=I64,
    heavy=POINTER,
    n_heavy=I64,
    wanted=POINTER,
    frontier=POINTER,
    visited=POINTER,
    next=POINTER,
    predecessor=POINTER,
    counters=POINTER,
)

# kernels/distance_sums.cu
SettleArguments = struct(
    "SettleArguments",
    out_offsets=POINTER,
    n_vertices=I64,
    n_words=I64,
    wanted=POINTER,
    level=I32,
    frontier=POINTER,
    visited=POINTER,
    next=POINTER,
    reached=POINTER,
    total=POINTER,
    inverse=POINTER,
    largest=POINTER,
    counters=POINTER,
)

# kernels/external.cu
PlaceArguments = struct(
    "PlaceArguments",
    rows=POINTER,
    columns=POINTER,
    weights=POINTER,
    weight_bytes=I32,
    n_edges=I64,
    both=I32,
    first=I64,
    after=I64,
    begin=I64,
    n_places=I64,
    free=POINTER,
    placed=POINTER,
    placed_weights=POINTER,
)

# kernels/path_rows.cu
PathArguments = struct(
    "PathArguments",
    n_vertices=I64,
    n_targets=I64,
    n_entries=I64,
    sources=POINTER,
    targets=POINTER,
    picked=POINTER,
    ends=POINTER,
    predecessors=POINTER,
    order=POINTER,
    labels=POINTER,
    names=POINTER,
    first=I64,
    source_column=POINTER,
    target_column=POINTER,
    step_column=POINTER,
    vertex_column=POINTER,
)

# kernels/path_shares.cu
ShareArguments = struct(
    "ShareArguments",
    row_offsets=POINTER,
    column_indices=POINTER,
    first=I64,
    n_level=I64,
    level=I32,
    order=POINTER,
    distance=POINTER,
    paths=POINTER,
    weight=POINTER,
    of_vertices=POINTER,
    of_edges=POINTER,
    reached=POINTER,
)

# kernels/path_shares_batch.cu
GatherSharesArguments = struct(
    "GatherSharesArguments",
    row_offsets=POINTER,
    column_indices=POINTER,
    n_vertices=I64,
    heavy=POINTER,
    n_heavy=I64,
    level=I32,
    distance=POINTER,
    paths=POINTER,
    ahead=POINTER,
    here=POINTER,
    weight=POINTER,
    totals=POINTER,
    of_vertices=POINTER,
    of_edges=POINTER,
    reached=POINTER,
)

# kernels/gas_vertex.cuh
GatherArguments = struct(
    "GatherArguments",
    row_offsets=POINTER,
    column_indices=POINTER,
    weights=POINTER,
    messages=POINTER,
    values=POINTER,
    new_messages=POINTER,
    active=POINTER,
    degrees=POINTER,
    out_offsets=POINTER,
    parameters=POINTER,
    before=POINTER,
    counters=POINTER,
)

# kernels/gas_rows.cu
RowArguments = struct(
    "RowArguments",
    GatherArguments,
    n_near=I64,
    rows=POINTER,
    begins=POINTER,
    sizes=POINTER,
    piece_hubs=POINTER,
    hubs=POINTER,
    first_pieces=POINTER,
    n_pieces=I64,
    results=POINTER,
    tickets=POINTER,
    marks=POINTER,
)
AheadArguments = struct("AheadArguments", RowArguments, n_iterations=I64, tolerance=DOUBLE, barrier=POINTER)
PlainArguments = struct("PlainArguments", GatherArguments, first_row=I64, n_rows=I64, marks=POINTER)

# kernels/gas_shards.cu
ShardArguments = struct(
    "ShardArguments",
    GatherArguments,
    firsts=POINTER,
    factors=POINTER,
    first_pieces=POINTER,
    piece_shards=POINTER,
    piece_edges=I64,
    first_number=I64,
    n_pieces=I64,
    next_piece=POINTER,
    local_ids=POINTER,
    results=POINTER,
    tickets=POINTER,
    cycles=POINTER,
    replica_counters=POINTER,
)

# kernels/gas_blocks.cu
BlocksArguments = struct(
    "BlocksArguments",
    row_offsets=POINTER,
    columns=POINTER,
    weights=POINTER,
    held_columns=POINTER,
    held_starts=POINTER,
    held_words=POINTER,
    held_weights=POINTER,
    degrees=POINTER,
    first_items=POINTER,
    places=POINTER,
    entered=POINTER,
    values=POINTER,
    active=POINTER,
    queued=POINTER,
    next_queued=POINTER,
    waiting=POINTER,
    put_off=POINTER,
    queue=POINTER,
    next_queue=POINTER,
    chunks=POINTER,
    next_chunks=POINTER,
    counts=POINTER,
    least=POINTER,
    control=POINTER,
    landed=POINTER,
    n_vertices=I64,
    place_words=I64,
    most_rounds=I64,
    most_waiting=I64,
    most_edges=I64,
    unordered_edges=I64,
    n_blocks=I32,
    n_entered=I32,
    shift=I32,
    enough_landed=U32,
)

# kernels/gas_lent.cu
LentArguments = struct(
    "LentArguments",
    BlocksArguments,
    vertices=POINTER,
    messages=POINTER,
    n_lent=POINTER,
    most=I64,
    block=I64,
)
