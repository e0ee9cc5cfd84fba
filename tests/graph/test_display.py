"""HTML of graphs, as notebooks show it."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from rapids_trav import generators
from rapids_trav.errors import TravMemoryError
from rapids_trav.storage.in_memory import MemoryView


def heights(html):
    return [int(number.replace(",", "")) for number in re.findall(r"<title>\S+: ([\d,]+)</title>", html)]


def test_sizes_degrees_and_memory():
    graph = generators.rmat(9, 4, seed=2).trav.graph(vertices=[10**6])
    html = graph._repr_html_()
    degree = graph.degrees()["degree"]
    wanted = [int((degree == 0).sum())]
    while sum(wanted) < len(degree):
        low = 1 << len(wanted) - 1
        wanted.append(int(((degree >= low) & (degree < 2 * low)).sum()))
    assert heights(html) == wanted
    assert f"{graph.n_edges:,} edges" in html
    for name in graph.memory()["structure"]:
        assert f"<td>{name}</td>" in html


def test_a_graph_without_edges():
    html = pd.DataFrame({"src": [], "dst": []}, dtype="int64").trav.graph()._repr_html_()
    assert "0 vertices" in html and heights(html) == []


def test_names_of_columns_are_escaped():
    html = pd.DataFrame({"<u>": [1], "v": [2]}).trav.graph("<u>", "v")._repr_html_()
    assert "&lt;u&gt; to v" in html and "<u>" not in html


def test_a_closed_graph():
    graph = pd.DataFrame({"src": [1], "dst": [2]}).trav.graph()
    graph.close()
    assert graph._repr_html_() == "<div>&lt;Graph: closed&gt;</div>"


def test_a_memory_limit_holds_for_the_picture():
    edges = generators.rmat(12, 2, seed=1)
    small, large = (edges.trav.graph(memory_limit=limit) for limit in ("50kB", "10MB"))
    assert "<svg" not in small._repr_html_() and "<svg" in large._repr_html_()
    assert large.budget.peak <= large.budget.limit and large.budget.peak > large.budget.used


@pytest.mark.parametrize("error", [TravMemoryError("no room"), MemoryError()])
def test_without_room_for_the_degrees_the_rest_is_shown(monkeypatch, error):
    def refuse(_):
        raise error

    graph = generators.rmat(6, 4).trav.graph()
    monkeypatch.setattr(MemoryView, "degrees", refuse)
    html = graph._repr_html_()
    assert "<table>" in html and "<svg" not in html
