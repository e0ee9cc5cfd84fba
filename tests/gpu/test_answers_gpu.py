"""Answers of the GPU where an error would be silent: nulls, ids next to a range, ties, bounds of pages."""

import numpy as np
import pandas as pd
import pytest

from rapids_trav.errors import UnknownVertexError
from rapids_trav.frames.columns import BitMasked, Masked
from rapids_trav.frames.libraries import library

from .paged_views import in_pages
from .test_stream_gpu import agree, answers, streamed  # noqa: F401  (fixtures)

pytestmark = pytest.mark.gpu


@pytest.fixture
def cudf():
    return pytest.importorskip("cudf")


@pytest.mark.parametrize("first", [0, 5])
@pytest.mark.parametrize("degree_sort", [False, True])
def test_ids_beside_a_range_are_unknown(cudf, first, degree_sort):
    ids = np.arange(first, first + 8)
    edges = cudf.DataFrame({"src": ids[:-1], "dst": ids[1:]})
    graph = edges.trav.graph(degree_sort=degree_sort)
    for unknown in {first + 8, max(first - 1, 0), first + 9} - set(ids.tolist()):
        with pytest.raises(UnknownVertexError, match=rf" {unknown}:"):
            graph.bfs(unknown)
    assert graph.bfs(first + 7)["distance"].to_numpy().tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


def test_what_is_not_reached_is_null(cudf):
    edges = cudf.DataFrame({"src": [0, 2, 1], "dst": [1, 3, 4]})
    found = edges.trav.graph().bfs(0).to_pandas()
    assert found["distance"].isna().tolist() == [False, False, True, True, False]
    assert found["predecessor"].isna().tolist() == [True, False, True, True, False]
    assert found["predecessor"].dropna().tolist() == [0, 1]


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64"]
)
def test_columns_keep_the_types_of_their_arrays(cudf, cupy, dtype):
    values = cupy.arange(70).astype(dtype)
    bits = cupy.asarray(np.full(16, 2**32 - 2, np.uint32))  # the first of each 32 is null
    columns = {
        "all": values,
        "none null": BitMasked(values, None, lambda: 0),
        "some null": BitMasked(values, bits, lambda: 3),
        "masked": Masked(values, values > 0),
    }
    frame = library("cudf").frame(columns)
    assert [frame[name].dtype for name in frame] == 4 * [np.dtype(dtype)]
    assert [frame[name].null_count for name in frame] == [0, 0, 3, 1]
    assert frame["some null"].dropna().to_numpy().tolist() == np.delete(values.get(), [0, 32, 64]).tolist()


def test_the_smallest_predecessor_is_by_the_callers_ids(cudf):
    """A hundred vertices lead to one vertex; those with smaller ids have fewer edges."""
    middle = np.arange(1, 101)
    more = np.repeat(middle, middle)
    src = np.concatenate([np.zeros(100, np.int64), middle, more])
    dst = np.concatenate([middle, np.full(100, 200), 1000 + np.arange(len(more))])
    for edges in (cudf.DataFrame({"src": src, "dst": dst}), pd.DataFrame({"src": src, "dst": dst})):
        found = edges.trav.graph(degree_sort=True).bfs(0, deterministic=True)
        found = found.to_pandas() if hasattr(found, "to_pandas") else found
        assert found.set_index("vertex")["predecessor"][200] == 1


def test_notified_rows_at_the_bounds_of_pages(engine, answers):  # noqa: F811
    """A frontier moves along a path, so that each row is notified in turn, also the first rows of pages."""
    view, theirs = answers("long path", "bfs")
    for n_pages in (7, 50):
        ours = streamed(engine, in_pages(view, n_pages), "long path", "bfs", mode="notify")
        agree("bfs", ours, theirs)


def test_an_edge_of_no_weight_leads_no_nearer(cudf):
    """Two vertices at the same distance, joined by an edge of weight 0, are not each other's predecessors."""
    edges = cudf.DataFrame({"src": [9, 9, 3, 5], "dst": [5, 3, 5, 7], "w": [1, 1, 0, 0]})
    for weight in ("int64", "float64"):
        graph = edges.assign(w=edges["w"].astype(weight)).trav.graph(weight="w")
        found = graph.sssp(9).to_pandas().set_index("vertex")
        assert found["distance"].to_dict() == {3: 1, 5: 1, 7: 1, 9: 0}
        assert found["predecessor"].dropna().to_dict() == {3: 9, 5: 9, 7: 5}
