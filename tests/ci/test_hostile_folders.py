"""Forged graph folders and checkpoints: each is refused with a message, or gives the answer of its graph.

One case in five is tried; `ci/try_hostile.py` tries all of them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "ci"))
from hostile import checkpoints, folders
from hostile.cases import Case, outcome

pytestmark = pytest.mark.slow

STEP = 5  # which has no divisor in common with the number of values that each field is set to


@pytest.fixture(scope="module")
def outcomes():
    cases = enumerate([*folders.systematic(), *checkpoints.systematic()])
    return [outcome(case) for i, case in cases if i % STEP == 0 or "untouched" in case.name]


def test_none_has_a_traceback_or_a_wrong_answer(outcomes):
    failed = [f"{found.name}\n{found.detail}" for found in outcomes if found.kind == "failed"]
    assert not failed, f"{len(failed)} failed, of which the first:\n" + "\n".join(failed[:3])


def test_there_are_many_and_both_ends_are_reached(outcomes):
    """Cases that are missing, or that the first check refuses, would test nothing."""
    kinds = Counter(found.kind for found in outcomes)
    assert len(outcomes) > 350 and kinds["answered"] > 50 and kinds["refused"] > 300
    untouched = [found.kind for found in outcomes if "untouched" in found.name]
    assert untouched == ["answered"] * 6


def test_the_runner_tells_failures():
    def wrong():
        raise AssertionError("wrong")

    assert outcome(Case("a: b", wrong)).kind == "failed"
    assert outcome(Case("a: b", lambda: {}["x"])).kind == "failed"
