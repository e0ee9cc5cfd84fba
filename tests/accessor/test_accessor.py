"""Registration of the `frame.trav` accessor, and the frames and columns that it accepts."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from common import rows, to_pandas

import rapids_trav
from rapids_trav.accessor import TravAccessor


@pytest.fixture
def edges(frame_library):
    return frame_library.DataFrame({"src": [0, 1, 3], "dst": [1, 2, 4], "open": [True, True, False]})


def test_it_holds_nothing_but_the_frame(edges):
    accessor = edges.trav
    assert isinstance(accessor, TravAccessor)
    assert len(vars(accessor)) == 1


@pytest.mark.parametrize("names", [("src", "dst"), ("source", "destination")])
def test_default_columns(edges, names):
    renamed = edges.rename(columns=dict(zip(["src", "dst"], names, strict=True)))
    assert renamed.trav.graph().n_edges == 3


def test_src_and_dst_come_before_source_and_destination(edges):
    edges["source"], edges["destination"] = edges["dst"] + 10, edges["src"] + 10
    assert edges.trav.graph().rows.src == ["src"]
    assert edges.trav.graph("source", "destination").rows.src == ["source"]


def test_named_columns(edges):
    renamed = edges.rename(columns={"src": "p", "dst": "q"})
    assert rows(renamed.trav.graph(src="p", dst="q", directed=True).bfs(1, reached_only=True)) == [
        (1, 0, None), (2, 1, 1)
    ]  # fmt: skip
    with pytest.raises(AttributeError, match="neither columns 'src' and 'dst'"):
        renamed.trav.graph()


def test_column_labels_that_are_no_strings():
    edges = pd.DataFrame([[0, 1, True], [1, 2, False]])
    assert edges.trav.graph(0, 1).bfs(0, where=2)["distance"].tolist()[:2] == [0, 1]
    edges.columns = pd.MultiIndex.from_tuples([("end", "a"), ("end", "b"), ("flag", "")])
    assert edges.trav.graph(("end", "a"), ("end", "b")).n_vertices == 3


@pytest.mark.parametrize("columns", [[], ["src"]])
def test_a_frame_that_holds_no_edges(frame_library, columns):
    frame = frame_library.DataFrame({name: [1] for name in columns})
    # cuDF frames look columns up by attribute, and report a missing attribute with their own message.
    with pytest.raises(AttributeError, match="holds no edges" if frame_library is pd else "trav"):
        frame.trav  # noqa: B018
    assert not hasattr(frame, "trav")


def test_questions_in_one_line(edges):
    graph = edges.trav.graph(directed=True)
    assert rows(edges.trav.bfs(0, directed=True, depth_limit=1)) == rows(graph.bfs(0, depth_limit=1))
    assert rows(edges.trav.paths(0, [2, 4], directed=True)) == rows(graph.paths(0, [2, 4]))
    assert rows(edges.trav.levels(0, src="src", dst="dst", vertices=[9])) == [
        (0, 1, 1), (1, 1, 2), (2, 1, 3), (None, 3, 6)
    ]  # fmt: skip
    hood = edges.trav.khop(2, 1, direction="in", directed=True)
    assert isinstance(hood, rapids_trav.Neighborhood)
    assert rows(hood.vertices) == [(1, 1), (2, 0)]
    assert to_pandas(hood.edges).index.tolist() == [1]
    assert rows(edges.trav.bfs(4, where="open", reached_only=True, engine="auto")) == [(4, 0, None)]


def test_the_frame_is_left_as_it_was(edges):
    before = edges.copy()
    edges.trav.graph(directed=True).khop(0, 2, where="open")
    assert to_pandas(edges).equals(to_pandas(before))


@pytest.mark.filterwarnings("ignore::rapids_trav.TravWarning")
def test_dask_frames(without_client):
    dask = pytest.importorskip("dask.dataframe")
    edges = pd.DataFrame({"src": ["a", "b", "d", "e"], "dst": ["b", "c", "e", "e"]})
    edges["open"] = [True, True, True, False]
    frame = dask.from_pandas(edges, npartitions=3)
    graph = frame.trav.graph(directed=True)
    assert (graph.n_vertices, graph.n_edges) == (5, 4)
    result = graph.bfs("a", where="open")
    assert isinstance(result, dask.DataFrame)
    computed = result.compute()
    assert rows(computed) == rows(edges.trav.bfs("a", directed=True))
    assert str(computed["distance"].dtype) == "Int32"
    assert frame.trav.khop("d", 1).edges.compute().index.tolist() == [2, 3]
    assert frame.trav.levels("a").compute()["vertices"].tolist() == [1, 1, 1, 2]
    with pytest.raises(AttributeError, match="holds no edges"):
        frame[["src"]].trav  # noqa: B018


@pytest.mark.gpu
@pytest.mark.filterwarnings("ignore::rapids_trav.TravWarning")
def test_dask_frames_of_cudf(without_client):
    dask_cudf = pytest.importorskip("dask_cudf")
    import cudf

    edges = cudf.DataFrame({"src": [0, 1, 3], "dst": [1, 2, 4]})
    result = dask_cudf.from_cudf(edges, npartitions=2).trav.bfs(0)
    assert isinstance(result, dask_cudf.DataFrame)
    assert rows(result.compute()) == rows(edges.trav.bfs(0))


def run(code: str) -> str:
    """Return the standard output of `code` in a new Python process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_costs_no_other_library():
    heavy = ["cudf", "cupy", "dask", "numba", "scipy", "matplotlib", "rich", "pyarrow.dataset"]
    code = f"import sys, rapids_trav; print([name for name in {heavy} if name in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize("order", ["rapids_trav, dask.dataframe", "dask.dataframe, rapids_trav"])
def test_either_order_of_imports_with_dask(order):
    pytest.importorskip("dask.dataframe")
    code = f"import {order}; print(dask.dataframe.DataFrame.trav.__name__)"
    assert run(code) == "TravAccessor"


@pytest.mark.parametrize("order", ["rapids_trav, cudf", "cudf, rapids_trav"])
@pytest.mark.gpu
def test_either_order_of_imports_with_cudf(order):
    assert run(f"import {order}; print(cudf.DataFrame.trav.__name__)") == "TravAccessor"


def test_hook_runs_once_and_survives_a_failed_import(tmp_path):
    module = "import pathlib\nif pathlib.Path(__file__ + '.bad').exists(): 1 / 0\n"
    (tmp_path / "lazy_module.py").write_text(module)
    (tmp_path / "lazy_module.py.bad").touch()
    code = f"""
import sys, os
sys.path.insert(0, {str(tmp_path)!r})
from rapids_trav.utilities.import_hooks import after_import
calls, finders = [], len(sys.meta_path)
after_import("lazy_module", lambda: calls.append("lazy_module" in sys.modules))
try:
    import lazy_module
except ZeroDivisionError:
    os.remove({str(tmp_path / "lazy_module.py.bad")!r})
print(calls)
import lazy_module
print(calls, len(sys.meta_path) == finders)
after_import("lazy_module", lambda: calls.append("now"))
print(calls)
"""
    assert run(code).splitlines() == ["[]", "[True] True", "[True, 'now']"]


def test_one_line_forms_of_what_is_not_a_row_for_each_vertex(edges):
    assert edges.trav.diameter() == edges.trav.graph().diameter() == 2
    found = to_pandas(edges.trav.distances(([0, 0], [2, 3]), directed=True))
    assert found["distance"].tolist()[0] == 2 and found["distance"].isna().tolist() == [False, True]
