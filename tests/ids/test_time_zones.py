"""Timestamps of several time zones are one kind of id, returned in the time zone of the first column."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav import Graph

UTC = pd.DataFrame({"src": pd.to_datetime([0, 1, 2], unit="D", utc=True).as_unit("us")})
UTC["dst"] = UTC["src"] + pd.Timedelta(days=1)
MIXED = UTC.assign(dst=UTC["dst"].dt.tz_convert("Asia/Tokyo"))
WEST = UTC.assign(src=UTC["src"].dt.tz_convert("America/Lima"))


@pytest.mark.parametrize("edges", [MIXED, [MIXED.iloc[:1], WEST.iloc[1:]]], ids=["columns", "frames"])
def test_answers_are_in_the_zone_of_the_first_column(edges):
    graph, wanted = Graph.from_edges(edges), UTC.trav.graph()
    for source in (UTC["src"][0], MIXED["dst"][1]):
        assert_frame_equal(graph.bfs(source, deterministic=True), wanted.bfs(source, deterministic=True))
    assert_frame_equal(graph.degrees(), wanted.degrees())


def test_vertices_of_another_zone():
    more = WEST["src"] + pd.Timedelta(days=9)
    found = UTC.trav.graph(vertices=more).degrees()["vertex"]
    assert found.dtype == UTC["src"].dtype and found.tolist()[-3:] == more.tolist()
