"""A graph as a folder of files: `Graph.save` and `Graph.open`.

- `graph.json`: format version, counts, names of the columns, what the ids are, and the size and CRC-32 of
  each other file.
- `row_offsets.npy`, `column_indices.npy`: the adjacency, of an undirected graph with each edge both ways.
- `weights.npy`, if the graph has weights: one for each of the column indices.
- `ids.parquet`: the vertex ids in ascending order, unless they are consecutive integers, which
  `graph.json` tells; `categories_<i>.parquet`: the categories of their column `i`, if it is categorical.
- `order.npy`, if the vertices are numbered by degree: the place of each in `ids.parquet`.

The folder is written under another name beside its own and renamed at the end, so it is there whole or not
at all.  Opened arrays are mapped, not read.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rapids_trav.durable import BLOCK, file_checksum, sync_folder
from rapids_trav.errors import TravError
from rapids_trav.frames import move
from rapids_trav.sizes import readable

from .arrays import open_array, preallocate

FORMAT = "rapids_trav graph"
VERSION = 1
HEAD = "graph.json"
CHEAP = 1 << 30  # bytes up to which checksums are always checked: less than a second


def is_saved_graph(folder: Any) -> bool:
    """Whether a path is that of a saved graph."""
    return Path(folder, HEAD).is_file()


def write_graph(
    folder: Any,
    head: Mapping[str, Any],
    arrays: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
) -> None:
    """Write a folder of arrays (.npy) and tables (.parquet), all of it or nothing.

    Raises
    ------
    TravError
        If the folder is there already or cannot be written, for want of room, say.
    """
    target = Path(folder).absolute()
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise TravError(f"{folder} exists already: remove it first, or name another folder.")
    n_bytes = sum(array.nbytes for array in arrays.values()) + sum(table.nbytes for table in tables.values())
    try:
        free = shutil.disk_usage(target.parent).free
        if free < n_bytes:
            raise TravError(
                f"{folder} needs {readable(n_bytes)}, and {target.parent} has {readable(free)} left: "
                f"make room, or name a folder elsewhere."
            )
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
    except OSError as error:
        raise TravError(f"{folder} cannot be made: {error.strerror or error}.") from error
    try:
        partial.chmod(0o777 & ~_umask())
        files = {}
        for name, array in arrays.items():
            files[f"{name}.npy"] = _write_array(partial / f"{name}.npy", array)
        for name, table in tables.items():
            files[f"{name}.parquet"] = _write_table(partial / f"{name}.parquet", table)
        _write_head(partial / HEAD, dict(head) | {"files": files})
        sync_folder(partial)
        partial.rename(target)
        sync_folder(target.parent)
    except BaseException as error:
        shutil.rmtree(partial, ignore_errors=True)
        if isinstance(error, OSError):
            raise TravError(
                f"{folder} cannot be written: {error.strerror or error}; it needs {readable(n_bytes)}, and "
                f"nothing is left of it."
            ) from error
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_array(path: Path, array: Any) -> dict[str, Any]:
    """A .npy file, from an array that may be larger than memory or on a GPU; its size and checksum."""
    header = io.BytesIO()
    form = {"descr": array.dtype.str, "fortran_order": False, "shape": (len(array),)}
    np.lib.format.write_array_header_1_0(header, form)
    checksum = zlib.crc32(header.getvalue())
    with path.open("wb") as file:
        preallocate(file, len(header.getvalue()) + array.nbytes)
        file.write(header.getvalue())
        step = BLOCK // array.dtype.itemsize
        for first in range(0, len(array), step):
            block = np.ascontiguousarray(move(array[first : first + step], np)).view(np.uint8)
            checksum = zlib.crc32(block, checksum)
            file.write(block)
        size = file.tell()
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": size, "crc32": f"{checksum:08x}"}


def _write_table(path: Path, table: pa.Table) -> dict[str, Any]:
    import pyarrow.parquet

    with path.open("wb") as file:
        pyarrow.parquet.write_table(table, file)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "crc32": f"{file_checksum(path):08x}"}


def _write_head(path: Path, head: dict[str, Any]) -> None:
    with path.open("wb") as file:
        file.write(_head_bytes({"format": FORMAT, "version": VERSION} | head))
        file.flush()
        os.fsync(file.fileno())


def _head_bytes(head: Mapping[str, Any]) -> bytes:
    """The content of `graph.json`, with its own checksum at the end."""
    checksum = zlib.crc32(json.dumps(head, sort_keys=True).encode())
    return json.dumps(dict(head) | {"crc32": f"{checksum:08x}"}, indent=2).encode() + b"\n"


@dataclass(frozen=True)
class GraphFolder:
    """A saved graph, found whole.

    Attributes
    ----------
    path : Path
    head : dict
        Content of `graph.json`.
    """

    path: Path
    head: dict[str, Any]

    def has(self, file: str) -> bool:
        return file in self.head["files"]

    def array(self, name: str) -> np.ndarray:
        """One of the arrays, mapped."""
        path = self.path / f"{name}.npy"
        try:
            return open_array(path)
        except (OSError, ValueError) as error:
            raise _damaged(path, f"cannot be mapped ({error})") from error

    def table(self, name: str) -> pa.Table:
        import pyarrow.parquet

        path = self.path / f"{name}.parquet"
        try:
            return pyarrow.parquet.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise _damaged(path, f"cannot be read ({error})") from error


def open_folder(folder: Any, verify: bool | None = None) -> GraphFolder:
    """A saved graph, after a look at what its files should be.

    Parameters
    ----------
    folder : path
    verify : bool, optional
        Read every file for its checksum; by default only if together they have up to 1 GiB.  Sizes are always
        compared.

    Raises
    ------
    TravError
        If the folder holds no saved graph, or one of its files is missing or not what was saved.
    """
    path = Path(folder)
    head = _read_head(path / HEAD)
    if verify is None:
        verify = sum(file["bytes"] for file in head["files"].values()) <= CHEAP
    for name, saved in head["files"].items():
        try:
            size = (path / name).stat().st_size
            if size != saved["bytes"]:
                raise _damaged(path / name, f"has {size:,} bytes, and was saved with {saved['bytes']:,}")
            if verify and f"{file_checksum(path / name):08x}" != saved["crc32"]:
                raise _damaged(path / name, "is not what was saved (its checksum does not fit)")
        except FileNotFoundError:
            raise _damaged(path / name, "is missing") from None
        except OSError as error:
            raise _damaged(path / name, f"cannot be read ({error.strerror or error})") from error
    return GraphFolder(path, head)


def _read_head(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
        head = json.loads(content)
    except FileNotFoundError:
        raise TravError(f"{path.parent} holds no saved graph: there is no {path.name} in it.") from None
    except OSError as error:
        raise TravError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValueError:
        head = None
    saved = isinstance(head, dict) and head.get("format") == FORMAT and head.pop("crc32", None)
    if not saved or _head_bytes(head) != content:
        raise _damaged(path, "is no longer what was saved")
    if head["version"] != VERSION:
        raise TravError(
            f"{path} has format version {head['version']}, and this release reads {VERSION}: save the graph "
            f"again with this release."
        )
    return head


def _damaged(path: Path, why: str) -> TravError:
    return TravError(f"{path} {why}: restore it from a copy, or save the graph again.")
