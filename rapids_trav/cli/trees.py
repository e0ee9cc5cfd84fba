"""A part of a search's tree, as text."""

from __future__ import annotations

from rich.text import Text
from rich.tree import Tree

from rapids_trav.algorithms.search_tree import SearchTree
from rapids_trav.cli.report import count

MOST_VERTICES, DEEPEST = 16, 8
LONGEST = 40  # letters of an id


def tree_text(tree: SearchTree, encoding: str = "utf-8") -> Tree:
    """Return the vertices of the largest branches, each below its predecessor, for a screen's encoding."""
    part = tree.part(MOST_VERTICES, DEEPEST)
    whole = len(part) == len(tree.parent)
    some = "" if whole else f", {len(part)} of {len(tree.parent):,} vertices: the largest branches"
    top = Tree(f"{tree.title}{some}")
    above = [top]
    for shown, name in zip(part, tree.names([shown.row for shown in part]), strict=True):
        del above[shown.depth + 1 :]
        name = name.encode(encoding, "backslashreplace").decode(encoding)
        above.append(above[-1].add(Text(_label(name, shown.children, shown.below))))
    return top


def _label(name: str, children: int, below: int) -> str:
    name = " ".join(name.split())
    name = name if len(name) <= LONGEST else name[: LONGEST - 3] + "..."
    if not below:
        return name
    deeper = "" if below == children else f", {below:,} below"
    return f"{name}: {count(children, 'child', 'children')}{deeper}"
