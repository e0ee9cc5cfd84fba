"""Conditions and masks select the same edges of cuDF frames as of pandas frames."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rapids_trav.edges.conditions import evaluate
from rapids_trav.edges.expressions import parse
from rapids_trav.errors import TravError
from rapids_trav.frames.libraries import library

pytestmark = pytest.mark.gpu
RNG = np.random.default_rng(4)
N = 2000
FRAME = pd.DataFrame(
    {
        "src": RNG.integers(0, 300, N),
        "dst": RNG.integers(0, 300, N),
        "weight": RNG.integers(1, 9, N),
        "some": pd.array(RNG.integers(0, 9, N), "Int64"),
        "x": RNG.random(N) * 4,
        "kind": RNG.choice(["road", "rail", "it's"], N),
        "open": RNG.random(N) < 0.5,
        "at": pd.Timestamp("2026-05-31") + pd.to_timedelta(RNG.integers(-90, 90, N), "h"),
    }
)
FRAME.loc[::7, "some"] = pd.NA
FRAME["name"] = FRAME["kind"].where(FRAME.index % 5 > 0, None)
FRAME["class"] = FRAME["kind"].astype("category")

CONDITIONS = [
    "weight > 3 and kind == 'road'",
    "not (open or weight <= 2.5)",
    "some > 3",
    "some is null or some == weight",
    "x < 1.5 or 2 <= x < 3",
    "name == 'it''s'",
    "name is not null and name > 'r'",
    "class == 'rail'",
    "class != kind",
    "at >= '2026-05-31' and at < '2026-06-01T12:00'",
    "weight < 99999999999999999999",
    "open == false",
]


def flags(text, frame, name):
    found = evaluate(parse(text, list(frame.columns)).test, frame, library(name))
    return [np.asarray(part.get() if hasattr(part, "get") else part).tolist() for part in found]


@pytest.mark.parametrize("text", CONDITIONS)
def test_flags_are_those_of_pandas(text):
    import cudf

    assert flags(text, cudf.DataFrame(FRAME), "cudf") == flags(text, FRAME, "pandas")


@pytest.mark.parametrize("text", ["kind > 3", "weight == 'a'", "open > 1", "at > 'soon'", "weight"])
def test_unlike_things_are_refused(text):
    import cudf

    with pytest.raises(TravError):
        flags(text, cudf.DataFrame(FRAME), "cudf")


@pytest.mark.parametrize("place", ["cudf", "cupy", "pandas", "numpy"])
def test_masks(place):
    import cudf
    import cupy

    edges = cudf.DataFrame(FRAME)
    graph = edges.trav.graph(weight="weight")
    root = int(FRAME["src"][0])
    kept = (FRAME["weight"] > 3) & (FRAME["kind"] == "road")
    mask = {"cudf": cudf.Series, "cupy": lambda of: cupy.asarray(of.to_numpy()), "pandas": lambda of: of,
            "numpy": lambda of: of.to_numpy()}[place](kept)  # fmt: skip
    wanted = FRAME.trav.bfs(root, where=kept, deterministic=True)
    for where in (mask, CONDITIONS[0], mask):
        found = graph.bfs(root, where=where, deterministic=True).to_pandas()
        assert found["distance"].fillna(-1).tolist() == wanted["distance"].fillna(-1).tolist()
        assert found["predecessor"].fillna(-1).tolist() == wanted["predecessor"].fillna(-1).tolist()
    mask = mask.copy()
    mask[:] = True
    assert graph.bfs(root, where=mask)["distance"].notna().sum() == graph.bfs(root)["distance"].notna().sum()


def test_paths_by_weight():
    import cudf

    targets = FRAME["dst"].unique()[:20].tolist()
    root = int(FRAME["src"][0])
    asked = {"weighted": True, "where": CONDITIONS[1]}
    found = cudf.DataFrame(FRAME).trav.graph(weight="weight").paths(root, targets, **asked).to_pandas()
    wanted = FRAME.trav.graph(weight="weight").paths(root, targets, **asked)
    ends = [frame.groupby("target", sort=False)["distance"].max() for frame in (found, wanted)]
    assert ends[0].fillna(-1).to_dict() == ends[1].fillna(-1).to_dict()
    assert found["target"].drop_duplicates().tolist() == targets
