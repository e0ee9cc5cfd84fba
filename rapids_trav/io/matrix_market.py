"""Reader of Matrix Market files: an entry in row i, column j is an edge from i to j, and ids count from 1."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError
from rapids_trav.io.containers import open_bytes
from rapids_trav.io.formats import reading_error
from rapids_trav.io.tables import EdgeTable
from rapids_trav.utilities.extras import needed_for

BANNER = b"%%MatrixMarket"


def read_matrix_market(path: Path, both_directions: bool) -> EdgeTable:
    """Read the edges of a square matrix: int64 `src` and `dst`, and `weight` unless it is a pattern."""
    with needed_for("Reading a Matrix Market file", "scipy", "mtx"):
        import scipy.io  # imported here, since other formats do not need it
        import scipy.sparse

    try:
        content = open_bytes(path).read()
        if content[: len(BANNER)].lower() == BANNER.lower():  # SciPy knows no other case
            content = BANNER + content[len(BANNER) :]
        text = BytesIO(content)  # SciPy seeks backwards
        rows, columns, _, _, field, symmetry = scipy.io.mminfo(text)
        _check_header(path, rows, columns, field, symmetry)
        text.seek(0)
        if field == "pattern" and (entry := next(_entries(text), None)) and len(entry.split()) > 2:
            raise TravError(
                f"{path.name} is a pattern, but has values: write real or integer in its first line."
            )
        text.seek(0)
        matrix = scipy.io.mmread(text)
    except TravError:
        raise
    except (OSError, ValueError, OverflowError) as error:
        raise reading_error(path, error) from error
    entries = scipy.sparse.coo_array(matrix)
    src, dst = (index.astype(np.int64) + 1 for index in entries.coords)
    frame = pd.DataFrame({"src": src, "dst": dst})
    if field != "pattern":
        frame["weight"] = entries.data
    if symmetry == "symmetric" and not both_directions:
        # The file holds the lower triangle; SciPy returns the whole matrix.
        frame = frame[src >= dst].reset_index(drop=True)
    return EdgeTable(
        frame,
        weight="weight" if field != "pattern" else None,
        directed=symmetry != "symmetric",
        vertices=np.arange(1, rows + 1),
    )


def _entries(text: BytesIO) -> Iterator[bytes]:
    """Yield the lines of entries of a matrix in coordinates."""
    lines = (line for line in text if line.strip() and not line.startswith(b"%"))
    next(lines, None)  # the size
    yield from lines


def _check_header(path: Path, rows: int, columns: int, field: str, symmetry: str) -> None:
    if rows != columns:
        raise TravError(
            f"{path.name} is a {rows} x {columns} matrix, but an adjacency matrix has a row and a column for "
            f"each vertex: give a square one."
        )
    if field == "complex" or symmetry in ("hermitian", "skew-symmetric"):
        raise TravError(
            f"{path.name} is a {field} {symmetry} matrix, which does not describe edges: give pattern, "
            f"integer or real values in general or symmetric form."
        )
