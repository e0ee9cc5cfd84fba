"""Compiled programs on disk: a second process compiles nothing, and no two programs are confused."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Program
from rapids_trav.programs import shipped
from rapids_trav.programs.digest import program_digest

# Compiles or loads the programs in the order that the argument gives. One process can thus load programs
# that several processes compiled, whose symbols Numba numbers alike.
SCRIPT = """
import sys
import numpy as np
from numba.core import event
from rapids_trav import Program
from rapids_trav.programs import shipped as programs
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.programs.run_state import RunState

def made(step):
    return Program("step", "int32", "min", gather=lambda message: message + step if message < 99 else 99)

known = {"labels": programs.connected_components(), "one": made(1), "two": made(2)}
into = Adjacency(np.array([0, 0, 1, 2]), np.array([0, 1], "int32"))
out = Adjacency(np.array([0, 1, 2, 2]), np.array([1, 2], "int32"))
view = GatherView(into, out, None, np.array([1, 1, 0]))
start = RunState(np.array([0, 99, 99], "int32"), np.ones(3, bool))
with event.install_recorder("numba:run_pass") as recorder:
    for name in sys.argv[1].split(","):
        print(name, *CpuEngine().run(view, known[name], start, RunOptions(mode="pull")).values)
passes = {record[1].data["qualname"] for record in recorder.buffer}
print("compiled", sum(name.startswith("rounds_") for name in passes))
"""
ENDS = {"labels": "0 0 0", "one": "0 1 2", "two": "0 2 4"}


def run_with(folder, names):
    """Run the script, check the lines that it prints, and return how many kernels it compiled."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, ",".join(names)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *lines, last = done.stdout.splitlines()
    assert lines == [f"{name} {ENDS[name]}" for name in names]
    return int(last.split()[1])


@pytest.mark.slow
def test_processes_share_what_is_compiled_and_mix_nothing(tmp_path):
    assert run_with(tmp_path, ["one"]) == 1
    assert run_with(tmp_path, ["two"]) == 1
    assert run_with(tmp_path, ["two", "one"]) == 0
    damaged = next(tmp_path.rglob("kernels.rounds_*.nbc"))
    damaged.write_bytes(damaged.read_bytes()[:100])
    assert run_with(tmp_path, ["labels", "two", "one"]) == 2


def maker(step, scale=1):
    def gather(message):
        return message * scale + step

    return gather


def of(**functions):
    return program_digest(Program("p", "int64", "min", **functions))


FACTOR = 3
TABLE = np.array([1, 2, 3])
HOLDER = type("Holder", (), {"factor": 2})()


def test_digests_tell_programs_apart():
    digests = [
        of(),
        of(gather=maker(1)),
        of(gather=maker(2)),
        of(gather=maker(1.0)),
        of(gather=maker(True)),
        of(gather=maker(1, 2)),
        of(scatter=maker(1)),
        of(gather=lambda message: message + FACTOR),
        of(gather=lambda message: message - FACTOR),
        of(gather=lambda message: message + TABLE[0]),
        of(gather=lambda message: math.floor(message)),
        of(gather=lambda message: math.ceil(message)),
        of(gather=lambda message, weight: message),
        program_digest(Program("p", "int32", "min")),
        program_digest(Program("p", "int64", "max")),
        program_digest(Program("p", "int64", "min", tolerance=1.0)),
    ]
    assert None not in digests
    assert len(set(digests)) == len(digests)


def test_digests_follow_what_functions_take_in(monkeypatch):
    before = of(gather=lambda message: message + FACTOR), of(gather=lambda message: message + TABLE[0])
    monkeypatch.setitem(globals(), "FACTOR", 4)
    monkeypatch.setitem(globals(), "TABLE", np.array([1, 2, 4]))
    after = of(gather=lambda message: message + FACTOR), of(gather=lambda message: message + TABLE[0])
    assert before[0] != after[0] and before[1] != after[1]


def test_digests_do_not_depend_on_names_and_tolerances():
    assert program_digest(Program("a", "int32", "min")) == program_digest(Program("b", "int32", "min"))
    ranks = [shipped.pagerank(tolerance) for tolerance in (1e-3, 1e-9)]
    assert program_digest(ranks[0]) == program_digest(ranks[1])


def test_digests_do_not_depend_on_where_a_function_is_written():
    source = "gather = lambda message: message + 1"
    within = "def make():\n    return lambda message: message + 1\ngather = make()"
    digests = set()
    for text in (source, within, f"from __future__ import annotations\n{source}"):
        names = {}
        exec(compile(text, "program", "exec", dont_inherit=True), names)
        digests.add(of(gather=names["gather"]))
    assert len(digests) == 1 and None not in digests


@pytest.mark.parametrize("function", [lambda message: message + HOLDER.factor])
def test_what_cannot_be_told_has_no_digest(function):
    assert of(gather=function) is None


def test_two_functions_in_one_place():
    """The same closures in another arrangement are a different program."""
    one, other = maker(1), maker(2)

    def pair(first, second, third):
        return lambda message: first(second(third(message)))

    digests = {
        of(gather=pair(*order)) for order in ((one, other, one), (one, other, other), (other, one, one))
    }
    assert len(digests) == 3


# ---- an error that is raised in the run of a vertex program names the program


EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})


def odd(value, degree):
    if value % 2:
        raise ValueError("odd")
    return value


@pytest.mark.parametrize("mode", ["pull", "push"])
def test_an_error_of_a_function_keeps_its_type_and_names_it(mode):
    program = Program("even", "int64", "min", scatter=odd)
    with pytest.raises(ValueError, match="odd") as caught:
        EDGES.trav.graph().run(program, initial=1, mode=mode)
    assert caught.value.__notes__ == ["Raised in a run of program 'even'."]


def test_an_error_that_ends_a_run_names_the_program(tmp_path, monkeypatch):
    from rapids_trav.programs import checkpoint

    def full(*given, **how):
        raise OSError("no space left")

    monkeypatch.setattr(checkpoint.Writer, "write", full)
    with pytest.raises(OSError, match="no space") as caught:
        EDGES.trav.graph().run(Program("p", "int64", "min"), initial=1, checkpoint=tmp_path)
    assert caught.value.__notes__ == ["Raised in a run of program 'p'."]
