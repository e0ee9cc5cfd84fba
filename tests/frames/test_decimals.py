"""Decimal weights, which become integers of their last digit, and decimal ids."""

from __future__ import annotations

import warnings
from decimal import Decimal

import duckdb
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rapids_trav import Graph, TravError, TravWarning, programs

FEES = [Decimal("0.10"), Decimal("0.20"), Decimal("12345678901234.05"), Decimal("0.35")]
ENDS = [[0, 1, 2, 0], [1, 2, 3, 2]]


LIBRARIES = ("pyarrow", "polars", "duckdb", "objects", "pandas")


def in_library(library: str, table: pa.Table) -> object:
    return {
        "pyarrow": lambda: table,
        "polars": lambda: pl.from_arrow(table),
        "duckdb": lambda: duckdb.connect().from_arrow(table),
        "objects": lambda: table.to_pandas(),
        "pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
    }[library]()


def edges(library: str, weights: list[Decimal], kind: pa.DataType) -> object:
    table = pa.table({"src": ENDS[0], "dst": ENDS[1], "fee": pa.array(weights, kind)})
    return in_library(library, table)


@pytest.mark.parametrize("library", LIBRARIES)
def test_decimal_weights_are_added_exactly(library, tmp_path):
    graph = Graph.from_edges(edges(library, FEES, pa.decimal128(18, 2)), weight="fee", directed=True)
    right = [Decimal(0), FEES[0], FEES[0] + FEES[1], FEES[0] + FEES[1] + FEES[2]]
    graph.save(tmp_path / "saved")
    for one in (graph, Graph.open(tmp_path / "saved", engine="cpu")):
        for answer in (one.sssp(0), one.paths(0, 3, weighted=True)):
            assert pa.array(answer["distance"]).to_pylist() == right
        assert sorted(map(Decimal, pa.array(one.khop(0, 3).edges["fee"]).to_pylist())) == sorted(FEES)
        assert one.to_scipy()[0, 2] == one.khop(0, 3).to_scipy()[0, 2] == 0.35
    nothing = graph.sssp(3, direction="out", predecessors=False)["distance"]
    assert pa.array(nothing).to_pylist() == [None, None, None, Decimal(0)]


@pytest.mark.parametrize("kind", [pa.decimal64(18, 2), pa.decimal256(60, 2), pa.decimal128(38, 0)], ids=str)
def test_decimals_of_every_width_are_weights(kind):
    weights = [Decimal(3), Decimal(2), Decimal(7), Decimal(9)]
    graph = Graph.from_edges(edges("pyarrow", weights, kind), weight="fee", directed=True)
    assert graph.sssp(0)["distance"].to_pylist() == [0, 3, 5, 12]


@pytest.mark.parametrize("digits", [17, 30])
def test_decimals_that_do_not_fit_are_rounded_with_a_warning(digits):
    weights = [Decimal(1), Decimal(2), Decimal(3 * 10**17), Decimal("0." + "0" * (digits - 1) + "1")]
    frame = edges("pyarrow", weights, pa.decimal256(60, digits))
    with pytest.warns(TravWarning, match="weight='fee' holds decimals that do not fit 64 bits"):
        graph = Graph.from_edges(frame, weight="fee", directed=True)
    assert graph.sssp(0)["distance"].to_pylist() == [0.0, 1.0, 10.0**-digits, 3e17]


def test_decimals_of_several_frames_share_their_digits():
    first = pd.DataFrame({"src": [0], "dst": [1], "fee": [Decimal("0.5")]})
    other = pd.DataFrame({"src": [1], "dst": [2], "fee": [Decimal("0.125")]})
    whole = pd.DataFrame({"src": [2], "dst": [3], "fee": [4]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = Graph.from_edges([first, other], weight="fee")
    assert list(graph.sssp(0)["distance"]) == [0, Decimal("0.5"), Decimal("0.625")]
    for mixed in ([first, whole], [whole, first]):
        with pytest.warns(TravWarning, match="rounded to float64"):
            assert Graph.from_edges(mixed, weight="fee").sssp(0)["distance"].dropna().max() in (0.5, 0.0)


def test_what_is_said_of_decimals():
    negative = edges("polars", [Decimal("-0.25"), *FEES[1:]], pa.decimal128(18, 2))
    with pytest.raises(TravError, match=r"weight='fee' holds -0\.25, and shortest paths"):
        Graph.from_edges(negative, weight="fee").sssp(0)
    with pytest.warns(TravWarning, match="programs see as integers, times 100"):
        Graph.from_edges(edges("polars", FEES, pa.decimal128(18, 2)), weight="fee").run(
            programs.shortest_paths(), initial={0: 0}, weighted=True
        )


@pytest.mark.parametrize(
    "library, remedy", [("polars", "cast"), ("pyarrow", "cast"), ("duckdb", "CAST"), ("objects", "astype")]
)
def test_remedies_are_those_of_the_library(library, remedy):
    words = in_library(library, pa.table({"src": [0], "dst": [1], "fee": ["a"]}))
    with pytest.raises(TravError, match=f"or convert it with {remedy}\\."):
        Graph.from_edges(words, weight="fee")


@pytest.mark.parametrize("library", LIBRARIES)
def test_decimal_ids_are_found_by_numbers(library):
    numbers = [Decimal(0), Decimal(2**70), Decimal(3)]
    kind = pa.decimal128(38, 0)
    table = pa.table({"src": pa.array(numbers[:2], kind), "dst": pa.array(numbers[1:], kind)})
    graph = Graph.from_edges(in_library(library, table))
    for source in (0, 0.0, np.int64(0), Decimal(0), [0], np.array([0]), pd.Series([0])):
        assert pa.array(graph.bfs(source)["distance"]).to_pylist() == [0, 2, 1]  # ascending ids
    assert pa.array(graph.bfs(2**70)["distance"]).to_pylist() == [1, 1, 0]
    with pytest.raises(TravError, match="unknown vertex"):
        graph.bfs(7)


def test_random_decimals_agree_with_networkx():
    random = np.random.default_rng(5)
    ends = random.integers(0, 30, (2, 90))
    fees = [Decimal(int(fee)).scaleb(-3) for fee in random.integers(0, 5_000, 90)]
    frame = pd.DataFrame({"src": ends[0], "dst": ends[1], "fee": fees})
    frame = frame.sort_values("fee").drop_duplicates(["src", "dst"])
    other = nx.from_pandas_edgelist(frame, "src", "dst", "fee", create_using=nx.DiGraph)
    start = int(frame["src"].iloc[0])
    right = nx.single_source_dijkstra_path_length(other, start, weight="fee")
    answer = frame.trav.graph(weight="fee", directed=True).sssp(start, reached_only=True)
    assert dict(zip(answer["vertex"], answer["distance"], strict=True)) == right
