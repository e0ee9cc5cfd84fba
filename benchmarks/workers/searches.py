"""Searches between barriers of the ranks: claims (B1), exchange (B2), direction, phases, grids, scaling (B9).

All settings search from the same roots.  The first roots of each setting are checked by the five rules.  The
distances of all roots must equal those of the default settings, which other code computes in other ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks import graphs
from benchmarks.harness import Row, of_rates, of_times, ratio, short
from benchmarks.scale import model as scale_model
from benchmarks.workers import on_ranks as dask_ranks
from benchmarks.workers.lab import EDGE_FACTOR, PATIENCE, DaskLab, Made, counts, within
from rapids_trav.distributed.ranks.numbering import grid_of
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.multigpu.grid import choose_grid

DEFAULT = "atomics, auto"
LAUNCH = "one launch on each GPU"
SETTINGS: dict[str, Mapping[str, Any]] = {
    DEFAULT: {},
    "sort-unique": {"claim": "sort"},
    "lists": {"exchange": "list"},
    "bitmaps": {"exchange": "bitmap"},
    "bottom-up too": {"bottom_up": True},
    LAUNCH: dask_ranks.AUTO,
}
PARTS = {
    "claims": (DEFAULT, "sort-unique"),
    "exchange": (DEFAULT, "lists", "bitmaps"),
    "direction": (DEFAULT, "bottom-up too"),
    "launch": (DEFAULT, "bottom-up too", LAUNCH),
}
PHASES = ("sum", "expand", "follow", "fold", "settle")


def searched(lab: DaskLab, made: Made, name: str) -> list[list[dict]]:
    """Return the results of each rank for each root; searched once for each graph."""
    if name not in made.found:
        with within(2 * PATIENCE, f"searching with {name}"):
            made.found[name] = made.group.call(
                dask_ranks.search_all, made.roots, dict(SETTINGS[name]), lab.n_checked
            )
    return made.found[name]


def row_of(lab: DaskLab, made: Made, name: str) -> Row:
    """Return the row of a setting: times, rates, traffic and verdict."""
    found, default = searched(lab, made, name), searched(lab, made, DEFAULT)
    ms, base = ([1e3 * one["seconds"] for one in of[0]] for of in (found, default))
    faults = []
    for i, (root, one) in enumerate(zip(made.roots, found[0], strict=True)):
        if one["faults"]:
            faults.append(f"root {root}: {one['faults']}")
        if [rank[i]["digest"] for rank in found] != [rank[i]["digest"] for rank in default]:
            faults.append(f"root {root}: other distances than {DEFAULT}")
    return {
        **made.facts,
        "name": name,
        **of_times(ms),
        **of_rates(ms, [one["edges"] for one in found[0]]),
        "mb_a_rank": short(np.mean([one["bytes"] for rank in found for one in rank]) / 1e6),
        "messages_a_rank": short(np.mean([one["messages"] for rank in found for one in rank])),
        "over_default": ratio(float(np.median(ms)), float(np.median(base))),
        "bytes_over_default": ratio(_total_bytes(found), _total_bytes(default)),
        "checked": sum(one["faults"] is not None for one in found[0]),
        "compared": len(found[0]),
        "wrong": len(faults),
        "note": "; ".join(faults) or found[0][0]["note"],
        **_device_figures(found[0]),
    }


def _device_figures(found: Sequence[dict]) -> Row:
    """Return the times and the rate by the GPUs' clock, which searches in one launch have."""
    if not found or any(one["device_seconds"] is None for one in found):
        return {}
    ms = [1e3 * one["device_seconds"] for one in found]
    rates = of_rates(ms, [one["edges"] for one in found])
    return {"device_ms": short(np.median(ms)), "device_gteps": rates["gteps_harmonic_mean"]}


def settings(lab: DaskLab, scale: int, part: str) -> Iterator[Row]:
    """Yield the rows of one of `PARTS`, on all workers in the squarest grid."""
    made = lab.made(scale, len(lab.workers))
    for name in PARTS[part]:
        row = row_of(lab, made, name)
        if name == "bitmaps":  # B2, as the seed system measured it
            row["lists_over_bitmaps"] = ratio(row_of(lab, made, "lists")["median_ms"], row["median_ms"])
        yield {"table": part, **row}


def phases(lab: DaskLab, scale: int) -> Iterator[Row]:
    """Yield milliseconds of each phase and level, of the slowest rank, for push alone and with bottom-up."""
    made = lab.made(scale, len(lab.workers))
    for name in (DEFAULT, "bottom-up too"):
        yield from _phase_rows(made, name)


def _phase_rows(made: Made, name: str) -> Iterator[Row]:
    for _ in range(2):  # the first is not kept: it may compile
        with within(PATIENCE, "timing phases"):
            told = made.group.call(dask_ranks.levels_of, made.roots[0], dict(SETTINGS[name]))
    for levels in zip(*(one["levels"] for one in told), strict=True):
        yield {
            "table": "phases",
            **made.facts,
            "name": name,
            "level": levels[0]["level"],
            "way": "/".join(sorted({one["direction"] for one in levels})),
            **{key: sum(one[key] for one in levels) for key in ("frontier", "edges", "candidates")},
            "edges_most": max(one["edges"] for one in levels),
            "mb_a_rank": short(np.mean([one["expand_bytes"] + one["fold_bytes"] for one in levels]) / 1e6),
            **{f"{phase}_ms": short(max(one[f"{phase}_ms"] for one in levels)) for phase in PHASES},
        }


def grids(lab: DaskLab, scale: int) -> Iterator[Row]:
    """Yield rows of the default search on one row, one column, and the squarest grid."""
    n = len(lab.workers)
    for shape in dict.fromkeys([choose_grid(n), (1, n), (n, 1)]):
        given = None if shape == choose_grid(n) else shape  # so that it is not built again
        made = lab.made(scale, n, given)
        row = row_of(lab, made, DEFAULT)
        yield {"table": "grids", **row, "imbalance": _imbalance(made)}


def scaling(lab: DaskLab, scales: Sequence[int]) -> Iterator[Row]:
    """Yield the default search on 1, 2, 4, ... workers, of each graph and of one that grows with them."""
    n = len(lab.workers)
    most = graphs.FRAME_ROWS  # in the frame of a worker
    strong = [(scale, k) for scale in scales for k in counts(n) if (EDGE_FACTOR << scale) // k <= most]
    first = max(scales) - (n.bit_length() - 1)
    weak = [(first + k, 1 << k) for k in range(n.bit_length())]
    times: dict[tuple[int, int], float] = {}
    for scale, count in sorted({*strong, *weak}, key=lambda key: (key[1], key[0])):
        made = lab.made(scale, count)
        row = row_of(lab, made, DEFAULT)
        seconds = dict.fromkeys(PHASES, 0.0)
        for level in _phase_rows(made, DEFAULT):
            for phase in PHASES:
                seconds[phase] += level[f"{phase}_ms"]
        row |= {f"{phase}_ms": short(ms) for phase, ms in seconds.items()}
        row["longest_phase"] = max(seconds, key=seconds.__getitem__)
        row |= {"construction_s": short(made.about[0]["seconds"]), "imbalance": _imbalance(made)}
        times[scale, count] = row["median_ms"]
        for table, chosen in (("strong", strong), ("weak", weak)):
            if (scale, count) in chosen:
                one = times.get((scale, 1) if table == "strong" else (first, 1))
                told = ratio(one, row["median_ms"])
                share = told if table == "weak" or told is None else short(told / count)
                yield {"table": f"{table} scaling", **row, "scaling_efficiency": share}


def formula(lab: DaskLab, scale: int) -> Iterator[Row]:
    """Check that lists, bitmaps and auto give one answer and send the exact bytes of `scale_model.count`."""
    made = lab.made(scale, len(lab.workers))
    shape = made.about[0]["shape"]
    chunks = [chunk for rank in made.group.call(dask_ranks.internal_edges) for chunk in rank]
    root = made.roots[0]
    answers, expected = {}, None
    for exchange in ("auto", "list", "bitmap"):
        settings = {"exchange": exchange}
        with within(PATIENCE, f"searching with {exchange}"):
            told = made.group.call(dask_ranks.levels_of, root, settings)
            fixed = made.group.call(dask_ranks.levels_of, root, settings, True)
        answers[exchange] = [(one["digest"], two["digest"], two["predecessors"]) for one, two in
                             zip(told, fixed, strict=True)]  # fmt: skip
        if expected is None:
            expected = _counted(shape, made.about[0]["vertices"], chunks, told[0]["source"])
        sent = scale_model.count(*expected, exchange)
        faults = _differences(told, sent)
        if answers[exchange] != answers["auto"]:
            faults.append("another answer than auto")
        yield {
            "table": "formula",
            **made.facts,
            "name": f"counted bytes, {exchange}",
            "mb_a_rank": short(sent.total.mean() / 1e6),
            "checked": len(told),
            "wrong": len(faults),
            "note": "; ".join(faults) or None,
        }


def _counted(shape: tuple[int, int], n: int, chunks: Sequence, root: int) -> tuple:
    """Return adjacency, distances and grid of a graph whose vertices are distributed over all blocks."""
    grid = grid_of(shape[0] * shape[1], n, shape)
    adjacency = CpuEngine().build_adjacency(lambda: iter(chunks), grid.n_vertices, symmetric=True)
    return adjacency, scale_model.distances(adjacency, root), grid


def _differences(told: Sequence[dict], sent: scale_model.Sent) -> list[str]:
    """Return where ranks sent another number of bytes than was counted."""
    faults = []
    for rank, one in enumerate(told):
        for kind in ("expand", "fold"):
            measured = [level[f"{kind}_bytes"] for level in one["levels"]]
            if measured != (counted := getattr(sent, kind)[:, rank].tolist()):
                faults.append(f"rank {rank}: {kind} of {measured} bytes, counted {counted}")
        for name, counted in (("resolution", sent.resolution), ("total", sent.total)):
            if one[name] != counted[rank]:
                faults.append(f"rank {rank}: {name} of {one[name]} bytes, counted {counted[rank]}")
    return faults


def _total_bytes(found: Sequence[Sequence[dict]]) -> float:
    return float(sum(one["bytes"] for rank in found for one in rank))


def _imbalance(made: Made) -> float:
    held = [one["rank_edges"] for one in made.about]
    return short(max(held) / max(1.0, float(np.mean(held))))
