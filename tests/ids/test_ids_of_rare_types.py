"""Ids of types that pandas supports only partly: they work, or are refused with a message."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from rapids_trav import TravError

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
def test_narrow_decimals_are_refused_wide_ones_are_ids(kind):
    values = pd.Series([Decimal(1), Decimal(2)])
    narrow, wide = (pd.ArrowDtype(make(5, 2)) for make in (getattr(pa, kind), pa.decimal128))
    frame = pd.DataFrame({"src": values.astype(narrow), "dst": values[::-1].astype(narrow)})
    with pytest.raises(TravError, match=rf"Column 'src' is of type {kind}"):
        frame.trav.graph()
    assert frame.astype(wide).trav.graph().n_vertices == 2
    with pytest.raises(TravError, match=rf"vertices is of type {kind}"):
        WORDS.trav.graph(vertices=values.astype(narrow))


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
