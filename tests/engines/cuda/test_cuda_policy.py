"""Changes of direction in the CUDA engine's direction-optimising search, against the published rules."""

from typing import get_args

import pytest

from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.cli.questions import VARIANTS
from rapids_trav.errors import TravError
from rapids_trav.published.pmpp.policy import Beamer, Gap, make_policy
from rapids_trav.tuning import Policy


def turns(policy, levels):
    return [policy.choose(frontier, scout) for frontier, scout in levels]


def gap_reference(n_vertices, n_edges, levels, alpha=15, beta=18):
    """Run the loop of GAP's bfs.cc on the (frontier, scout) pairs that its steps would have found."""
    directions, edges_to_check, position = [], n_edges, 0
    frontier, scout = levels[0]
    while position < len(levels):
        if scout > edges_to_check // alpha:
            awake = frontier
            while True:
                old_awake = awake
                directions.append("pull")
                position += 1
                if position == len(levels):
                    return directions
                awake = levels[position][0]
                if not (awake >= old_awake or awake > n_vertices // beta):
                    break
            frontier, scout = awake, 1
        else:
            edges_to_check -= scout
            directions.append("push")
            position += 1
            if position < len(levels):
                frontier, scout = levels[position]
    return directions


LEVELS = [
    [(1, 4), (4, 30), (30, 800), (500, 9000), (400, 3000), (30, 90), (5, 9), (1, 2)],
    [(1, 9000), (900, 50), (40, 60), (40, 70), (41, 3), (2, 900), (1, 1)],
    [(3, 6)] * 12,
    [(1, 0)],
    [(1, 1), (600, 2000), (70, 3), (60, 600), (50, 1), (49, 14)],
]


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("n_edges", [20, 1000, 15000])
def test_gap_is_the_loop_of_its_reference(levels, n_edges):
    assert turns(Gap(1000, n_edges), levels) == gap_reference(1000, n_edges, levels)


def test_gap_divides_integers():
    """29 // 15 is 1: two edges exceed it, and one does not."""
    assert turns(Gap(10, 29), [(1, 2)]) == ["pull"]
    assert turns(Gap(10, 29), [(1, 1)]) == ["push"]


def test_beamer_pulls_above_a_14th_and_returns_below_a_24th():
    """With 1500 edges and 100 in the frontier, 1400 / 14 is exactly 100; a pull needs more than that."""
    assert turns(Beamer(2400, 1500), [(10, 100)]) == ["push"]
    assert turns(Beamer(2400, 1501 + 14), [(10, 102)]) == ["pull"]
    assert turns(Beamer(2400, 1500), [(10, 500), (100, 10), (99, 10)]) == ["pull", "pull", "push"]


def test_forced_directions_and_unknown_names():
    assert turns(make_policy("push", 10, 10), [(1, 10), (9, 90)]) == ["push", "push"]
    assert turns(make_policy("pull", 10, 10), [(1, 0), (1, 0)]) == ["pull", "pull"]
    with pytest.raises(TravError, match=r"^policy='clever' is not known: choose one of 'gap', 'beamer', "):
        make_policy("clever", 10, 10)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("policy", [None, *get_args(Policy)])
def test_a_policy_is_for_the_variant_that_turns(variant, policy):
    tuning = None if policy is None else {"policy": policy}
    if policy is None or variant == "direction":
        assert SearchOptions(variant=variant, tuning=tuning).policy == (policy or "gap")
    else:
        with pytest.raises(TravError, match=f"policy='{policy}' applies only to the variant 'direction': "):
            SearchOptions(variant=variant, tuning=tuning)
