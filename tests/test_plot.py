"""Pictures are drawn from result frames alone, with few levels and with many."""

import pandas as pd
import pytest

from rapids_trav import plot
from rapids_trav.errors import TravError


def levels(n, unreached=0):
    distance = pd.array([*range(n), None][: n + bool(unreached)], dtype="Int32")
    return pd.DataFrame({"distance": distance, "vertices": [*range(1, n + 1), unreached][: len(distance)]})


def trace(n):
    return pd.DataFrame(
        {
            "level": range(n),
            "direction": ["push" if level % 2 else "pull" for level in range(n)],
            "edges": [-1, *range(1, n)],
            "milliseconds": [0.5] * n,
        }
    )


@pytest.mark.parametrize("n", [1, 5, 30, 500])
def test_panels(n):
    assert len(plot.search(levels(n)).axes) == 1
    figure = plot.search(levels(n, unreached=7), trace(n), title="a search")
    assert [axes.get_ylabel() for axes in figure.axes] == ["vertices", "edges examined", "milliseconds"]
    assert "7 vertices unreached" in figure.axes[0].get_title()


def test_bar_heights_are_the_counts():
    axes = plot.search(levels(4)).axes[0]
    assert [bar.get_height() for bar in axes.patches] == [1, 2, 3, 4]


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf"])
def test_save(tmp_path, name):
    plot.save(plot.search(levels(3)), tmp_path / name)
    assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "sentence"), [("a.xyz", "no extension of a picture"), ("no/a.png", "no folder")]
)
def test_save_where_it_cannot_be(tmp_path, name, sentence):
    with pytest.raises(TravError, match=sentence):
        plot.save(plot.search(levels(3)), tmp_path / name)
