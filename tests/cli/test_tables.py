"""Tables fit the screen and lose no number; bars show the small beside the large."""

from __future__ import annotations

import io
import re

import pandas as pd
import pytest

from rapids_trav import datasets, generators
from rapids_trav.algorithms.search_tree import SearchTree
from rapids_trav.cli import run
from rapids_trav.cli.report import console
from rapids_trav.cli.tables import (
    LONGEST,
    MOST_VERTICES,
    level_counts,
    level_table,
    trace_tables,
    tree_text,
    without_idle,
)
from rapids_trav.engines.searches import RankCosts


@pytest.fixture
def screen(monkeypatch):
    """Return a function that makes a console of a given width."""

    def of_width(width):
        monkeypatch.setenv("COLUMNS", str(width))
        return console()

    return of_width


def printed(screen, what):
    with screen.capture() as text:
        screen.print(what)
    return text.get()


def levels_of(*counts):
    return level_counts(pd.DataFrame({"distance": [d for d, n in enumerate(counts) for _ in range(n)]}))


def bars(text):
    return [line.count("█") for line in text.splitlines() if re.match(r"│ +\d", line)]


def test_one_vertex_is_seen_beside_thousands(screen):
    text = printed(screen(80), level_table(levels_of(1, 4000, 30), screen(80)))
    one, most, few = bars(text)
    assert "log scale" in text and 0 < one < few < most == 24


def test_bars_of_similar_length_are_proportional(screen):
    text = printed(screen(80), level_table(levels_of(6, 12, 3), screen(80)))
    assert "log scale" not in text and bars(text) == [12, 24, 6]


def test_bars_give_way_to_numbers(screen):
    text = printed(screen(38), level_table(levels_of(1, 4000), screen(38)))
    assert "4,001" in text and "█" not in text and "log scale" not in text


def test_bars_of_a_screen_that_knows_ascii_only():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    screen = console()
    screen.file, screen.width = file, 80
    screen.print(level_table(levels_of(1, 2), screen))
    file.seek(0)
    assert "#" * 24 in file.read()


def test_long_tables_show_both_ends_and_tell_what_is_between(screen):
    levels = level_counts(pd.DataFrame({"distance": pd.array(range(1000), dtype="Int32")}))
    text = printed(screen(80), level_table(levels, screen(80)))
    assert len(bars(text)) == 40 and re.search(r"\.\.\. 960 more +│ +960 │", text)
    trace = pd.DataFrame({"level": range(1000), "direction": "push", "milliseconds": [0.125] * 1000})
    trace.loc[500, "milliseconds"] = 1000.0
    text = printed(screen(80), trace_tables(trace, screen(80)))
    assert re.search(r"\.\.\. 960 more +│ +│ +1,119\.875 │ +99\.6%", text)
    assert "trace: 1,000 levels, 1.1 s" in text


def test_a_time_has_its_share(screen):
    trace = pd.DataFrame({"iteration": [1, 2], "mode": "pull", "milliseconds": [99.5, 0.5], "pages": [3, 4]})
    text = printed(screen(80), trace_tables(trace, screen(80)))
    assert re.search(r"1 │ pull │ +99\.500 │ 99\.5% │ +3 │", text) and "trace: 2 iterations, 100.0 ms" in text


@pytest.mark.parametrize("width", [40, 57, 80, 200])
def test_a_wide_trace_is_cut_between_columns(screen, width):
    names = ["frontier", "found", "edges", "bytes", "milliseconds", "in_place", "evictions", "rounds"]
    trace = pd.DataFrame({"level": [1, 2], **{name: [123_456_789 + i] * 2 for i, name in enumerate(names)}})
    text = printed(screen(width), trace_tables(trace, screen(width)))
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    for i, name in enumerate(names):
        assert text.count(f"{123_456_789 + i:,}") == 2
        assert re.search(rf"┃ +{name} ┃", text)
    parts = text.count("┃ level ┃")
    assert parts == text.count("trace: 2 levels") + text.count("further") and (parts == 1) == (width == 200)


def test_numbers_that_no_part_has_room_for_are_wrapped(screen):
    trace = pd.DataFrame({"level": [123_456_789], "edges": [123_456_789]})
    text = printed(screen(20), trace_tables(trace, screen(20)))
    assert "\u2026" not in text and sum(map(str.isdigit, text)) >= 18


def test_lists_are_left_to_pictures_and_ranks_are_added_up(screen):
    costs = {f"{name}_{rank}": [1 + rank, 10] for rank in range(2) for name in RankCosts._fields}
    trace = pd.DataFrame({"level": [1, 2], "milliseconds": [1.0, 2.0], "span_block": [[1], [2]], **costs})
    text = printed(screen(80), trace_tables(trace, screen(80)))
    assert "span_block" not in text and "bytes_0" not in text
    assert re.search(r"│ +0 │ +11 │ +11 │ +11 │", text) and re.search(r"│ +1 │ +12 │ +12 │ +12 │", text)


def test_idle_columns():
    trace = pd.DataFrame({"level": [0], "pages": [0], "bytes": [1], "residual": [float("nan")]})
    assert list(without_idle(trace, ["pages", "bytes", "residual", "reloads"])) == ["level", "bytes"]


def test_an_empty_trace_and_result(screen):
    empty = pd.DataFrame({"level": [], "milliseconds": []})
    assert "trace: 0 levels" in printed(screen(80), trace_tables(empty, screen(80)))
    assert "distance" in printed(screen(80), level_table(levels_of(), screen(80)))


# ---- the tree of a search as text


def lines_of(result):
    screen = console()
    screen.width = 100
    with screen.capture() as text:
        screen.print(tree_text(SearchTree(result)))
    return text.get().splitlines()


def test_the_largest_branches_of_a_search():
    found = datasets.load("facebook").trav.graph().bfs(0)
    head, source, *others = lines_of(found)
    assert head == f"tree of predecessors, {MOST_VERTICES} of 4,039 vertices: the largest branches"
    assert source == "└── 0: 347 children, 4,038 below"
    assert len(others) == MOST_VERTICES - 1 and others[0].startswith("    ├── ")


def test_a_whole_tree():
    edges = pd.DataFrame({"src": ["a", "b", "a", "x"], "dst": ["b", "c", "d", "y"]})
    assert lines_of(edges.trav.bfs(["a", "x"])) == [
        "tree of predecessors",
        "├── a: 2 children, 3 below",
        "│   ├── b: 1 child",
        "│   │   └── c",
        "│   └── d",
        "└── x: 1 child",
        "    └── y",
    ]


def test_a_long_path_ends_with_the_number_below():
    lines = lines_of(generators.path(1000).trav.bfs(0))
    assert len(lines) == 10 and lines[-1].strip() == "└── 8: 1 child, 991 below"


def test_names_that_are_long_or_odd():
    edges = pd.DataFrame({"src": ["[bold]x", "[bold]x"], "dst": ["two\nlines", "n" * 100]})
    _, source, *others = lines_of(edges.trav.bfs("[bold]x"))
    assert source == "└── [bold]x: 2 children"
    assert {line[8:] for line in others} == {"two lines", "n" * (LONGEST - 3) + "..."}


def test_where_it_is_shown(capsys, monkeypatch):
    search = ["bfs", "facebook", "-s", "0", "-s", "7"]
    assert run(search) == 0
    assert "tree of predecessors" in capsys.readouterr().out
    assert run([*search, "--mode", "each"]) == 0
    assert "tree of predecessors of the first source, " in capsys.readouterr().out
    assert run([*search, "--no-predecessors"]) == 0
    assert "tree" not in capsys.readouterr().out
    monkeypatch.setattr("rapids_trav.cli.questions.MOST", 4000)
    assert run(search) == 0
    assert "tree" not in capsys.readouterr().out
