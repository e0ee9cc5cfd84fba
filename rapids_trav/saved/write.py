"""Writer of the folder of a saved graph, for `Graph.save` and `Graph.open`.

- `graph.json`: format version, counts, names of the columns, kind of the ids, the size and CRC-32 of each
  other file, and the dtype of each array.
- `row_offsets.npy`, `column_indices.npy`: the adjacency, with undirected edges in both directions.
- `weights.npy`, if the graph has weights: one for each of the column indices.
- `ids.parquet`: the vertex ids in ascending order, unless they are consecutive integers, which
  `graph.json` describes; `categories_<i>.parquet`: the categories of column `i` of the ids, if it is
  categorical.
- `order.npy`, if the vertices are numbered by degree or locality: the place of each in `ids.parquet`.
- `paths_<relaxed>_vertices.npy`, `paths_<relaxed>_starts.npy` and, if the graph has weights,
  `paths_<relaxed>_weights.npy`: the arrays of each path layout that was computed, by the most edges of its
  relaxed paths.  `graph.json` then lists the layouts and has version 2; otherwise it has version 1, which
  releases that keep no layouts read as well.

The folder is written under a temporary name in the same place, `.<name>.<letters>.partial`, and renamed at
the end, so it is complete or does not exist.  If the process is killed, the partial folder stays; the next
save to the same place removes it.  `folder.py` reads the folder back.
"""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.storage.mapped_arrays import preallocate
from rapids_trav.utilities.atomic_files import BLOCK, file_checksum, folder_in_the_making, sync_folder
from rapids_trav.utilities.locations import location, reachable
from rapids_trav.utilities.progress import part_of, report
from rapids_trav.utilities.sizes import readable

FORMAT = "rapids_trav graph"
VERSION = 1
VERSION_WITH_PATHS = 2  # of a graph with path layouts
HEAD = "graph.json"


def paths_array(relaxed: int, part: str) -> str:
    """Return the name of an array of a path layout, without the ending of its file."""
    return f"paths_{relaxed}_{part}"


def is_saved_graph(folder: Any) -> bool:
    """Return whether a path is a saved graph."""
    return (reachable(Path(folder)) / HEAD).is_file()


def write_graph(
    folder: Any,
    head: Mapping[str, Any],
    arrays: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
) -> None:
    """Write a folder of arrays (.npy) and tables (.parquet), completely or not at all."""
    target = free_target(folder)
    n_bytes = sum(array.nbytes for array in arrays.values()) + sum(table.nbytes for table in tables.values())
    made = False
    try:
        with folder_in_the_making(target) as partial:
            made = True
            _refuse_without_room(target, n_bytes)
            partial.chmod(0o777 & ~_umask())
            files: dict[str, dict] = {}
            done = 0
            for name, array in arrays.items():
                with part_of(done, n_bytes, "bytes"):
                    files[f"{name}.npy"] = _write_array(partial / f"{name}.npy", array)
                done += array.nbytes
            for name, table in tables.items():
                files[f"{name}.parquet"] = _write_table(partial / f"{name}.parquet", table)
                done += table.nbytes
                report(done, n_bytes, "bytes")
            _write_head(partial / HEAD, dict(head) | {"files": files})
            sync_folder(partial)
            partial.rename(target)
            sync_folder(target.parent)
    except OSError as error:
        why = error.strerror or error
        if not made:
            raise TravError(f"{folder} cannot be created: {why}; name another folder.") from error
        if taken(error):
            raise in_use(folder) from error
        raise TravError(
            f"{folder} cannot be written: {why}; it needs {readable(n_bytes)}, and nothing is left of it: "
            f"free space there, or name another folder."
        ) from error


def free_target(folder: Any) -> Path:
    """Return the path of the folder to be made, with links resolved; refuse one that is in use."""
    try:
        target = location("folder", folder).resolve()
        there = target.exists()
        if there and (not target.is_dir() or any(target.iterdir())):
            raise in_use(folder)
    except (OSError, RuntimeError) as error:  # a link to itself raises one or the other
        why = getattr(error, "strerror", None) or error
        raise TravError(f"{folder} cannot be created: {why}; name another folder.") from error
    if there and target.is_mount():
        raise TravError(
            f"{folder} is the mount point of a disk, which cannot be replaced: name a folder in it."
        )
    return target


def in_use(folder: object) -> TravError:
    """Return the error for a folder that exists already."""
    return TravError(f"{folder} exists already: remove it first, or name another folder.")


def taken(error: OSError) -> bool:
    """Return whether a rename failed because another save has put its folder in this place."""
    return error.errno in (errno.ENOTEMPTY, errno.EEXIST)


def _refuse_without_room(target: Path, n_bytes: int) -> None:
    free = shutil.disk_usage(target.parent).free
    if free < n_bytes:
        raise TravError(
            f"{target} needs {readable(n_bytes)}, but {target.parent} has {readable(free)} left: free space "
            f"there, or name another folder."
        )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_array(path: Path, array: Any) -> dict[str, Any]:
    """Write a .npy file from an array in a file, in memory or on a GPU; return its entry for the head."""
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
            report(min(first + step, len(array)) * array.dtype.itemsize, array.nbytes, "bytes")
        size = file.tell()
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": size, "crc32": f"{checksum:08x}", "dtype": array.dtype.str}


def _write_table(path: Path, table: pa.Table) -> dict[str, Any]:
    import pyarrow.parquet

    with path.open("wb") as file:
        pyarrow.parquet.write_table(table, file)
        file.flush()
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "crc32": f"{file_checksum(path):08x}"}


def _write_head(path: Path, head: dict[str, Any]) -> None:
    with path.open("wb") as file:
        file.write(head_bytes({"format": FORMAT, "version": VERSION} | head))
        file.flush()
        os.fsync(file.fileno())


def head_bytes(head: Mapping[str, Any]) -> bytes:
    """Return the content of `graph.json`, with its own checksum at the end."""
    checksum = zlib.crc32(json.dumps(head, sort_keys=True).encode())
    return json.dumps(dict(head) | {"crc32": f"{checksum:08x}"}, indent=2).encode() + b"\n"
