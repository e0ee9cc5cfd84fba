"""Pages of asynchronous runs on the GPU, and beside it, are recorded when done, and a killed run goes on."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs.checkpoint import NAME
from rapids_trav.programs.page_journal import SUFFIX
from rapids_trav.programs.run_state import RunState

from . import killed_run
from .paged_views import in_pages, in_pinned_memory
from .program_cases import CASES, gather_view, question, start
from .test_blocks_gpu import PROGRAMS, over_blocks, start_of

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

ROOT = Path(__file__).parents[2]
KILLS = 2


class Pages:
    """The state that a run with these pages goes on from, after each of them."""

    def __init__(self, values, active):
        self.values, self.active = values.copy(), active.copy()
        self.states = []

    def record(self, first, values):
        assert isinstance(values, np.ndarray)
        rows = slice(first, first + len(values))
        self.active[rows] |= self.values[rows] != values
        self.values[rows] = values
        self.states.append((self.values.copy(), self.active.copy()))


@pytest.mark.parametrize("hybrid", [False, True], ids=["gpu", "hybrid"])
@pytest.mark.parametrize(
    ("asked", "mode"), [("components", "notify"), ("sssp", "pull"), ("sssp", "notify"), ("pagerank", "pull")]
)
def test_every_page_of_a_sweep_is_recorded(engine, cpu, asked, hybrid, mode):
    case = CASES["rmat"]
    program, values, active, options = question(asked, case)
    view = gather_view(case, cpu, "float32" if options.weighted else None)
    options = replace(options, asynchronous=True)
    wanted = cpu.run(view, program, start(program, view.n_vertices, values, active, np), options)
    view = in_pinned_memory(engine, view)
    first = start(program, view.n_vertices, values, active, engine.xp)
    pages = Pages(first.values.get(), first.active.get())
    run = engine.run_hybrid if hybrid else engine.run
    one = replace(options, max_iterations=1, record_page=pages.record, mode=mode)
    done = run(in_pages(view, 7, 2), program, first, one)
    assert len(pages.states) == 7 or mode == "notify"
    np.testing.assert_array_equal(pages.values, done.values.get())
    for values, active in pages.states[2:6:3]:
        rest = engine.run(in_pages(view, 4), program, RunState(values, active), options)
        if asked == "pagerank":
            np.testing.assert_allclose(rest.values.get(), wanted.values, rtol=1e-3, atol=1e-5)
        else:
            np.testing.assert_array_equal(rest.values.get(), wanted.values)


@pytest.mark.parametrize("which", ["components", "sssp", "widest"])
def test_blocks_that_have_landed_are_recorded(engine, which):
    program, weight, value, sources = PROGRAMS[which]
    graph = CASES["square"]
    view = gather_view(graph, engine, weight)
    first = start_of(program, graph.n, value, sources, engine.xp)
    pages = Pages(first.values.get(), first.active.get())
    shift = max(len(graph.u) // 24, 1).bit_length()
    done = over_blocks(engine, view, program, first, shift, 2, False, record_page=pages.record)
    assert 0 < len(pages.states) <= sum(row.pages for row in done.trace)
    wanted = engine.run(view, program, first, RunOptions(weighted=weight is not None)).values.get()
    for values, active in pages.states[:: max(len(pages.states) // 5, 1)]:
        state = RunState(engine.xp.asarray(values), engine.xp.asarray(active))
        rest = over_blocks(engine, view, program, state, shift, 3, False)
        np.testing.assert_array_equal(rest.values.get(), wanted)


def test_a_resumed_hybrid_run_does_not_measure_anew(engine, cpu, cpu_takes_one_page):
    from rapids_trav.published.garaph.hybrid import HybridExecutor

    case, states = CASES["rmat"], []
    program, values, active, options = question("pagerank", case)
    view = in_pages(in_pinned_memory(engine, gather_view(case, cpu)), 6)
    first = start(program, view.n_vertices, values, active, engine.xp)
    keep = lambda state, last: states.append(state)  # noqa: E731
    engine.run_hybrid(view, program, first, replace(options, max_iterations=3, checkpoint=keep))
    assert all(number > 0 for number in states[-1].policy.values()) and len(states[-1].policy) == 4
    with HybridExecutor(view, program, replace(first, policy=states[-1].policy), options) as resumed:
        assert resumed.policy == states[-1].policy
        assert resumed.dispatcher.alpha(1.0) is not None


def test_a_cpu_that_gathers_over_all_edges_does_not_work_alone(engine, cpu):
    """Few vertices are active, but PageRank cannot notify, and the CPU takes three times as long per edge."""
    from rapids_trav.published.garaph.hybrid import HybridExecutor

    case = CASES["rmat"]
    program, values, active, options = question("pagerank", case)
    view = in_pages(in_pinned_memory(engine, gather_view(case, cpu)), 6)
    # So much time that the pages of this run do not change the ratio: the CPU leaves the last two to the GPU.
    measured = {"cpu seconds": 3e9, "cpu edges": 1e9, "gpu seconds": 1e9, "gpu edges": 1e9}
    first = replace(start(program, view.n_vertices, values, active, engine.xp), policy=measured)
    with HybridExecutor(view, program, first, options) as executor:
        executor.state.tally = executor.state.tally._replace(scout=1)
        assert executor.dispatcher.alone(1 / view.into.n_edges)
        assert executor.sweep("pull") == "pull"
        assert executor.policy["gpu edges"] > 1e9


def test_an_error_in_a_hybrid_run_names_the_program(engine, cpu):
    def full(state, last):
        raise OSError("no space left")

    case = CASES["rmat"]
    program, values, active, options = question("pagerank", case)
    view = in_pages(in_pinned_memory(engine, gather_view(case, cpu)), 6)
    first = start(program, view.n_vertices, values, active, engine.xp)
    with pytest.raises(OSError, match="no space") as caught:
        engine.run_hybrid(view, program, first, replace(options, checkpoint=full))
    assert caught.value.__notes__ == [f"Raised in a run of program {program.name!r}."]


def killed_after(n_pages, folder, asked):
    """Run in another process, and kill it when it has recorded so many pages; return whether it ran then."""
    command = [sys.executable, str(Path(killed_run.__file__)), str(folder), asked, "0.05"]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": paths}) as child:
        for _ in range(n_pages):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)
        child.stdout.read()
    assert child.returncode in (0, -signal.SIGKILL)
    return child.returncode == -signal.SIGKILL


@pytest.mark.parametrize("asked", killed_run.ASKED)
def test_killed_among_pages(engine, tmp_path, asked):
    moments = random.Random(asked)
    alone = {"hybrid": "pull", "ranks, hybrid": "ranks"}.get(asked, asked)
    wanted = killed_run.answer(killed_run.graph("cpu", None), alone)
    journals = 0
    for _ in range(KILLS):
        if killed_after(moments.randint(1, 6), tmp_path, asked):
            journals += (tmp_path / NAME).with_suffix(SUFFIX).exists()
    assert journals > 0
    of = killed_run.graph("cuda", killed_run.LIMIT)
    found = killed_run.answer(of, asked, checkpoint=tmp_path, checkpoint_every="page", resume=True)
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
    if "ranks" in asked:
        apart = np.abs(found["pagerank"].to_numpy() - wanted["pagerank"].to_numpy()).sum()
        assert apart <= 2 * killed_run.TOLERANCE * 0.85 / 0.15
    else:
        np.testing.assert_array_equal(found["value"].to_numpy(), wanted["value"].to_numpy())
