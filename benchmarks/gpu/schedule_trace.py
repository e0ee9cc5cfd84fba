"""Figures of a run over edges outside the memory, from its trace."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness import Row, ratio, short

SUMS = ("launches", "reloads", "evictions")


def of_trace(trace: Any, entries: int, n_bytes: int, link: float) -> Row:
    """Return what the iterations of a run moved, and how busy the link and the card were.

    Parameters
    ----------
    trace : DataFrame
    entries, n_bytes : int
        All edges, and their bytes.
    link : float
        Bytes a second of a copy.
    """
    trace = trace.to_pandas() if hasattr(trace, "to_pandas") else trace
    copied, seconds = int(trace["bytes"].sum()), trace["milliseconds"].sum() / 1e3
    in_place = int(trace["in_place"].sum()) if "in_place" in trace else 0
    rounds = int(trace["rounds"].sum()) if "rounds" in trace else len(trace)
    row = {
        "iterations": len(trace), "rounds": rounds, "pages": int(trace["pages"].max()),
        "streams": ratio(copied, n_bytes),
        "in_place": ratio(in_place, n_bytes), "bytes_an_edge": ratio(copied, entries * len(trace)),
        "edges_per_edge": ratio(int(trace["edges"].sum()), entries),
        "share_of_link": short((copied + in_place) / max(seconds, 1e-9) / link),
        "overlap": short(float(np.mean(trace["overlap"]))),
    }  # fmt: skip
    row |= {name: int(trace[name].sum()) for name in SUMS if name in trace}
    if "span_what" in trace and seconds:
        row |= {f"{name}_busy": busy(trace, what, seconds) for name, what in SPANS.items()}
    return row


SPANS = {"link": "load", "card": "work"}


def busy(trace: Any, what: str, seconds: float) -> float:
    """Return the share of the time that is covered by spans of this kind, which may overlap each other."""
    names, begins, ends = (
        np.concatenate([np.asarray(part) for part in trace[f"span_{column}"]])
        for column in ("what", "begin", "end")
    )
    chosen = names == what
    return short(covered(begins[chosen].astype(float), ends[chosen].astype(float)) / 1e3 / seconds)


def covered(begins: np.ndarray, ends: np.ndarray) -> float:
    """Return the length of the union of intervals."""
    order = np.argsort(begins)
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    before = np.concatenate([begins[:1], ends[:-1]])
    return float(np.maximum(ends - np.maximum(begins, before), 0).sum())
