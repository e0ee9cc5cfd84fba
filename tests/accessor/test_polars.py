"""`.trav` on polars frames: any import order, no cost for other users, and a reference to the frame only."""

import copy
import gc
import pickle
import subprocess
import sys
import weakref

import polars as pl
import pytest

from rapids_trav import EdgeColumnsError, TravAccessor

EDGES = pl.DataFrame({"src": [0, 1, 3], "dst": [1, 2, 4]})


def run(code: str) -> str:
    """Return the standard output of `code` in a new Python process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_questions_in_one_line():
    assert EDGES.trav.bfs(0, reached_only=True)["distance"].to_list() == [0, 1, 2]
    assert EDGES.trav.graph(directed=True).frame_library == "polars"
    assert type(EDGES.trav.khop(0, 1).edges) is pl.DataFrame


@pytest.mark.parametrize(
    "imports",
    ["polars, rapids_trav", "rapids_trav, polars", "polars, rapids_trav, polars"],
)
def test_orders_of_imports(imports):
    code = f"import {imports}, pandas; print(polars.DataFrame.trav is pandas.DataFrame.trav)"
    assert run(code) == "True"


def test_polars_is_not_imported_for_those_who_do_not_use_it():
    assert run("import sys, rapids_trav; print('polars' in sys.modules)") == "False"
    graph = "rapids_trav.Graph.from_edges(pandas.DataFrame({'src': [0], 'dst': [1]})).bfs(0)"
    assert run(f"import sys, pandas, rapids_trav; {graph}; print('polars' in sys.modules)") == "False"


def test_polars_has_nothing_to_warn_of():
    run("import warnings; warnings.simplefilter('error'); import rapids_trav, polars")


def test_it_holds_nothing_but_the_frame_which_keeps_it():
    frame = EDGES.clone()
    accessor = frame.trav
    assert isinstance(accessor, TravAccessor)
    assert frame.trav is accessor
    assert list(vars(accessor)) == ["_frame"]
    assert accessor._frame is frame
    frame.insert_column(0, pl.Series("src2", [5, 6, 7]))
    assert frame.trav.graph("src2", "dst").n_vertices == 6  # reads the changed frame
    for other in (copy.copy(frame), frame.clone(), frame[:2], pickle.loads(pickle.dumps(frame))):
        assert other.trav._frame is other
    gone = weakref.ref(accessor)
    del accessor, frame, other
    gc.collect()
    assert gone() is None


def test_lazy_frames_say_collect():
    with pytest.raises(EdgeColumnsError, match=r"collect it first, with frame.collect\(\)\.$"):
        EDGES.lazy().trav.bfs(0)
    assert not hasattr(EDGES.lazy().trav, "graph")


def test_a_frame_that_holds_no_edges():
    assert not hasattr(EDGES.select("src"), "trav")
