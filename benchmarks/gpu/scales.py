"""(a) R-MAT of growing scale, edge factor 16, against pylibcugraph's direction-optimising search.

GTEPS are those of Graph500: the edge tuples in the root's component, each once, over the time of the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchmarks.gpu import versus
from benchmarks.harness import Row

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab

GRAPHS = tuple(f"rmat{scale}" for scale in range(18, 27))
TABLES = {"scales": versus.COLUMNS}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    for row in versus.compare(lab, name, (True,)):
        yield "scales", row
