"""Components and PageRank of a graph that was queried before, without self-loops and repeated edges.

All libraries stop when the ranks change by less than the same total, except igraph, which solves exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.cpu.answers import ALPHA, MAX_ITER, TOL, same_parts
from benchmarks.cpu.contest import Contest, Contestant
from benchmarks.cpu.inputs import Data, title
from benchmarks.cpu.rivals import Rival, ask

GRAPHS = ("facebook", "rmat18")


def programs(data: Data, rivals: Sequence[Rival]) -> Iterator[Contest]:
    """Yield contests of whole calls that return frames."""
    graph = data.graph
    ours = {
        "components": Contestant(
            "rapids_trav", lambda _: graph.components(), lambda frame: frame["component"].to_numpy(), "ours",
            same=same_parts,
        ),
        "pagerank": Contestant(
            "rapids_trav", lambda _: graph.pagerank(alpha=ALPHA, tol=TOL, max_iter=MAX_ITER),
            lambda frame: frame["pagerank"].to_numpy(), "ours",
        ),
    }  # fmt: skip
    for name, contestant in ours.items():
        question = f"`{name}`, {title(data.name)}"
        yield Contest(question, "programs", data.name, [contestant, *ask(rivals, name, data)], [None])
