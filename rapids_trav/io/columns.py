"""Which columns of a file are the ends of its edges: those named, with usual names, or the first two."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapids_trav.errors import EdgeColumnsError, TravError, UnknownColumnError, listed, written

Name = str | int
Ends = Name | Sequence[Name] | None

# Pairs of usual names for the two ends of an edge; letter case and signs between letters are ignored.
USUAL_ENDS = (
    ("src", "dst"),
    ("source", "destination"),
    ("source", "target"),
    ("from", "to"),
    ("u", "v"),
    *(("origin", end) for end in ("dest", "destination")),
    *(("sender", end) for end in ("receiver", "recipient")),
    ("head", "tail"),
    ("caller", "callee"),
    ("citing", "cited"),
    ("follower", "followee"),
    ("parent", "child"),
    ("subject", "object"),
    ("source", "sink"),
    ("src", "dest"),
    ("src", "tgt"),
    ("source", "dest"),
)
# The two words in which longer names of both ends differ, as from_stop_id and to_stop_id or node1 and node2.
DIFFERENCES = (
    *USUAL_ENDS,
    *(("start", "end"), ("s", "d"), ("s", "t"), ("1", "2"), ("0", "1"), ("a", "b"), ("x", "y"), ("i", "j")),
    *(("left", "right"), ("init", "term"), ("first", "second"), ("out", "in"), ("one", "two")),
)
# Names that differ like this and are no vertices: dates, places and measures.
NO_ENDS = re.compile(
    r"(?i)date|time|day|year|month|week|hour|lat|lon|lng|coord|pos|(?<!air)port|weight|score|value|type|name|label|"
    r"color|colour|len|count|bytes|p(?:ac)?kts|rank|class|group|dir$|prob|flag|version|index|offset|mask|row|col|"
    r"degree|amount|price|qty|quantity"
)


def usual_ends(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns with the default or the only usual names of both ends of an edge, or None."""
    for default in USUAL_ENDS[:2]:
        if all(names.count(name) == 1 for name in default):
            return default
    words = [_words(name) for name in names]
    whole = ["".join(parts) for parts in words]
    pairs = [pair for pair in USUAL_ENDS if all(whole.count(name) == 1 for name in pair)]
    if len(pairs) == 1:
        first, second = (whole.index(end) for end in pairs[0])
        if pairs[0] == ("head", "tail"):  # of triples; arcs lead from their tails to their heads
            first, second = sorted((first, second))
        return names[first], names[second]
    if pairs or any(whole.count(name) > 1 for pair in USUAL_ENDS for name in pair):
        return None
    found = [
        (first, second)
        for first, left in zip(names, words, strict=True)
        for second, right in zip(names, words, strict=True)
        if _differ(left, right) and not NO_ENDS.search(first)
    ]
    return found[0] if len(found) == 1 and not _in_a_series(found[0][0], words) else None


def _in_a_series(name: str, words: Sequence[Sequence[str]]) -> bool:
    """Return whether three or more names differ only in one letter or number, as x1, x2 and x3."""
    own = _words(name)
    short = [i for i, word in enumerate(own) if len(word) == 1 or word.isdigit()]
    rests = [[*own[:i], *own[i + 1 :]] for i in short]
    return any(
        sum(len(other) == len(own) and [*other[:i], *other[i + 1 :]] == rest for other in words) > 2
        for i, rest in zip(short, rests, strict=True)
    )


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: those of fromStopId are from, stop and id."""
    name = re.sub(r"\([^)]*\)|:.*", "", _bare(name).lstrip(":"))  # as in Neo4j's :START_ID(Person)
    return [word.lower() for word in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])|\d+", name)]


def _differ(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether two names are those of both ends: all words are the same but one."""
    different = [pair for pair in zip(left, right, strict=False) if pair[0] != pair[1]]
    return len(left) == len(right) > 1 and len(different) == 1 and different[0] in DIFFERENCES


def position(name: Name, names: Sequence[str]) -> int:
    """Return the position of a column, given by its name or, if none is called so, by its number from 1.

    The sign that begins a comment may be left out of a name, as may quotes.
    """
    for known, wanted in ((list(names), str(name)), ([_bare(known) for known in names], _bare(str(name)))):
        if wanted in known:
            return known.index(wanted)
    if str(name).isdecimal() and 1 <= int(name) <= len(names):
        return int(name) - 1
    raise UnknownColumnError(f"The edges have no column {written(name)}: choose one of {listed(names)}.")


def _bare(name: str) -> str:
    return name.strip(" \"'#%")


def as_list(end: Ends) -> list[Name]:
    """Return the columns that are given for one end as a list."""
    return [end] if isinstance(end, (str, int)) else list(end or ())


def check_names(what: str, names: object) -> None:
    """Refuse anything but a name or number of a column, or a list of them."""
    listed_names = names if isinstance(names, (list, tuple)) and names else [names]
    if names is not None and not all(
        isinstance(name, (str, int)) and not isinstance(name, bool) for name in listed_names
    ):
        raise TravError(
            f"{what}={written(names)} names no column: give its name or its number, a list of them, or None."
        )


def find_ends(names: Sequence[str], src: Sequence[Name], dst: Sequence[Name]) -> tuple[list[str], list[str]]:
    """Return the columns of both ends: those named, those of usual names, or the only two."""
    if src:
        found = [[names[position(name, names)] for name in side] for side in (src, dst)]
        if set(found[0]) & set(found[1]):
            raise TravError(f"src and dst both name {listed(found[0])}: give each end its own column.")
        return found[0], found[1]
    ends = usual_ends(names) or (names if len(names) == 2 and not _is_half(names) else None)
    if ends is None:
        raise EdgeColumnsError(
            f"The edges have neither columns 'src' and 'dst' nor another single pair of usual names: name "
            f"both ends with src= and dst=, from {listed(names)}."
        )
    return [ends[0]], [ends[1]]


def _is_half(names: Sequence[str]) -> bool:
    """Return whether two columns are one end of a usual pair and no end, as dst and weight."""
    ends = {end for pair in USUAL_ENDS[:4] for end in pair}
    return any(one.lower() in ends and NO_ENDS.search(other) for one, other in (names, names[::-1]))


def resembles_a_value(name: str, values: Sequence[str]) -> bool:
    """Return whether a name is among these values, or differs from one only in a number or a last letter."""
    return name in values or (len(_words(name)) > 1 and _shape(name) in set(map(_shape, values)))


def _shape(name: str) -> tuple[str, ...]:
    return tuple("1" if len(word) == 1 or word.isdigit() else word for word in _words(name))
