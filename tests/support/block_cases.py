"""Helpers for runs over blocks of any size with any loader, and graphs for them."""

from __future__ import annotations

import numpy as np

from rapids_trav import Program
from rapids_trav.engines.blocks.cut import cut
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cpu.programs.blocks.executor import Blocks, Loader
from rapids_trav.engines.iterations import iterate
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.run_state import RunState


def widest(dtype):
    return Program("widest", dtype, "max", gather=lambda message, weight: min(message, weight))


def view_of(n, src, dst, weights=None, directed=True):
    src, dst = np.asarray(src, np.int64), np.asarray(dst, np.int64)
    engine, own = CpuEngine(), () if weights is None else (np.asarray(weights),)

    def build(**how):
        return engine.build_adjacency(lambda: iter([(src, dst, *own)]), n, **how)

    out = build(symmetric=not directed)
    into = build(transpose=True) if directed else out
    weights = (None, None) if weights is None else (into.weights, out.weights)
    return GatherView(into, out, weights[0], np.diff(out.row_offsets), out_weights=weights[1])


def from_sources(program, n, *sources):
    """Return the state in which the sources have the value 0 and are active."""
    values, active = np.full(n, program.identity), np.zeros(n, bool)
    values[list(sources)], active[list(sources)] = 0, True
    return RunState(values, active)


def over_blocks(view, program, state, shift=2, n_places=2, loading=Loader, **options):
    """Run a program to its end, in blocks of 1 << shift edges."""
    asked = RunOptions(asynchronous=True, weighted=view.weights is not None, **options)
    with Blocks(view, program, state, asked, cut(view.out.row_offsets, shift, n_places), loading) as blocks:
        return iterate(blocks, program, state, asked)


def swept(view, program, state):
    return CpuEngine().run(view, program, state, RunOptions(mode="pull", weighted=view.weights is not None))


def lattice(side, seed=0):
    """Return a weighted lattice, in its natural order."""
    i = np.arange(side * side).reshape(side, side)
    src = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()])
    dst = np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
    weights = np.random.default_rng(seed).integers(1, 256, len(src))
    return view_of(side * side, src, dst, weights, directed=False)


def path(n, seed=None):
    """Return a one-way path whose ids are in order or shuffled, and the vertices in the path's order."""
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    return view_of(n, order[:-1], order[1:]), order
