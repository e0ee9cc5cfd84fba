"""Reader of the folder of a saved graph; `write.py` documents its files.

Arrays are mapped, not read, and kernels do not check array bounds.  Therefore the contents are checked when
the files are opened, whatever their checksums say.  Values that address memory are always checked; with
`verify`, so is everything else that correct answers require.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.errors import TravError, first_line
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.saved.head import OFFSETS, WEIGHTS, Head, SavedFile, damaged, parse_head
from rapids_trav.saved.write import HEAD
from rapids_trav.storage.mapped_arrays import open_array
from rapids_trav.utilities.atomic_files import file_checksum, open_plain, plain_size
from rapids_trav.utilities.locations import location
from rapids_trav.utilities.progress import part_of, report

CHEAP = 1 << 30  # bytes up to which everything is verified by default, which takes less than a second
LARGE = re.compile(r"(column_indices|weights|paths_.*)\.npy")  # files that may be larger than memory
BLOCK = 1 << 22  # entries checked at once
LONGEST_HEAD = 1 << 24  # bytes


@dataclass(frozen=True)
class GraphFolder:
    """A saved graph whose files have been checked against its head."""

    path: Path
    head: Head  # the content of `graph.json`
    verify: bool  # whether to check everything that correct answers require

    def has(self, file: str) -> bool:
        return file in self.head.files

    def array(self, name: str, *types: str) -> np.ndarray:
        """Map an array, and check that it has one of the given types."""
        path = self.path / f"{name}.npy"
        try:
            array = open_array(path)
        except (OSError, ValueError) as error:
            raise damaged(path, f"cannot be mapped ({error})") from error
        saved = self.head.files[path.name].dtype
        if saved is not None and array.dtype.str != saved:
            raise damaged(path, f"holds {array.dtype.str}, but was saved as {saved}")
        if array.dtype.str not in types:
            raise damaged(path, f"holds {array.dtype.str}, but should hold {' or '.join(types)}")
        return array

    def vertices(self, name: str) -> np.ndarray:
        """Map an array of internal ids, and check that each is a vertex of the graph."""
        n = self.head.n_vertices
        array = self.array(name, vertex_dtype(n).str)
        if not _below(array, n):
            what = "places" if name == "order" else "edges"
            raise damaged(self.path / f"{name}.npy", f"holds {what} to none of the {n:,} vertices")
        return array

    def weights(self, name: str) -> np.ndarray:
        """Map an array of weights, and check that none is NaN."""
        weights = self.array(name, *WEIGHTS)
        if _has_nan(weights):
            raise damaged(self.path / f"{name}.npy", "holds NaN, which is not a weight")
        return weights

    def edges(self) -> Adjacency:
        """Map the adjacency, and check that no kernel can read out of bounds.

        Every edge must lead to a vertex, and no weight may be NaN.  This check takes a twentieth of a second
        for each GB that is in memory.  With `verify`, which takes as long as the checksums, rows must also be
        in ascending order, an undirected graph must have each edge both ways, and the number of edges must be
        that in the head.
        """
        head = self.head
        offsets, columns = self.array("row_offsets", *OFFSETS), self.vertices("column_indices")
        weights = self.weights("weights") if self.has("weights.npy") else None
        fewest, most = head.n_edges, head.n_edges * (1 if head.directed else 2)
        fitting = (
            len(offsets) == head.n_vertices + 1
            and int(offsets[0]) == 0
            and int(offsets[-1]) == len(columns)
            and ascend(offsets)
            and fewest <= len(columns) <= most
            and (weights is None or len(weights) == len(columns))
        )
        if not fitting:
            raise TravError(f"{self.path} holds arrays that do not fit together: save the graph again.")
        edges = Adjacency(offsets, columns, weights=weights)
        if self.verify:
            self._verify(edges)
        return edges

    def _verify(self, edges: Adjacency) -> None:
        from rapids_trav.saved.check import (
            look_through,  # imports Numba, which opening without `verify` does not need
        )

        head, found = self.head, look_through(edges)
        path = self.path / "column_indices.npy"
        if not found.ascending:
            raise damaged(path, "holds a row that is not in ascending order")
        if head.directed:
            return
        if not found.symmetric:
            raise damaged(path, "holds an undirected edge that does not lead both ways with one weight")
        if edges.n_edges + found.n_loops != 2 * head.n_edges:
            n_edges = (edges.n_edges + found.n_loops) // 2
            raise damaged(self.path / HEAD, f"states {head.n_edges:,} edges, but there are {n_edges:,}")

    def table(self, name: str, columns: list[str], n_rows: int | None = None) -> pa.Table:
        """Read a table, and check its columns and, if `n_rows` is given, its number of rows."""
        import pyarrow.parquet

        path = self.path / f"{name}.parquet"
        try:
            with open_plain(path) as file:
                parquet = pyarrow.parquet.ParquetFile(file)
                found, rows = parquet.schema_arrow.names, parquet.metadata.num_rows
                if found != columns or n_rows not in (None, rows):
                    raise ValueError(
                        f"it has {rows:,} rows of the columns {', '.join(found)}, which do not fit the graph"
                    )
                return parquet.read()
        except MemoryError:
            raise
        except Exception as error:  # on invalid bytes, a Parquet reader may raise any exception
            raise damaged(path, f"cannot be read ({first_line(error)})") from error


def open_folder(folder: object, verify: bool | None = None) -> GraphFolder:
    """Open a saved graph after checking its files against its head.

    With `verify`, by default if the files have up to 1 GiB in all, the checksum of every file is compared,
    and every edge is checked.  Otherwise the files of edges and weights are left out here, and `edges` checks
    only their values.  Sizes are always compared.
    """
    path = location("folder", folder)
    head = _read_head(path / HEAD)
    if verify is None:
        verify = sum(file.n_bytes for file in head.files.values()) <= CHEAP
    n_bytes, done = sum(file.n_bytes for file in head.files.values()), 0
    for name, saved in head.files.items():
        with part_of(done, n_bytes, "bytes"):
            _check_file(path / name, saved, verify or not LARGE.fullmatch(name))
        done += saved.n_bytes
        report(done, n_bytes, "bytes")
    return GraphFolder(path, head, verify)


def _check_file(path: Path, saved: SavedFile, verify: bool) -> None:
    try:
        size = plain_size(path)
        if size != saved.n_bytes:
            raise damaged(path, f"has {size:,} bytes, but was saved with {saved.n_bytes:,}")
        if verify and f"{file_checksum(path):08x}" != saved.crc32:
            raise damaged(path, "is not what was saved (its checksum differs)")
    except FileNotFoundError:
        raise damaged(path, "is missing") from None
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror or error})") from error


def _read_head(path: Path) -> Head:
    try:
        with open_plain(path) as file:
            content = file.read(LONGEST_HEAD + 1)
    except FileNotFoundError:
        if not path.parent.exists():
            raise TravError(f"Folder {path.parent} does not exist: check the path.") from None
        raise TravError(
            f"{path.parent} holds no saved graph, since there is no {path.name} in it: name the folder that "
            f"a graph was saved in."
        ) from None
    except NotADirectoryError:
        raise TravError(f"{path.parent} is a file: name the folder that a graph was saved in.") from None
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror or error})") from error
    if len(content) > LONGEST_HEAD:
        raise damaged(path, f"has more than {LONGEST_HEAD:,} bytes")
    return parse_head(path, content)


def ascend(offsets: np.ndarray) -> bool:
    """Return whether offsets never descend; they are compared, since differences might overflow."""
    blocks = (offsets[i : i + BLOCK + 1] for i in range(0, len(offsets) - 1, BLOCK))
    return all(bool((block[1:] >= block[:-1]).all()) for block in blocks)


def _below(array: np.ndarray, n: int) -> bool:
    """Return whether all values are from 0 to n - 1; as unsigned integers, negative values are large."""
    unsigned = array.view(f"u{array.dtype.itemsize}")
    return all(int(unsigned[i : i + BLOCK].max()) < n for i in range(0, len(array), BLOCK))


def _has_nan(weights: np.ndarray) -> bool:
    """Return whether any weight is NaN; the maximum of a block is NaN if any of its values is."""
    blocks = range(0, len(weights), BLOCK) if weights.dtype.kind == "f" else ()
    return any(bool(np.isnan(weights[i : i + BLOCK].max())) for i in blocks)
