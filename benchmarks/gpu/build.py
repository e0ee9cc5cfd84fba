"""(f) From the edge frame to a graph that can be searched: time, phases and peak memory, against cuGraph.

Both allocate from one RMM pool with statistics; each builds once unmeasured, to compile and load its kernels.
The peak is the memory held at once beyond the input, which is the bytes of the two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from benchmarks import graphs
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason, short

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab

GRAPHS = ("rmat22", "rmat24")
COLUMNS = (
    "graph", "name", "median_ms", "min_ms", "peak_over_input", "peak_bytes", "input_bytes", "renumber_ms",
    "degree_sort_ms", "adjacency_ms", "over_ours", "note",
)  # fmt: skip
TABLES = {"build": COLUMNS}
REPEATS = 3


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    for row in one(lab, lab.load(name), graphs.is_directed(name)):
        yield "build", row


def one(lab: Lab, edges: Any, directed: bool) -> Iterator[Row]:
    """Yield this package's build and cuGraph's of one frame."""
    input_bytes = int(edges.memory_usage(index=False).sum())
    ours = repeated(lab, lambda: lab.graph(edges, directed=directed), input_bytes)
    yield {"name": "rapids_trav", **ours}
    try:
        theirs = repeated(lab, lambda: lab.cugraph(edges, directed), input_bytes)
    except REFUSALS as error:
        yield {"name": "cugraph", "note": f"not measured, {reason(error)}"}
        return
    yield {"name": "cugraph", **theirs, "over_ours": ratio(theirs["median_ms"], ours["median_ms"])}


def repeated(lab: Lab, build: Callable[[], Any], input_bytes: int) -> Row:
    """Return times and peak of a few builds, each dropped before the next, and the phases of the last."""
    build()
    ms, peak, phases = [], 0, {}
    for _ in range(REPEATS):
        graph, seconds, held = lab.peak_bytes(build)
        ms.append(1e3 * seconds)
        peak = max(peak, held)
        phases = phase_times(graph)
        del graph
    memory = {
        "peak_over_input": short(peak / input_bytes), "peak_bytes": peak, "input_bytes": input_bytes,
    }  # fmt: skip
    return {**of_times(ms), **memory, **phases}


def phase_times(graph: Any) -> Row:
    """Return the milliseconds of each phase that this package's graph has timed; cuGraph's has none."""
    seconds = getattr(graph, "build_times", {})
    return {f"{phase.replace(' ', '_')}_ms": short(1e3 * s) for phase, s in seconds.items()}
