"""SVG pictures: well-formed, with all that they are given, and with names escaped."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from rapids_trav.utilities import svg

SPACE = "{http://www.w3.org/2000/svg}"


def drawn(picture, kind):
    return ET.fromstring(picture).findall(f".//{SPACE}{kind}")


def test_bars_are_as_high_as_their_numbers():
    picture = svg.bars([1, 4, 0], ["a", "<b>", "c"], "how many")
    heights = [float(bar.get("height")) for bar in drawn(picture, "rect")]
    assert heights == [svg.BAR_HEIGHT / 4, svg.BAR_HEIGHT, 0]
    assert [text.text for text in drawn(picture, "text")] == ["a", "<b>", "c", "how many"]


def test_many_bars_are_narrow_and_some_have_labels():
    picture = svg.bars(range(2000), [str(i) for i in range(2000)], "many")
    assert float(ET.fromstring(picture).get("width")) == svg.WIDEST
    labels = [int(text.text) for text in drawn(picture, "text")[:-1]]
    assert len(drawn(picture, "rect")) == 2000 and labels == list(range(0, 2000, labels[1]))
    assert labels[1] * svg.WIDEST / 2000 >= svg.BAR_WIDTH


@pytest.mark.parametrize("picture", [svg.bars([], [], "none"), svg.layers([], [], [], "none")])
def test_nothing_to_draw(picture):
    assert float(ET.fromstring(picture).get("width")) > 0


def test_layers_have_points_lines_and_counts():
    names = [["seed"], ["<script>", "a name that is too long"], ["x"]]
    picture = svg.layers(names, [1, 5, 1], [(0, 1), (0, 2), (1, 2), (2, 3)], "near")
    assert len(drawn(picture, "circle")) == 4
    ways = [line.get("d") for line in drawn(picture, "path")]
    assert ["Q" in way for way in ways] == [False, False, True, False], "only a line within a layer is bent"
    texts = [text.text for text in drawn(picture, "text")]
    assert {"0", "1", "2", "5, 2 shown", "<script>", "a name that i…"} <= set(texts)
    assert [title.text for title in drawn(picture, "title")] == [name for layer in names for name in layer]


def test_characters_that_no_document_may_contain():
    names = ["a\x00b", "\x1b[31m", "\ufffe", "\ud800", "tab\tand\nline", "猫"]
    picture = svg.layers([names], [len(names)], [], "odd")
    titles = [title.text for title in drawn(picture, "title")]
    assert titles == ["a\ufffdb", "\ufffd[31m", "\ufffd", "\ufffd", "tab\tand\nline", "猫"]


def test_each_layer_is_centred():
    across = svg.positions([1, 3])
    assert across[0][1] == across[2][1] and across[1][1] < across[2][1] < across[3][1]
