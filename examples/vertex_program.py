"""Vertex programs of your own: how wide a load fits through a road network, and who hears the best offer.

    python examples/vertex_program.py

A program says what a vertex computes from its neighbours, in a few functions of numbers.  The library
compiles them and runs them on the CPU or the GPU, in memory or page by page.
"""

from __future__ import annotations

import math

import pandas as pd

from rapids_trav import Program

ROADS = pd.DataFrame(
    [
        ("Bergen", "Voss", 3.5),
        ("Voss", "Oslo", 2.5),
        ("Bergen", "Stavanger", 4.0),
        ("Stavanger", "Kristiansand", 3.5),
        ("Kristiansand", "Oslo", 4.5),
        ("Oslo", "Hamar", 5.0),
        ("Hamar", "Trondheim", 3.0),
        ("Oslo", "Trondheim", 2.0),
    ],
    columns=["src", "dst", "metres"],
)

# The widest way to a place is the widest of those over its neighbours, each as wide as its narrowest road:
# the reducer is the maximum, and along an edge comes the smaller of both numbers.
WIDEST = Program(
    "widest way", dtype="float64", reducer="max", gather=lambda width, metres: min(width, metres)
)

# An offer loses a tenth on its way over each edge, and nobody passes on what is worth less than 1.
BEST_OFFER = Program(
    "best offer",
    dtype="float64",
    reducer="max",
    scatter=lambda offer: offer if offer >= 1 else 0.0,
    gather=lambda offer: 0.9 * offer,
)


def main() -> None:
    graph = ROADS.trav.graph(weight="metres")

    print("Widest load that reaches each place from Bergen, in metres:")
    answer = graph.run(WIDEST, initial={"Bergen": math.inf}, sources="Bergen", weighted=True)
    for place, width in answer.itertuples(index=False):
        print(f"{place:13} {width:g}")

    print("\nBest offer that each place hears of:")
    offers = pd.DataFrame({"vertex": ["Voss", "Trondheim"], "value": [1.2, 1.1]})
    answer, trace = graph.run(BEST_OFFER, initial=offers, trace=True)
    for place, offer in answer.itertuples(index=False):
        print(f"{place:13} {offer:g}")

    print("\nWhat each iteration did:")
    print(trace[["iteration", "mode", "active", "edges"]].to_string(index=False))


if __name__ == "__main__":
    main()
