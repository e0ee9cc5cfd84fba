"""The folder of a saved graph, read back; what is in it, `files.py` tells.

Arrays are mapped, not read, and no kernel looks at the bounds of its arrays: so what is in the files is
checked when they are opened.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rapids_trav.durable import file_checksum
from rapids_trav.errors import TravError
from rapids_trav.ids import vertex_dtype
from rapids_trav.locations import location
from rapids_trav.structures import Adjacency

from .arrays import open_array
from .files import FORMAT, HEAD, VERSION, head_bytes

CHEAP = 1 << 30  # bytes up to which all checksums are compared: less than a second
LARGE = ("column_indices.npy", "weights.npy")  # files that may be larger than memory
BLOCK = 1 << 22  # entries that are looked at at once


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
            array = open_array(path)
        except (OSError, ValueError) as error:
            raise damaged(path, f"cannot be mapped ({error})") from error
        saved = self.head["files"][path.name].get("dtype", array.dtype.newbyteorder("=").str)
        if array.dtype.str != saved:
            raise damaged(path, f"holds {array.dtype.str}, and was saved as {saved}")
        return array

    def edges(self) -> Adjacency:
        """The adjacency, of mapped arrays, in which no kernel can go astray.

        Every edge leads to a vertex: to see that takes a twentieth of a second for each GB that is in memory,
        a tenth of what a checksum takes.
        """
        offsets, columns = self.array("row_offsets"), self.array("column_indices")
        weights = self.array("weights") if self.has("weights.npy") else None
        n = self.head["n_vertices"]
        fitting = (
            len(offsets) == n + 1
            and offsets.dtype.kind == "i"
            and columns.dtype == vertex_dtype(n)
            and int(offsets[0]) == 0
            and int(offsets[-1]) == len(columns)
            and _ascend(offsets)
            and (weights is None or (len(weights) == len(columns) and weights.dtype.kind in "if"))
        )
        if not fitting:
            raise TravError(f"{self.path} holds arrays that do not fit together: save the graph again.")
        if not _below(columns, n):
            raise damaged(self.path / "column_indices.npy", f"holds edges to none of the {n:,} vertices")
        return Adjacency(offsets.astype("int64", copy=False), columns, weights=weights)

    def table(self, name: str) -> pa.Table:
        import pyarrow.parquet

        path = self.path / f"{name}.parquet"
        try:
            return pyarrow.parquet.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise damaged(path, f"cannot be read ({error})") from error


def open_folder(folder: Any, verify: bool | None = None) -> GraphFolder:
    """A saved graph, after a look at what its files should be.

    Parameters
    ----------
    folder : path
    verify : bool, optional
        Read every file for its checksum; by default if together they have up to 1 GiB.  Otherwise the edges
        and their weights are left out, which `edges` then looks through.  Sizes are always compared.

    Raises
    ------
    TravError
        If the folder holds no saved graph, or one of its files is missing or not what was saved.
    """
    path = location("folder", folder)
    head = _read_head(path / HEAD)
    if verify is None:
        verify = sum(file["bytes"] for file in head["files"].values()) <= CHEAP
    for name, saved in head["files"].items():
        try:
            size = (path / name).stat().st_size
            if size != saved["bytes"]:
                raise damaged(path / name, f"has {size:,} bytes, and was saved with {saved['bytes']:,}")
            if (verify or name not in LARGE) and f"{file_checksum(path / name):08x}" != saved["crc32"]:
                raise damaged(path / name, "is not what was saved (its checksum does not fit)")
        except FileNotFoundError:
            raise damaged(path / name, "is missing") from None
        except OSError as error:
            raise damaged(path / name, f"cannot be read ({error.strerror or error})") from error
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
    if not saved or head_bytes(head) != content:
        raise damaged(path, "is no longer what was saved")
    if head["version"] != VERSION:
        raise TravError(
            f"{path} has format version {head['version']}, and this release reads {VERSION}: save the graph "
            f"again with this release."
        )
    return head


def damaged(path: Path, why: str) -> TravError:
    return TravError(f"{path} {why}: restore it from a copy, or save the graph again.")


def _ascend(offsets: np.ndarray) -> bool:
    starts = range(0, len(offsets) - 1, BLOCK)
    return all(bool((np.diff(offsets[i : i + BLOCK + 1]) >= 0).all()) for i in starts)


def _below(columns: np.ndarray, n: int) -> bool:
    """Whether all are from 0 to n - 1; as unsigned integers negative ones are large."""
    unsigned = columns.view(f"u{columns.dtype.itemsize}")
    return all(int(unsigned[i : i + BLOCK].max()) < n for i in range(0, len(columns), BLOCK))
