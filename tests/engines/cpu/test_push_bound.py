"""The CPU engine chooses to push up to a share of active edges, which falls with the thread count (G14)."""

from __future__ import annotations

import numba
import numpy as np
import pandas as pd
import pytest

import rapids_trav  # noqa: F401  (registers .trav)
from rapids_trav.engines.cpu.programs import push
from rapids_trav.programs import shipped

N_EDGES = 2400


def first_mode(n_active, **options):
    """Return the mode of the first iteration when the active vertex has `n_active` of the edges."""
    rest = np.arange(N_EDGES - n_active)
    src = np.concatenate([np.zeros(n_active, np.int64), 10_000 + rest])
    dst = np.concatenate([1 + np.arange(n_active), 20_000 + rest])
    graph = pd.DataFrame({"src": src, "dst": dst}).trav.graph(directed=True)
    found = graph.run(shipped.breadth_first(), initial={0: 0}, max_iterations=1, trace=True, **options)
    assert (found.result["value"] == 1).sum() == n_active
    return found.trace["mode"].iloc[0]


@pytest.mark.parametrize("n_threads", [1, 2, 8])
def test_a_synchronous_iteration_pushes_up_to_its_bound(monkeypatch, n_threads):
    """A push runs on one thread, whereas all threads would share a pull or a notification."""
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
    bound = N_EDGES // (push.NARROW * n_threads)
    assert first_mode(bound) == "push"
    assert first_mode(bound + 1) == "notify"


@pytest.mark.parametrize("n_threads", [1, 8])
def test_asynchronous_iterations_push_on_any_number_of_threads(monkeypatch, n_threads):
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", n_threads)
    bound = N_EDGES // push.NARROW
    assert first_mode(bound, asynchronous=True) == "push"
    assert first_mode(bound + 1, asynchronous=True) == "notify"
