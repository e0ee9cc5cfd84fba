"""Compare the speed of the search in this checkout with that in another one, on one GPU.

    python ci/compare_trees.py OTHER_TREE                  # scale 20, 22, 24 and the 4096 grid
    python ci/compare_trees.py OTHER_TREE --graphs rmat22 --roots 32 --rounds 12 --json rows.jsonl

Each checkout has its own process, which builds a graph and keeps it.  The two take turns, each with a batch
of the same roots, so that a card that warms up or slows down affects both.  Times are those of the device, by
`device_timings` of the checkout's own benchmarks, whose requirements are those of `python -m benchmarks gpu`.

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GRAPHS = ("rmat20", "rmat22", "rmat24", "grid4096")
POOL = 16  # GiB of device memory that each process reserves
SEED = 1  # of the roots, the same in both
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


def work() -> None:
    """Answer questions from standard input until it ends."""
    import rapids_trav

    batch = None
    for line in sys.stdin:
        question = json.loads(line)
        answer: dict[str, Any] = {}
        if "graph" in question:
            batch = prepared(question["graph"], question["roots"])
        elif "batch" in question:
            assert batch is not None
            answer = {"ms": batch()}
        else:
            answer = {"package": rapids_trav.__file__}
        print(ANSWER + json.dumps(answer), flush=True)


def prepared(name: str, n_roots: int) -> Callable[[], list[float]]:
    """Return a function that times a search from each of some roots of a graph."""
    from benchmarks.gpu.lab import Lab

    lab = Lab(n_roots, SEED, POOL)
    edges = lab.load(name)
    contender, roots = lab.ours(lab.graph(edges)), lab.roots(edges)
    contender.run(contender.prepare(roots[0]))  # compiles

    def batch() -> list[float]:
        return lab.device_timings(contender, roots, lambda *_: None)

    batch()
    return batch


if __name__ == "__main__":
    sys.exit(main())
