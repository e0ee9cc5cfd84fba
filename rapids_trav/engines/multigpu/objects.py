"""Exchange of small Python objects between ranks.

Arrays are sent as they are.  Anything else is pickled and sent as 32-bit words, preceded by its length in
bytes, since every communicator takes 32-bit words.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from types import ModuleType
from typing import TypeVar

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.frames.columns import Array, move

Item = TypeVar("Item")
LENGTH_WORDS = 2  # words before the data, which hold its length in bytes


def gather_objects(communicator: Communicator, value: Item, xp: ModuleType) -> list[Item]:
    """Return the small object of each rank, in their order; `xp` is the module of the ranks' arrays."""
    words = to_words(pickle.dumps(value), xp)
    received = communicator.all_gather(tuple(range(communicator.size)), words)
    return [pickle.loads(to_bytes(words)) for words in received]


def exchange_objects(communicator: Communicator, values: Sequence[Item], xp: ModuleType) -> list[Item]:
    """Send the k-th small object to rank k; return what each rank sent to this one."""
    words = [to_words(pickle.dumps(value), xp) for value in values]
    received = communicator.exchange(tuple(range(communicator.size)), words)
    return [pickle.loads(to_bytes(words)) for words in received]


def raise_together(communicator: Communicator, error: Exception | None, xp: ModuleType) -> None:
    """Raise the first error that any rank has, on all ranks; return if no rank has one."""
    for other in gather_objects(communicator, error, xp):
        if other is not None:
            raise other


def to_words(data: bytes | memoryview, xp: ModuleType) -> Array:
    """Return bytes as an array of 32-bit words, preceded by the number of bytes."""
    words = np.zeros(LENGTH_WORDS + -(-len(data) // 4), np.uint32)
    words[:LENGTH_WORDS].view(np.uint64)[0] = len(data)
    words[LENGTH_WORDS:].view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
    return move(words, xp)


def to_bytes(words: Array) -> memoryview:
    """Return the bytes that `to_words` was given, without a copy on the CPU."""
    host = np.ascontiguousarray(move(words, np))
    length = int(host[:LENGTH_WORDS].view(np.uint64)[0])
    return memoryview(host[LENGTH_WORDS:].view(np.uint8)[:length])
