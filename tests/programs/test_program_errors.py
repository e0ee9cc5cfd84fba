"""An error that is raised in the run of a vertex program names the program."""

import pandas as pd
import pytest

from rapids_trav import Program

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
