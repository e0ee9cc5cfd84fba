"""Grammar of conditions: normal forms, and errors that name the position."""

from __future__ import annotations

import pytest

from rapids_trav.edges.expressions import parse
from rapids_trav.errors import TravError, UnknownColumnError

COLUMNS = ["src", "weight", "kind", "open", "and", "road name", "odd`name", 7]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("weight>3", "weight > 3"),
        ("  3 < weight ", "weight > 3"),
        ("3 == weight", "weight == 3"),
        ("1 < weight <= 3.5", "weight > 1 and weight <= 3.5"),
        ("(((weight >= -2)))", "weight >= -2"),
        ("weight > +1e3", "weight > 1000.0"),
        ("weight != .5", "weight != 0.5"),
        ('kind == "it\'s"', "kind == 'it''s'"),
        ("kind == 'it''s'", "kind == 'it''s'"),
        ("kind == ''", "kind == ''"),
        ("open", "open"),
        ("NOT open AND weight < 1 Or open", "(not open and weight < 1) or open"),
        ("not (open and open)", "not (open and open)"),
        ("not not open", "not not open"),
        ("open or (open and open)", "open or (open and open)"),
        ("(open or open) and open", "(open or open) and open"),
        ("weight is null", "weight is null"),
        ("weight IS NOT None", "not weight is null"),
        ("open == TRUE", "open == true"),
        ("`road name` == kind", "`road name` == kind"),
        ("`and`", "`and`"),
        ("`odd``name` is null", "`odd``name` is null"),
        ("`weight` > 1", "weight > 1"),
    ],
)
def test_normal_forms(text, normal):
    read = parse(text, COLUMNS)
    assert read.text == normal
    again = parse(normal, COLUMNS)
    assert again == read and hash(again) == hash(read)
    assert again.test == read.test


def test_binding():
    """`not` binds most tightly, then `and`, then `or`."""
    assert parse("open or open and not open", COLUMNS) == parse("open or (open and (not open))", COLUMNS)
    assert parse("open or open and open", COLUMNS) != parse("(open or open) and open", COLUMNS)


def test_values_of_several_kinds_are_told_apart():
    texts = ["weight == 1", "weight == 1.0", "weight == '1'", "weight == true"]
    assert len({parse(text, COLUMNS) for text in texts}) == 4


def test_columns_are_those_that_are_read():
    assert parse("weight > 1 and kind == 'a' or weight < src", COLUMNS).columns == ("weight", "kind", "src")


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", 1, "a column or a value"),
        ("weight >", 9, "a column or a value"),
        ("weight >> 3", 9, "a column or a value"),
        ("weight = 3", 8, "== to compare"),
        ("weight > 3 &", 12, "the word and"),
        ("weight > 3 | open", 12, "the word or"),
        ("~open", 1, "the word not"),
        ("!open", 1, "the word not, or !="),
        ("weight > 3 and", 15, "a column or a value"),
        ("weight > 3 open", 12, "and, or or the end"),
        ("(weight > 3", 12, "and, or or a closing parenthesis"),
        ("weight > 3)", 11, "and, or or the end"),
        ("kind == 'road", 9, "the quote that ends this text"),
        ("`road name > 3", 1, "the backtick that ends this name"),
        ("3", 2, "a comparison"),
        ("1 < 2", 3, "a column on one side of the comparison"),
        ("weight > - kind", 12, "a number"),
        ("weight == null", 11, "a column or a value (compare with null by `is null`)"),
        ("weight is 3", 11, "null or not null"),
        ("weight is not 3", 15, "null"),
        ("weight > 1e999", 10, "a number that float64 holds"),
        ("weight > " + "9" * 5000, 10, "a number that float64 holds"),
        ("weight > 3 @", 12, "a column, a value or an operator"),
        ("weight.real > 3", 7, "a column, a value or an operator"),
        ("weight > 3; open", 11, "a column, a value or an operator"),
    ],
)
def test_errors_name_the_place(text, place, expected):
    with pytest.raises(TravError) as caught:
        parse(text, COLUMNS)
    said = str(caught.value)
    assert f"at character {place}, where {expected}" in said
    assert "the columns are 'src', 'weight'" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("text", "place"), [("(" * 100 + "open" + ")" * 100, 62), ("not " * 100 + "open", 245)]
)
def test_nesting_too_deep_is_told(text, place):
    told = (
        f"has more than 60 parentheses and nots within each other at character {place}: write it with fewer"
    )
    with pytest.raises(TravError, match=told):
        parse(text, COLUMNS)


def test_columns_that_are_not_there():
    with pytest.raises(UnknownColumnError) as caught:
        parse("open and wieght > 3", COLUMNS)
    assert str(caught.value).startswith(
        "Column 'wieght', in where='open and wieght > 3' at character 10, is not in the edges: choose one of"
    )
    assert "backticks" not in str(caught.value)
    with pytest.raises(UnknownColumnError, match=r"\(names with spaces go in backticks\);"):
        parse("road name == 'A1'", COLUMNS)


def test_nothing_is_called():
    with pytest.raises(UnknownColumnError, match=r"^Column '__import__', in where="):
        parse("__import__('os')", COLUMNS)
    with pytest.raises(TravError, match=r"has '\(' at character 7, where and, or or the end is expected"):
        parse("weight('os')", COLUMNS)


def test_columns_that_are_there_twice():
    with pytest.raises(
        TravError, match=r"^Column 'weight' occurs 2 times in the edges: rename all but one\.$"
    ):
        parse("weight > 3", [*COLUMNS, "weight"])
