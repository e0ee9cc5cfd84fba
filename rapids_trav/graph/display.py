"""HTML of a graph for notebooks: sizes, a histogram of its degrees, and its memory by place."""

from __future__ import annotations

import numpy as np

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.graph.local import LocalGraph
from rapids_trav.graph.properties import Questions
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.search import HISTOGRAM_BYTES
from rapids_trav.utilities import svg
from rapids_trav.utilities.sizes import readable


def graph_html(text: str, contents: Questions) -> str:
    """Return the text that describes a graph and, if it is in this process, its degrees and memory."""
    text = f"<div>{svg.text_of(text)}</div>"
    if not isinstance(contents, LocalGraph):  # closed, or on the workers of a cluster
        return text
    rows = "".join(
        f"<tr><td>{name}</td><td>{readable(n_bytes)}</td><td>{place}</td></tr>"
        for name, n_bytes, place in contents.structures()
    )
    table = f"<table><tr><th>structure</th><th>bytes</th><th>place</th></tr>{rows}</table>"
    try:
        with holding(contents.budget, HISTOGRAM_BYTES * contents.n_vertices, "a histogram of the degrees"):
            picture = degree_bars(contents)
    except (TravError, MemoryError):  # no room for the degrees
        picture = ""
    return f"<div>{text}{picture}{table}</div>"


def degree_bars(contents: LocalGraph) -> str:
    """Return a histogram of the degrees: the vertices of degree 0, 1, 2 to 3, 4 to 7, and so on."""
    degree, xp = contents.storage.view("out").degrees(), contents.engine.xp
    group = xp.zeros(len(degree), np.int64)
    for power in range(int(degree.max()).bit_length() if len(degree) else 0):
        group += degree >= 1 << power
    counts = move(xp.bincount(group), np).tolist() if len(degree) else []
    labels = ["0", *map(_compact, (1 << power for power in range(len(counts))))]
    return svg.bars(counts, labels[: len(counts)], "vertices of at least this degree, and less than the next")


def _compact(number: int) -> str:
    """Write a power of two in at most four characters."""
    for letter, bits in (("G", 30), ("M", 20), ("k", 10)):
        if number >> bits:
            return f"{number >> bits}{letter}"
    return str(number)
