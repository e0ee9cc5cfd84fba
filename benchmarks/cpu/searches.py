"""Searches: breadth-first from one root and from several, and shortest paths by weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks.cpu.answers import of_frame
from benchmarks.cpu.contest import Contest, Contestant, equal
from benchmarks.cpu.inputs import Data, title
from benchmarks.cpu.rivals import Rival, ask
from rapids_trav.engines.interface import BfsOptions

BFS_GRAPHS = ("rmat16", "rmat18", "rmat20", "grid1000", "shuffled-path1000000", "star1000000", "facebook")
SSSP_GRAPHS = (("grid1000", "integers"), ("grid1000", "floats"), ("rmat18", "integers"))
EACH_GRAPH, EACH_SOURCES = "rmat18", (1, 2, 8, 64)
SETS = 5  # number of source sets


def bfs(data: Data, rivals: Sequence[Rival], roots: Sequence[int]) -> Iterator[Contest]:
    """Yield the contest from one root to arrays of distances and predecessors, and to the answer's frame."""
    view, engine, graph = data.view, data.graph.engine, data.graph

    def search(root: int, predecessors: bool = True) -> Any:
        return engine.search(view, np.array([root]), BfsOptions(predecessors=predecessors))

    ours = (
        Contestant("rapids_trav", search, lambda found: found.distance, "ours"),
        Contestant("rapids_trav, frame", graph.bfs, of_frame, "frame"),
        Contestant(
            "rapids_trav, distances only", lambda root: search(root, False), lambda found: found.distance,
            "ours too",
        ),
    )  # fmt: skip
    contestants = [*ours, *ask(rivals, "bfs", data)]
    facts = {"vertices": data.n, "edges": len(data.src)}
    yield Contest(f"BFS, {title(data.name)}", "traversal", data.name, contestants, roots, facts)


def sssp(data: Data, rivals: Sequence[Rival], roots: Sequence[int], weights: str) -> Iterator[Contest]:
    """Yield contests from one root to the frame of distances, and of distances and predecessors.

    The second is among those who also find predecessors.
    """
    others = list(ask(rivals, "sssp", data, root=roots[0]))
    for both in (False, True):
        ours = Contestant(
            "rapids_trav", lambda root, both=both: data.graph.sssp(root, predecessors=both),
            lambda frame: of_frame(frame, np.inf), "ours",
        )  # fmt: skip
        question = (
            f"`sssp`, {title(data.name)}, weights {weights}, {'with predecessors' if both else 'distances'}"
        )
        contestants = [ours, *(one for one in others if one.predecessors or not both)]
        yield Contest(question, "sssp", data.name, contestants, roots, {"weights": weights})


def each(data: Data, rivals: Sequence[Rival], numbers: Sequence[int], seed: int) -> Iterator[Contest]:
    """Yield contests of several searches in one call and one after another: as arrays, and as frames."""
    graph, view, engine, options = data.graph, data.view, data.graph.engine, BfsOptions()

    def single(root: int) -> Any:
        return engine.search(view, np.array([root]), options)

    def distances(found: Sequence[Any]) -> np.ndarray:
        return np.stack([one.distance for one in found])

    def last(roots: Sequence[int]) -> Any:
        for root in roots:
            found = single(root)
        return found

    for number in numbers:
        drawn = data.roots(number * SETS, seed)
        sets = [drawn[i : i + number] for i in range(0, len(drawn) - number + 1, number)]
        arrays = (
            Contestant(
                "rapids_trav", lambda roots: engine.search_each(view, np.array(roots), options),
                lambda found: found.distance, "ours",
            ),
            Contestant(
                "rapids_trav, one after another", lambda roots: [single(root) for root in roots], distances
            ),
            Contestant(
                "rapids_trav, one after another, only the last kept", last, lambda found: found.distance,
                same=lambda ours, theirs: equal(ours[-1], theirs),
            ),
            *ask(rivals, "each", data, number=number),
        )  # fmt: skip
        frames = (
            Contestant(
                "rapids_trav", lambda roots: graph.bfs(list(roots), mode="each"),
                lambda frame: of_frame(frame).reshape(-1, data.n), "ours",
            ),
            Contestant(
                "rapids_trav, one after another", lambda roots: [graph.bfs(root) for root in roots],
                lambda found: np.stack([of_frame(frame) for frame in found]),
            ),
        )  # fmt: skip
        for what, contestants in (("arrays", arrays), ("frames", frames)):
            question = f'`mode="each"`, {title(data.name)}, {number} sources, {what}'
            yield Contest(question, "each", data.name, contestants, sets, {"sources": number})
