"""Checkpoints of a running vertex program, from which a killed run continues (docs/systems.md, G18 and X3).

A folder holds a file `checkpoint.trav`, and one beside it if pages are recorded (`page_journal`):

- a line of JSON: format version, iteration, total, residual, number of vertices, dtype of the values, the
  fingerprint of the run (graph, program, options), the engine's policy, and the token of the journal;
- the values, and the active set as bits;
- 4 bytes, the CRC-32 of everything before (little-endian).

A new checkpoint is written beside the old one, flushed to disk, and renamed in one step, so there is a
complete one at any time.  A checkpoint that is damaged or belongs to another run is refused and never used.
The checksum detects damage; all other contents of the file are checked as untrusted input.
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import move
from rapids_trav.programs import page_journal
from rapids_trav.programs.run_state import RunState
from rapids_trav.utilities.atomic_files import open_plain, sync_folder
from rapids_trav.utilities.locations import location

NAME = "checkpoint.trav"
VERSION = 4
DTYPES = ("int32", "int64", "float32", "float64")
NUMBERS = ("total", "residual")  # written in the form of float.hex
HEADER = {
    "iteration": int,
    "vertices": int,
    "dtype": str,
    "fingerprint": dict,
    "policy": dict,
    "journal": str,
}
HEADER |= dict.fromkeys(NUMBERS, str)
LONGEST_HEADER = 1 << 20  # bytes
MOST_ITERATIONS = 1 << 30  # more than any run reaches
Fingerprint = Mapping[str, object]  # of values that JSON can hold; errors name the parts by their keys


def graph_fingerprint(adjacency: Adjacency, n_edges: int, directed: bool) -> str:
    """Return a fingerprint of a graph in the order of its internal ids, from its counts and checksums."""
    kind = "directed" if directed else "undirected"
    return f"{adjacency.n_vertices}-{n_edges}-{kind}-{adjacency.checksum:08x}"


class Writer:
    """Writer of the checkpoints of one run, with the fingerprint that `load` compares."""

    def __init__(self, folder: str | os.PathLike, fingerprint: Fingerprint) -> None:
        self._path = location("checkpoint", folder) / NAME
        self._fingerprint = fingerprint
        folders = (self._path.parent, *self._path.parent.parents)
        self._made = [folder for folder in folders if not folder.exists()]
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TravError(
                f"checkpoint={os.fspath(folder)!r} cannot be made a folder: {error.strerror or error}; name "
                f"another folder."
            ) from error
        _refuse_folder(self._path)

    def write(self, state: RunState, journal: str = "") -> None:
        """Replace the previous checkpoint by `state`; `journal` is the token of the journal after it."""
        partial = self._path.with_suffix(".partial")
        try:
            partial.unlink(missing_ok=True)  # so as not to follow a link that somebody may have left there
            with partial.open("xb") as file:
                checksum = 0
                for part in _parts(state, self._fingerprint, journal):
                    file.write(part)
                    checksum = zlib.crc32(part, checksum)
                file.write(checksum.to_bytes(4, "little"))
                file.flush()
                os.fsync(file.fileno())
            partial.replace(self._path)
            sync_folder(self._path.parent)
            page_journal.remove(self._path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
                for folder in self._made:  # the empty ones only
                    folder.rmdir()
            before = "the one before is intact: free space there and run again with resume=True."
            raise TravError(
                f"Checkpoint {self._path} cannot be written: {error.strerror or error}; "
                f"{before if self._path.exists() else 'there is none before it: free space and run again.'}"
            ) from error


def load(
    folder: str | os.PathLike, fingerprint: Fingerprint, start: RunState | None = None
) -> RunState | None:
    """Load the state in a folder's checkpoint as NumPy arrays; return None if there is no checkpoint.

    Pages that were recorded since the checkpoint are in it.  With `start`, the initial state of the run, the
    values must have the same number and dtype.
    """
    path = location("checkpoint", folder) / NAME
    _refuse_folder(path)
    try:
        most = None if start is None else start.values.nbytes + len(start.values) + LONGEST_HEADER
        with open_plain(path) as file:
            content = memoryview(file.read(-1 if most is None else most))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unread(path, error) from error
    body, checksum = content[:-4], int.from_bytes(content[-4:], "little")
    if len(content) < 4 or zlib.crc32(body) != checksum:
        raise _refused(path, "is damaged (its checksum differs)")
    line, end, _ = bytes(body[:LONGEST_HEADER]).partition(b"\n")
    header = _header(line if end else b"")
    if header is None:
        raise _refused(path, "is damaged (its first line is not a header)")
    if type(header["version"]) is not int or header["version"] != VERSION:
        raise _refused(
            path, f"has format version {written(header['version'])}, but this release reads {VERSION}"
        )
    if not all(type(header.get(name)) is kind for name, kind in HEADER.items()):
        raise _refused(path, "is damaged (its header is incomplete)")
    for name, value in _plain(fingerprint).items():
        if (stored := header["fingerprint"].get(name)) != value:
            raise _refused(path, f"is of another {name} ({written(stored)}; this is {written(value)})")
    state = _state(path, header, body[len(line) + 1 :], start)
    try:
        return page_journal.replayed(path, header["journal"], state)
    except OSError as error:
        raise _unread(path.with_suffix(page_journal.SUFFIX), error) from error


def _refuse_folder(path: Path) -> None:
    """Refuse a folder at the path of the checkpoint file."""
    if path.is_dir():
        raise TravError(f"Checkpoint {path} is a folder, not a file: remove it, or name another folder.")


def _state(path: Path, header: dict[str, Any], rest: memoryview, start: RunState | None) -> RunState:
    """Return the state that a complete header and the bytes after it describe."""
    n, iteration = header["vertices"], header["iteration"]
    try:
        total, residual = (float.fromhex(header[name]) for name in NUMBERS)
    except (OverflowError, ValueError):
        raise _refused(path, "is damaged (its header does not describe a state)") from None
    policy = header["policy"]
    measured = all(type(number) is float and math.isfinite(number) for number in policy.values())
    if not measured or not page_journal.may_be_token(header["journal"]):
        raise _refused(path, "is damaged (its header does not describe a state)")
    if header["dtype"] not in DTYPES or not 0 <= iteration < MOST_ITERATIONS:
        raise _refused(path, "is damaged (its header does not describe a state)")
    dtype = np.dtype(header["dtype"])
    if n < 0 or len(rest) != n * dtype.itemsize + -(-n // 8):
        raise _refused(path, "is damaged (its header does not fit its size)")
    if start is not None and (n, dtype) != (len(start.values), start.values.dtype):
        raise _refused(
            path,
            f"holds {n:,} values of {dtype}, but the run has {len(start.values):,} of {start.values.dtype}",
        )
    values = np.frombuffer(rest, dtype, n).copy()
    bits = np.unpackbits(np.frombuffer(rest, np.uint8, offset=values.nbytes))
    if bits[n:].any():
        raise _refused(path, "is damaged (more vertices are active than there are)")
    return RunState(values, bits[:n].astype(bool), iteration, total, residual, policy)


def _header(line: bytes) -> dict[str, Any] | None:
    """Parse the first line of a checkpoint; return None if it is not a header."""
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) and "version" in header else None


def _parts(state: RunState, fingerprint: Fingerprint, journal: str) -> list[bytes | memoryview]:
    values = np.ascontiguousarray(move(state.values, np))
    header = {
        "version": VERSION,
        "iteration": int(state.iteration),
        "total": float(state.total).hex(),  # exact, and possible for values that are not finite
        "residual": float(state.residual).hex(),
        "vertices": len(values),
        "dtype": values.dtype.name,
        "fingerprint": _plain(fingerprint),
        "policy": {name: float(number) for name, number in state.policy.items()},
        "journal": journal,
    }
    active = np.packbits(move(state.active, np))
    return [json.dumps(header).encode() + b"\n", values.data.cast("B"), active.data]


def _plain(fingerprint: Fingerprint) -> dict[str, object]:
    """Return the fingerprint as JSON reads it back."""
    return json.loads(json.dumps(dict(fingerprint)))


def refused(folder: str | os.PathLike, why: str) -> TravError:
    """Return the error for a folder's checkpoint that is not used."""
    return _refused(location("checkpoint", folder) / NAME, why)


def _unread(path: Path, error: OSError) -> TravError:
    return TravError(
        f"Checkpoint {path} cannot be read: {error.strerror or error}; run without resume=True, or name "
        f"another folder."
    )


def _refused(path: Path, why: str) -> TravError:
    return TravError(
        f"Checkpoint {path} {why} and is not used: run without resume=True, or name another folder."
    )
