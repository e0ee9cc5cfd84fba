"""Cases of bad input, and the runner that classifies their outcomes."""

from __future__ import annotations

import contextlib
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rapids_trav.errors import TravError


@dataclass(frozen=True)
class Case:
    """A case of bad input.

    Attributes
    ----------
    name : str
        "class: detail"; outcomes are counted by class.
    run : callable
        Tries the input.  Returns normally if the answer is correct, raises `TravError` if the input is
        refused, and `AssertionError` if the answer is wrong.
    """

    name: str
    run: Callable[[], object]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a case: "answered", "refused" or "failed", with the traceback of a failure."""

    name: str
    kind: str
    detail: str = ""


def outcome(case: Case) -> Outcome:
    """Run one case in a new folder, where it may write freely."""
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            case.run()
    except TravError as error:
        sentence = str(error)
        if not sentence or "\n" in sentence:
            return Outcome(case.name, "failed", f"the message is not one sentence: {sentence!r}")
        return Outcome(case.name, "refused", sentence)
    except Exception:
        return Outcome(case.name, "failed", traceback.format_exc())
    return Outcome(case.name, "answered")


def report(cases: Iterable[Case]) -> int:
    """Run the cases, print a line for each class and every failure, and return the number of failures."""
    outcomes = [outcome(case) for case in cases]
    counts = Counter((found.name.partition(":")[0], found.kind) for found in outcomes)
    kinds = ("answered", "refused", "failed")
    print(f"{'class':40}" + "".join(f"{kind:>10}" for kind in kinds))
    for name in sorted({name for name, _ in counts}):
        print(f"{name:40}" + "".join(f"{counts[name, kind]:10}" for kind in kinds))
    totals = Counter(found.kind for found in outcomes)
    print(f"{'all':40}" + "".join(f"{totals[kind]:10}" for kind in kinds))
    for found in outcomes:
        if found.kind == "failed":
            print(f"\n{found.name}\n{found.detail}")
    return totals["failed"]
