"""Compare the speed of the search in this checkout with that in another one, on one GPU.

    python ci/compare_trees.py OTHER_TREE                  # scale 20, 22, 24 and the 4096 grid
    python ci/compare_trees.py OTHER_TREE --graphs rmat22 --roots 32 --rounds 12 --json rows.jsonl

Each checkout has its own process, which builds a graph and keeps it.  The two take turns, each with a batch
of the same roots, so that a card that warms up or slows down affects both.  Times are those of the device,
from events around each search.  All searches of a batch are queued before the first begins, behind copies
that keep the device busy meanwhile.

The ratio is that of the medians over all batches, this checkout over the other; its spread is that of the
ratios of the batches' medians.  Exits with 1 if a ratio is above 1 + --within.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = ("rmat20", "rmat22", "rmat24", "grid4096")
POOL = 16 << 30  # bytes of device memory that each process reserves
COPY_BYTES = 1 << 30
MOST_COPIES = 1 << 12  # copies queued before a batch
ANSWER = "answer "  # prefix of a worker's answers, among other lines that libraries may print


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("other", type=Path, metavar="OTHER_TREE", help="root of the other checkout")
    parser.add_argument("--graphs", default=",".join(GRAPHS), help=f"default: {','.join(GRAPHS)}")
    parser.add_argument("--roots", type=int, default=32, help="of a batch (default: 32; 2 of a grid)")
    parser.add_argument("--rounds", type=int, default=10, help="batches of each (default: 10)")
    parser.add_argument("--within", type=float, default=0.03, help="what counts as unchanged (default: 0.03)")
    parser.add_argument("--json", type=Path, help="append a row for each graph to this file")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.worker:
        work()
        return 0
    slower = []
    for graph in options.graphs.split(","):
        row = compare(options.other.resolve(), graph, options.roots, options.rounds)
        print(
            f"{graph:9} {row['ours_ms']:.5g} ms, the other's {row['theirs_ms']:.5g}: "
            f"ratio {row['ratio']:.4f} ({row['least_ratio']:.4f} to {row['most_ratio']:.4f})",
            flush=True,
        )
        if options.json:
            with options.json.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if row["ratio"] > 1 + options.within:
            slower.append(graph)
    if slower:
        print(f"Slower by more than {options.within:.0%}: {', '.join(slower)}", file=sys.stderr)
    return int(bool(slower))


def compare(other: Path, graph: str, n_roots: int, rounds: int) -> dict[str, Any]:
    """Return the times of both checkouts on one graph, which take turns batch by batch."""
    with ExitStack() as stack:
        ours, theirs = (stack.enter_context(worker(tree)) for tree in (ROOT, other))
        for each in (ours, theirs):
            ask(each, {"graph": graph, "roots": 2 if graph.startswith("grid") else n_roots})
        batches: dict[int, list[list[float]]] = {0: [], 1: []}
        for number in range(rounds):
            order = (0, 1) if number % 2 == 0 else (1, 0)  # so that neither always follows the other
            for side in order:
                batches[side].append(ask((ours, theirs)[side], {"batch": number})["ms"])
    return {"graph": graph, "other": other.name} | of_batches(batches[0], batches[1])


def of_batches(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the medians over all searches, their ratio, and the range of the ratios of the batches."""
    mine, others = (statistics.median(ms for batch in side for ms in batch) for side in (ours, theirs))
    ratios = [
        statistics.median(one) / statistics.median(other) for one, other in zip(ours, theirs, strict=True)
    ]
    return {
        "ours_ms": mine,
        "theirs_ms": others,
        "ratio": mine / others,
        "least_ratio": min(ratios),
        "most_ratio": max(ratios),
        "batches": len(ratios),
        "searches": sum(map(len, ours)),
    }


@contextmanager
def worker(tree: Path) -> Iterator[subprocess.Popen]:
    """Start a process that searches with the package of `tree`."""
    folders = [str(tree), os.environ.get("PYTHONPATH")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))}
    command = [sys.executable, str(Path(__file__).resolve()), str(tree), "--worker"]
    process = subprocess.Popen(
        command, cwd=tree, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        used = ask(process, {})["package"]
        if not Path(used).is_relative_to(tree):
            raise RuntimeError(f"The package of {tree} was to be measured, and {used} was imported.")
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=60)


def ask(process: subprocess.Popen, question: dict[str, Any]) -> dict[str, Any]:
    """Send a worker a line, and wait for its answer."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(question) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith(ANSWER):
            return json.loads(line.removeprefix(ANSWER))
    raise RuntimeError("A worker has ended: its message is above.")


# The rest runs in a worker and may use only what both checkouts have.


def work() -> None:
    """Answer questions from standard input until it ends."""
    import rapids_trav

    bench = None
    for line in sys.stdin:
        question = json.loads(line)
        answer: dict[str, Any] = {}
        if "graph" in question:
            bench = Bench(question["graph"], question["roots"])
        elif "batch" in question:
            assert bench is not None
            answer = {"ms": bench.batch()}
        else:
            answer = {"package": rapids_trav.__file__}
        print(ANSWER + json.dumps(answer), flush=True)


class Bench:
    """A graph on the GPU, and roots that are the same in every process."""

    def __init__(self, name: str, n_roots: int) -> None:
        import cupy
        import numpy as np
        import rmm
        from rmm.allocators.cupy import rmm_cupy_allocator

        try:
            from rapids_trav.engines.interface import BfsOptions
        except ImportError:  # a tree older than the folders of its modules
            from rapids_trav.structures import BfsOptions

        rmm.reinitialize(pool_allocator=True, initial_pool_size=POOL)
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        self._cupy = cupy
        graph = load(name).trav.graph()
        self._view, self._engine, self._options = graph.storage.view("out"), graph.engine, BfsOptions()
        _ = self._view.out, self._view.into
        degrees = graph.degrees()
        ids = degrees["vertex"][degrees["degree"] > 0].to_numpy()
        drawn = np.random.default_rng(1).choice(np.sort(ids), n_roots, replace=False)
        encode, vertex = graph.ids.encoder(), self._view.out.column_indices.dtype
        label = graph.ids.dtypes[0]
        self._sources = [
            encode([cupy.asarray([root], dtype=label)]).astype(vertex) for root in drawn.tolist()
        ]
        self._busy = cupy.empty(COPY_BYTES, np.uint8)
        self._n_copies = 1
        self._search(self._sources[0])  # compiles
        self.batch()

    def _search(self, source: Any) -> Any:
        search = getattr(self._engine, "search", None) or self._engine.bfs  # its name in older trees
        return search(self._view, source, self._options)

    def batch(self) -> list[float]:
        """Return the milliseconds of a search from each root."""
        event, half = self._cupy.cuda.Event, COPY_BYTES // 2
        while True:
            self._cupy.cuda.Device().synchronize()
            for _ in range(self._n_copies):
                self._cupy.copyto(self._busy[:half], self._busy[half:])
            marks = [(event(), event()) for _ in self._sources]
            for (before, after), source in zip(marks, self._sources, strict=True):
                before.record()
                self._search(source)
                after.record()
            late = marks[0][0].done
            self._cupy.cuda.Device().synchronize()
            if not late:
                return [self._cupy.cuda.get_elapsed_time(*pair) for pair in marks]
            if self._n_copies >= MOST_COPIES:
                raise RuntimeError("the searches wait for the device, so they cannot be queued")
            self._n_copies *= 2


def load(name: str) -> Any:
    """Return the edge frame of `rmat<scale>` or `grid<side>`."""
    from rapids_trav import generators

    if name.startswith("rmat"):
        return generators.rmat(int(name.removeprefix("rmat")), library="cudf")
    side = int(name.removeprefix("grid"))
    return generators.grid(side, side, library="cudf")


if __name__ == "__main__":
    sys.exit(main())
