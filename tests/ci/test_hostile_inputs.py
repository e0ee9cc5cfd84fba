"""A sample of the bad inputs of `ci/hostile`; `ci/try_hostile.py` runs all of them."""

import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "ci"))

from hostile import arguments, columns, commands, dialects, frames, slips, texts
from hostile.cases import outcome

STEPS = {columns: 2, frames: 1, slips: 3, arguments: 3, texts: 1, commands: 12}  # one of so many cases is run
PARTS = 3


@pytest.mark.parametrize("module", STEPS, ids=lambda module: module.__name__)
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, PARTS))]
)
@pytest.mark.filterwarnings("ignore")
def test_every_case_is_answered_or_refused(module, part):
    """Cases run one after another; those that need a separate process are left out."""
    chosen = [case for case in module.cases(seed=0) if not case.name.startswith("environments")]
    found = [outcome(case) for case in chosen[:: STEPS[module]][part::PARTS]]
    assert [one for one in found if one.kind == "failed"] == []
    assert {one.kind for one in found} == {"answered", "refused"}


def test_there_are_many_and_no_two_are_the_same():
    names = [case.name for module in STEPS for case in module.cases(seed=0)]
    assert len(names) == len(set(names)) > 5000


def test_tables_in_random_dialects_are_read_back_or_refused():
    cases = itertools.islice(dialects.cases(seed=0), 400)
    found = [outcome(case).kind for case in cases]
    assert found.count("failed") == 0 and found.count("refused") <= 8
