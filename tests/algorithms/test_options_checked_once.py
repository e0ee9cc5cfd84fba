"""Options are checked when they are created, and not again when a graph uses them."""

from __future__ import annotations

import pandas as pd
import pytest

import rapids_trav  # noqa: F401 -- registers .trav
from rapids_trav.algorithms.options import PagerankOptions, ProgramOptions, SsspOptions
from rapids_trav.algorithms.pagerank import pagerank
from rapids_trav.algorithms.run import run
from rapids_trav.algorithms.sssp import sssp
from rapids_trav.programs import shipped

EDGES = pd.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 3, 0], "w": [1.0, 2.0, 3.0, 4.0]})


class Watched:
    """Number of iterations that counts how often it is converted to an int."""

    def __init__(self) -> None:
        self.asked = 0

    def __index__(self) -> int:
        self.asked += 1
        return 10  # the default number of iterations

    def __eq__(self, other: object) -> bool:
        return other == 10

    __hash__ = None


@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        (SsspOptions, lambda graph, options: sssp(graph, 0, options)),
        (PagerankOptions, lambda graph, options: pagerank(graph, options)),
        (ProgramOptions, lambda graph, options: run(graph, shipped.connected_components(), 0, options)),
    ],
)
def test_asking_a_graph_checks_nothing_again(kind, ask):
    every = Watched()
    options = kind(checkpoint_every=every)
    checks = every.asked
    assert checks > 0
    ask(EDGES.trav.graph(weight="w").contents, options)
    assert every.asked == checks


def test_what_depends_on_the_graph_is_filled_in():
    options = PagerankOptions(alpha=0.5, max_iter=7, tuning={})
    for given, asked in ((True, options.as_program(4, True)), (False, options.as_program(4, False))):
        assert asked == ProgramOptions(weighted=given, parameters=(0.5, 0.25), max_iterations=7, tuning={})
    assert not PagerankOptions(weighted=False).as_program(4, weighted=True).weighted
    assert options.as_program(0, True).parameters == (0.5, 1.0)
