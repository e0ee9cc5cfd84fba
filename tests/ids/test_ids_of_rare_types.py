"""Ids of types that pandas supports only partly: they work, or are refused with a message."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rapids_trav import TravError, UnknownVertexError

WORDS = pd.DataFrame({"src": ["a"], "dst": ["b"]})
BYTES = pd.DataFrame({"src": [b"a"], "dst": [b"b"]})


def test_fixed_width_bytes_are_bytes():
    graph = BYTES.trav.graph(vertices=np.array([b"c"], "S5"))
    assert graph.n_vertices == 3
    assert graph.bfs(np.array([b"a"], "S5"))["distance"].tolist()[:2] == [0, 1]


@pytest.mark.parametrize("given", [np.array(["a"], "S5"), np.array([b"a"], "V1")], ids=["S5", "V1"])
@pytest.mark.parametrize(
    "ask",
    [
        WORDS.trav.graph().bfs,
        WORDS.astype("category").trav.graph().bfs,
        lambda given: WORDS.trav.graph(vertices=given),
        lambda given: WORDS.assign(src=pd.Series(given)).trav.graph(),
        lambda given: WORDS.assign(open=pd.Series(given)).trav.bfs("a", where="open"),
    ],
    ids=["words", "categories", "vertices", "columns", "filter"],
)
def test_bytes_beside_words_are_refused(ask, given):
    with pytest.raises(TravError):
        ask(given)


@pytest.mark.skipif(not hasattr(pa, "decimal32"), reason="Arrow before 18")
@pytest.mark.parametrize("kind", ["decimal32", "decimal64"])
def test_narrow_decimals_are_the_ids_that_wide_ones_are(kind):
    values = pd.Series([Decimal(1), Decimal(2), Decimal(4)])
    narrow, wide = (pd.ArrowDtype(make(5, 2)) for make in (getattr(pa, kind), pa.decimal128))
    frame = pd.DataFrame({"src": values, "dst": values[::-1].to_numpy(), "w": values})
    graphs = [frame.astype(of).trav.graph(weight="w", vertices=values.astype(of)) for of in (narrow, wide)]
    for ask in (
        lambda graph: graph.bfs(1),
        lambda graph: graph.bfs(values.astype(narrow), mode="each"),
        lambda graph: graph.sssp([Decimal("4.00")]),
        lambda graph: graph.annotate(frame.astype(narrow), graph.bfs(2)).drop(columns=["src", "dst", "w"]),
        lambda graph: graph.khop(2, 1).vertices,
    ):
        found, wanted = map(ask, graphs)
        pd.testing.assert_frame_equal(found, wanted)
    assert graphs[0].khop(2, 1).edges["src"].dtype == narrow


def test_an_engine_that_compares_with_nothing():
    with pytest.raises(TravError, match="engine="):
        WORDS.trav.graph(engine=np.zeros(1, [("a", int)]))


@pytest.mark.parametrize("end", ["src", "dst", "w"])
def test_names_that_are_no_text_are_not_saved(end, tmp_path):
    frame = WORDS.assign(w=1)
    names = {name: "\ud800" if name == end else name for name in frame.columns}
    frame.columns = pd.Index(list(names.values()), dtype=object)
    graph = frame.trav.graph(names["src"], names["dst"], weight=names["w"])
    with pytest.raises(TravError, match=r"Column '.ud800' cannot be saved"):
        graph.save(tmp_path / "graph")
    assert not (tmp_path / "graph").exists()


@pytest.mark.parametrize(("width", "scale"), [(38, 0), (38, 2), (20, 0)])
def test_decimal_ids_take_numbers_of_every_kind(width, scale):
    dtype = pd.ArrowDtype(pa.decimal128(width, scale))
    frame = pd.DataFrame({"src": [Decimal(1), Decimal(2)], "dst": [Decimal(2), Decimal(3)]})
    graph = frame.astype(dtype).trav.graph()
    for given in (1, 1.0, Decimal(1), np.uint8(1), [1] * 100, Decimal("1.00")):
        assert graph.bfs(given)["distance"].tolist() == [0, 1, 2]
    for unknown in (4, 1.5, 10**40, -1, float("inf"), Decimal("1.125")):
        with pytest.raises(UnknownVertexError, match="1 unknown vertex"):
            graph.bfs(unknown)
    with pytest.raises(TravError, match="sources holds True"):
        graph.bfs(True)
    joined = graph.annotate(pd.DataFrame({"id": [3.0, 1.5, 1.0]}), graph.components(), on="id")
    assert joined["component"].isna().tolist() == [False, True, False]


def test_decimal_cents_are_found_as_they_are_written():
    ids = pd.Series([Decimal("1.10"), Decimal("2.25")], dtype=pd.ArrowDtype(pa.decimal128(9, 2)))
    graph = pd.DataFrame({"src": ids, "dst": ids[::-1].to_numpy()}).astype(ids.dtype).trav.graph()
    assert graph.bfs(1.1)["distance"].tolist() == graph.bfs(Decimal("1.1"))["distance"].tolist() == [0, 1]


def test_decimals_find_whole_numbers():
    graph = pd.DataFrame({"src": [1], "dst": [2]}).trav.graph()
    assert graph.bfs(Decimal(1))["distance"].tolist() == [0, 1]
    with pytest.raises(UnknownVertexError, match=r"1 unknown vertex: Decimal\('1.5'\)"):
        graph.bfs([Decimal(1), Decimal("1.5")])


def test_an_id_of_several_columns_is_told_whole():
    edges = pd.DataFrame({"src": [1, 2], "kind": ["x", "y"], "dst": [2, 3], "other": ["y", "x"]})
    graph = edges.trav.graph(src=["src", "kind"], dst=["dst", "other"])
    for unknown in ((1.5, "x"), (9, "x")):
        with pytest.raises(UnknownVertexError, match=re.escape(f"1 unknown vertex: {unknown}")):
            graph.bfs(unknown)
