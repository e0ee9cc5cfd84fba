"""Verdict on a breadth-first tree by the five rules of the Graph500 specification."""

from __future__ import annotations

from dataclasses import dataclass, fields

_MEANING = {
    "rule_1": "vertices that do not lead to the root, or a root that is not its own parent",
    "rule_2": "tree edges whose levels do not differ by exactly one",
    "rule_3": "input edges whose levels differ by more than one",
    "rule_4": "input edges that leave the tree",
    "rule_5": "vertices that no input edge joins to their parent",
    "levels": "vertices whose level is not their depth in the tree",
}


@dataclass(frozen=True)
class Verdict:
    """Number of faults under each rule, over all ranks if several hold the tree.

    Attributes
    ----------
    rule_1, rule_2, rule_5 : int
        Vertices that break the rule (a tree edge counts as its child).
    rule_3, rule_4 : int
        Input tuples that break it.
    levels : int
        Vertices whose level, as the search gave it, is not their depth in the tree; 0 if none were given.
    """

    rule_1: int = 0
    rule_2: int = 0
    rule_3: int = 0
    rule_4: int = 0
    rule_5: int = 0
    levels: int = 0

    @property
    def valid(self) -> bool:
        return not self.broken

    @property
    def broken(self) -> dict[str, int]:
        """Return the checks that fail, with their counts."""
        return {field.name: n for field in fields(self) if (n := getattr(self, field.name))}

    def __str__(self) -> str:
        if self.valid:
            return "valid"
        return "; ".join(f"{name}: {n:,} {_MEANING[name]}" for name, n in self.broken.items())
