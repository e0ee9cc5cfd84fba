"""The journal of a checkpoint: values that pages of an asynchronous run changed (docs/systems.md, G18).

A file `checkpoint.pages` follows one checkpoint, which names it by a random token:

- the token, `TOKEN` bytes;
- a record for each page that changed something: first row, number of rows, number of changed values (three
  little-endian integers of 64 bits); a bit for each row, whether its value changed; the new values of those;
  4 bytes, the CRC-32 of the record, continued from that of the record before (of the token at first).

A record is handed to the operating system before the next page is recorded, so it outlives the process.  What
follows the first record that is torn or damaged is left out: that says how far the run got, and no more.

A resumed run takes the checkpoint's values, replaced by those of the records, and counts the changed vertices
as active beside those of the checkpoint.  A vertex whose value its neighbours may not have seen is then
active, whichever pages were recorded and in whichever order: its value is either that of the checkpoint, with
which it was active if they had not seen it, or a recorded one.
"""

from __future__ import annotations

import re
import secrets
import struct
import threading
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.programs.run_state import RunState
from rapids_trav.utilities.atomic_files import open_plain

SUFFIX = ".pages"
TOKEN = 16  # bytes
HEAD = struct.Struct("<QQQ")  # first row, rows, changed values
CHECKSUM = 4  # bytes


def new_token() -> str:
    """Return a token for a checkpoint that a journal follows."""
    return secrets.token_hex(TOKEN)


def may_be_token(text: str) -> bool:
    """Return whether `text` names a journal, or none."""
    return re.fullmatch(f"([0-9a-f]{{{2 * TOKEN}}})?", text) is not None


class PageJournal:
    """Writer of the journal beside a checkpoint's file; several threads may record pages."""

    def __init__(self, checkpoint: Path) -> None:
        self._path = checkpoint.with_suffix(SUFFIX)
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._values: Array | None = None  # as the files have them
        self._token, self._checksum = b"", 0

    def follow(self, values: Array, token: str) -> None:
        """Begin anew after a checkpoint of these values, of which a copy is kept."""
        with self._lock:
            self._close()
            values = move(values, np)
            if self._values is None:
                self._values = values.copy()
            else:
                self._values[:] = values
            self._token = bytes.fromhex(token)

    def record(self, first: int, values: Array) -> None:
        """Record the changes of a page: `values` are those of the rows from `first` on."""
        with self._lock:
            assert self._values is not None
            kept = self._values[first : first + len(values)]
            bits = f"u{kept.itemsize}"  # a NaN is the same as before if its bits are
            changed = values.view(bits) != kept.view(bits)
            places = np.flatnonzero(changed)
            if len(places) == 0:
                return
            begin, end = int(places[0]), int(places[-1]) + 1
            new = values[places]
            head = HEAD.pack(first + begin, end - begin, len(places))
            try:
                self._append(head + np.packbits(changed[begin:end]).tobytes() + new.tobytes())
            except OSError as error:
                raise TravError(
                    f"Checkpoint {self._path} cannot be written: {error.strerror or error}; the pages before "
                    f"are intact: free space there and run again with resume=True."
                ) from error
            kept[places] = new

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def _append(self, record: bytes) -> None:
        if self._file is None:
            self._path.unlink(missing_ok=True)  # so as not to follow a link that somebody may have left there
            self._file = self._path.open("xb")
            self._file.write(self._token)
            self._checksum = zlib.crc32(self._token)
        self._checksum = zlib.crc32(record, self._checksum)
        self._file.write(record + self._checksum.to_bytes(CHECKSUM, "little"))
        self._file.flush()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # what could not be written was reported when it was recorded
                self._file.close()
            self._file = None


def remove(checkpoint: Path) -> None:
    """Remove the journal of an earlier checkpoint; one that stays is not used."""
    with suppress(OSError):
        checkpoint.with_suffix(SUFFIX).unlink(missing_ok=True)


def replayed(checkpoint: Path, token: str, state: RunState) -> RunState:
    """Return a checkpoint's state, whose arrays are changed in place, with all complete records in it.

    Without a token no journal follows the checkpoint.  A journal that cannot be read is an OSError.
    """
    if not token:
        return state
    try:
        file = open_plain(checkpoint.with_suffix(SUFFIX))
    except FileNotFoundError:
        return state
    with file:
        stored = file.read(TOKEN)
        if stored != bytes.fromhex(token):
            return state  # of another checkpoint, or cut before its first record
        checksum: int | None = zlib.crc32(stored)
        while checksum is not None:
            checksum = _replay(file, state, checksum)
    return state


def _replay(file: IO[bytes], state: RunState, checksum: int) -> int | None:
    """Apply the next record; return its checksum, or None if there is no further complete one."""
    values, n = state.values, len(state.values)
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    first, n_rows, n_changed = HEAD.unpack(head)
    if first > n or n_rows > n - first or n_changed > n_rows:
        return None
    n_bits = -(-n_rows // 8)
    size = n_bits + n_changed * values.itemsize
    rest = file.read(size + CHECKSUM)
    if len(rest) < size + CHECKSUM:
        return None
    checksum = zlib.crc32(rest[:size], zlib.crc32(head, checksum))
    if checksum != int.from_bytes(rest[size:], "little"):
        return None
    changed = np.unpackbits(np.frombuffer(rest, np.uint8, n_bits)).astype(bool)
    places = np.flatnonzero(changed)
    if len(places) != n_changed or changed[n_rows:].any():
        return None
    values[first + places] = np.frombuffer(rest, values.dtype, n_changed, n_bits)
    state.active[first + places] = True
    return checksum
