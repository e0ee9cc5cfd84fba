"""A run that `test_killed_pages_gpu.py` kills: `killed_run.py FOLDER QUESTION PAUSE`.

It goes on from the folder's checkpoint, and prints a line for each page that it records.
"""

from __future__ import annotations

import importlib.util
import sys
import time

import numpy as np
import pandas as pd

import rapids_trav
from rapids_trav import generators, programs
from rapids_trav.programs.page_journal import PageJournal

LIMIT = "1.9MB"
TOLERANCE = 1e-3
ASKED = {
    "pull": {"mode": "pull", "schedule": "sweep"},
    "notify": {"mode": "notify", "schedule": "sweep"},
    "hybrid": {"processor": "hybrid", "mode": "pull"},
    "ranks": {"tol": TOLERANCE, "asynchronous": True, "max_iter": 500},
    "ranks, hybrid": {"tol": TOLERANCE, "asynchronous": True, "max_iter": 500, "processor": "hybrid"},
}


def graph(engine: str, limit: str | None) -> rapids_trav.Graph:
    return generators.rmat(13, 16, seed=1).trav.graph(engine=engine, memory_limit=limit)


def answer(of: rapids_trav.Graph, question: str, **options: object) -> pd.DataFrame:
    asked = ASKED[question] | options
    if question.startswith("ranks"):
        return of.pagerank(**asked)
    labels = programs.connected_components()
    return of.run(labels, initial=range(of.n_vertices), direction="both", asynchronous=True, **asked)


def main(folder: str, question: str, pause: str) -> None:
    if importlib.util.find_spec("emulated_gpu"):  # without a GPU, as the plugin does for pytest
        import emulated_gpu

        emulated_gpu.pytest_configure()
    recorded = PageJournal.record

    def slowly(self: PageJournal, first: int, values: np.ndarray) -> None:
        recorded(self, first, values)
        print("recorded", flush=True)
        time.sleep(float(pause))

    PageJournal.record = slowly
    answer(graph("cuda", LIMIT), question, checkpoint=folder, checkpoint_every="page", resume=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
