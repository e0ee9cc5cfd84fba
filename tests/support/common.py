"""Helpers that many tests share: counting GPUs, and converting frames to plain rows.

They are not in `conftest`: there are several of these, and this module can be imported by name.
"""

from __future__ import annotations

import functools
import itertools

import pandas as pd


@functools.cache
def gpu_count() -> int:
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount()
    except Exception:  # a missing package, driver or device each raises its own error
        return 0


def share_gpus(environment, one_each):
    """Have the workers of pytest-xdist take turns at the visible GPUs.

    Each sees one GPU if `one_each`, else all of them in another order.
    """
    if "PYTEST_XDIST_WORKER" not in environment or "CUDA_VISIBLE_DEVICES" not in environment:
        return
    gpus = environment["CUDA_VISIBLE_DEVICES"].split(",")
    first = int(environment["PYTEST_XDIST_WORKER"][2:]) % len(gpus)
    turned = gpus[first:] + gpus[:first]
    environment["CUDA_VISIBLE_DEVICES"] = ",".join(turned[:1] if one_each else turned)


def long_tests_first(items, is_long, n_workers):
    """Return tests in an order in which each worker of pytest-xdist begins with its share of the long ones.

    With "worksteal" each worker starts with an equal part of the list, one after another, and a worker that
    is done takes over the last tests of another's part, but not the one that has begun.
    """
    long = [item for item in items if is_long(item)]
    others = iter([item for item in items if not is_long(item)])
    ordered = []
    for worker in range(n_workers):
        ordered += long[worker::n_workers]
        end = len(items) * (worker + 1) // n_workers
        ordered += itertools.islice(others, max(end - len(ordered), 0))
    return ordered


def to_pandas(frame) -> pd.DataFrame:
    """Return a result of pandas or cuDF as pandas, with nullable integers kept."""
    if isinstance(frame, pd.Series | pd.DataFrame):
        return frame
    if frame.ndim == 1:
        return frame.to_pandas(nullable=frame.dtype.kind in "iu")
    return pd.DataFrame({name: to_pandas(frame[name]) for name in frame.columns})


def rows(frame) -> list[tuple]:
    """Return the rows of a result as tuples of Python values, with None for null."""
    frame = to_pandas(frame)
    return list(zip(*([_plain(value) for value in frame[name]] for name in frame), strict=True))


def _plain(value):
    if not isinstance(value, (tuple, list)) and pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value
