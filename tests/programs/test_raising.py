"""Errors that a vertex program's own functions raise say which program and which function it was."""

import linecache

import numba
import pandas as pd
import pytest

from rapids_trav import Program, TravError
from rapids_trav.programs.digest import ProgramKey, program_digest

EDGES = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3]})


class OddValueError(ValueError):
    """An error of the user's own."""


@numba.njit
def checked(value):
    if value > 2:
        raise KeyError("too far")
    return value


def even(value, degree):
    if value % 2:
        raise OddValueError("odd")
    return value


def positive(value, degree):
    if value <= 0:
        raise AssertionError("not positive")
    return value


RAISING = {
    "scatter": (Program("p", "int64", "min", scatter=even), OddValueError),
    "gather": (Program("p", "int64", "min", gather=lambda message: checked(message + 1)), KeyError),
    "total": (Program("p", "float64", "sum", apply=lambda a, b, c: a, total=positive), AssertionError),
    "scatter or total": (Program("p", "int64", "sum", scatter=even, total=even), OddValueError),
}


@pytest.mark.parametrize(("function", "mode"), [*((name, "pull") for name in RAISING), ("gather", "push")])
def test_the_error_keeps_its_type_and_names_the_function(function, mode):
    program, kind = RAISING[function]
    graph = EDGES.trav.graph(directed=True)
    with pytest.raises(kind) as caught:
        graph.run(program, initial=[-1, 2, 2, 2], mode=mode)
    assert type(caught.value) is kind
    assert caught.value.__notes__ == [f"Raised by {function} of program 'p'."]


def test_an_error_that_mentions_a_tuple_stays_the_user_s():
    def gather(message):
        if message == 7:
            raise IndexError("no tuple for 7")
        return message

    with pytest.raises(IndexError, match=r"^no tuple for 7") as caught:
        EDGES.trav.graph().run(Program("p", "int64", "min", gather=gather), initial=7)
    assert not isinstance(caught.value, TravError)
    assert caught.value.__notes__ == ["Raised by gather of program 'p'."]


GATHER = """
def gather(message):
    if message > 0:
        raise ValueError
    return message
"""


def written_at(line, tmp_path):
    """Return a program whose only `raise` stands at a line of a file."""
    path = tmp_path / "moved.py"
    path.write_text("\n" * (line - 4) + GATHER)
    linecache.checkcache()
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return Program("p", "int64", "min", gather=names["gather"])


def test_a_function_that_was_moved_is_still_known_by_its_line(tmp_path):
    graph = EDGES.trav.graph()
    for line in (4, 9):
        with pytest.raises(ValueError) as caught:
            graph.run(written_at(line, tmp_path), initial=1)
        assert caught.traceback[-1].lineno + 1 == line
        assert caught.value.__notes__ == ["Raised by gather of program 'p'."]


def test_lines_tell_compiled_programs_apart_and_checkpoints_not(tmp_path):
    one, other = written_at(4, tmp_path), written_at(9, tmp_path)
    assert ProgramKey(one) != ProgramKey(other)
    assert ProgramKey(one) == ProgramKey(written_at(4, tmp_path))
    assert program_digest(one) == program_digest(other)


def test_errors_around_the_program_s_functions_name_the_program():
    from rapids_trav.engines.cpu import CpuEngine
    from rapids_trav.engines.runs import RunOptions
    from rapids_trav.programs.run_state import RunState

    def full(state, last):
        raise OSError("no space left")

    graph = EDGES.trav.graph()
    view = graph.storage.gather_view("out", None, False, True)
    program = Program("p", "int64", "min")
    start = RunState(*(graph.engine.xp.ones(4, kind) for kind in ("int64", bool)))
    with pytest.raises(OSError, match="no space") as caught:
        CpuEngine().run(view, program, start, RunOptions(checkpoint=full))
    assert caught.value.__notes__ == ["Raised in a run of program 'p'."]
