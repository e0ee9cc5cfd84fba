"""Parser of conditions on the columns of the edges, for `where`: "weight > 3 and kind == 'road'".

The grammar is the package's own and is parsed by recursive descent; nothing is ever evaluated as Python.

    condition  := conjuncts ("or" conjuncts)*
    conjuncts  := test ("and" test)*
    test       := "not" test | "(" condition ")" | comparison
    comparison := column | column "is" ["not"] "null" | operand (operator operand)+
    operator   := "==" | "!=" | "<" | "<=" | ">" | ">="
    operand    := column | value
    column     := a word | `any name in backticks`
    value      := a number | 'text' or "text" | true | false

A quote or backtick is doubled inside its own kind.  Dates are written as text, '2026-05-31'.  The words of
the grammar are case-insensitive.  ``1 < a <= 3`` means ``1 < a and a <= 3``.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from rapids_trav.errors import TravError, UnknownColumnError, listed, written
from rapids_trav.frames.columns import require_column

WORDS = ("and", "or", "not", "is", "null", "none", "true", "false")
MIRRORED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
DEEPEST = 60  # nesting depth of parentheses and nots
TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<column>`(?:[^`]|``)+`)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>==|!=|<=|>=|[<>()+-])
    |(?P<end>$))""",
    re.VERBOSE,
)
HINTS = {
    "=": "== to compare",
    "&": "the word and",
    "|": "the word or",
    "~": "the word not",
    "!": "the word not, or !=",
    "'": "the quote that ends this text",
    '"': "the quote that ends this text",
    "`": "the backtick that ends this name",
}


class Column(NamedTuple):
    """A column, by its name."""

    name: str


class Comparison(NamedTuple):
    """A column compared with another column or with a value."""

    column: Column
    operator: str
    other: Column | bool | int | float | str


class IsNull(NamedTuple):
    """Test whether a column is null."""

    column: Column


class Not(NamedTuple):
    """The negation of a test."""

    test: Test


class AllOf(NamedTuple):
    """Tests joined by `and`."""

    tests: tuple[Test, ...]


class AnyOf(NamedTuple):
    """Tests joined by `or`."""

    tests: tuple[Test, ...]


Test = Column | Comparison | IsNull | Not | AllOf | AnyOf


@dataclass(frozen=True)
class Expression:
    """A parsed condition; two are equal if they differ only in spaces, quotes and needless parentheses."""

    text: str  # in its normal form
    test: Test = field(compare=False)
    columns: tuple[str, ...] = field(compare=False)  # that it reads

    def __repr__(self) -> str:
        return repr(self.text)


class Token(NamedTuple):
    """A token of the text: its kind, its text, and the position of its first character."""

    kind: str
    text: str
    place: int


def parse(text: str, columns: Sequence[Hashable]) -> Expression:
    """Parse a condition on these columns; an error names the first character that does not fit."""
    parser = _Parser(text, columns)
    test = parser.condition(0)
    parser.end()
    return Expression(written_out(test), test, tuple(dict.fromkeys(parser.read)))


class _Parser:
    def __init__(self, text: str, columns: Sequence[Hashable]) -> None:
        self._text = text
        self._columns = columns
        self.read: list[str] = []
        self._token = Token("end", "", 0)
        self._next = 0
        self._advance()

    def condition(self, depth: int) -> Test:
        tests = [self._conjuncts(depth)]
        while self._takes("or"):
            tests.append(self._conjuncts(depth))
        return tests[0] if len(tests) == 1 else AnyOf(tuple(tests))

    def end(self) -> None:
        if self._token.kind != "end":
            self._refuse("and, or or the end")

    def _conjuncts(self, depth: int) -> Test:
        tests = [self._test(depth)]
        while self._takes("and"):
            tests.append(self._test(depth))
        return tests[0] if len(tests) == 1 else AllOf(tuple(tests))

    def _test(self, depth: int) -> Test:
        if depth > DEEPEST:
            raise TravError(
                f"where={written(self._text)} has more than {DEEPEST} parentheses and nots within each other "
                f"at character {self._token.place + 1}: write it with fewer."
            )
        if self._takes("not"):
            return Not(self._test(depth + 1))
        if self._takes("("):
            inner = self.condition(depth + 1)
            if not self._takes(")"):
                self._refuse("and, or or a closing parenthesis")
            return inner
        return self._comparison()

    def _comparison(self) -> Test:
        first, place = self._operand(), self._token
        if isinstance(first, Column) and self._takes("is"):
            negated = self._takes("not")
            if not (self._takes("null") or self._takes("none")):
                self._refuse("null" if negated else "null or not null")
            return Not(IsNull(first)) if negated else IsNull(first)
        tests: list[Test] = []
        while (operator := self._token.text) in MIRRORED and self._token.kind == "sign":
            place = self._token
            self._advance()
            other = self._operand()
            if isinstance(first, Column):
                tests.append(Comparison(first, operator, other))
            elif isinstance(other, Column):
                tests.append(Comparison(other, MIRRORED[operator], first))
            else:
                self._refuse("a column on one side of the comparison", place)
            first = other
        if tests:
            return tests[0] if len(tests) == 1 else AllOf(tuple(tests))
        if not isinstance(first, Column):
            self._refuse("a comparison (==, !=, <, <=, >, >=)")
        return first

    def _operand(self) -> Column | bool | int | float | str:
        token = self._token
        word = token.text.lower() if token.kind == "word" else ""
        if word in ("null", "none"):
            self._refuse("a column or a value (compare with null by `is null`)")
        if word in ("true", "false"):
            self._advance()
            return word == "true"
        if token.kind == "text":
            self._advance()
            quote = token.text[0]
            return token.text[1:-1].replace(2 * quote, quote)
        if token.kind == "number" or token.text in ("+", "-"):
            return self._number()
        if token.kind == "column" or (word and word not in WORDS):
            self._advance()
            return self._named(token)
        return self._refuse("a column or a value")

    def _number(self) -> int | float:
        sign = 1
        if self._token.text in ("+", "-"):
            sign = -1 if self._token.text == "-" else 1
            self._advance()
        token = self._token
        if token.kind != "number":
            self._refuse("a number")
        try:
            value = int(token.text) if token.text.isdigit() else float(token.text)
        except ValueError:  # more digits than Python parses
            value = float("inf")
        if value == float("inf"):
            self._refuse("a number that float64 holds")
        self._advance()
        return sign * value

    def _named(self, token: Token) -> Column:
        name = token.text[1:-1].replace("``", "`") if token.kind == "column" else token.text
        if name not in self._columns:
            parted = token.kind == self._token.kind == "word" and self._token.text.lower() not in WORDS
            hint = " (names with spaces go in backticks)" if parted else ""
            raise UnknownColumnError(
                f"Column {written(name)}, in where={written(self._text)} at character {token.place + 1}, is "
                f"not in the edges: choose one of {listed(self._columns)}{hint}; after adding a column, "
                f"build the graph again."
            )
        require_column(self._columns, name)
        self.read.append(name)
        return Column(name)

    def _takes(self, word: str) -> bool:
        """Consume a word or sign of the grammar if it is the next token; return whether it was."""
        found = self._token.kind in ("word", "sign") and self._token.text.lower() == word
        if found:
            self._advance()
        return found

    def _advance(self) -> None:
        match = TOKEN.match(self._text, self._next)
        if match is None:
            place = self._next + len(self._text[self._next :]) - len(self._text[self._next :].lstrip())
            found = self._text[place]
            expected = HINTS.get(found, "a column, a value or an operator")
            self._refuse(expected, Token("other", found, place))
        kind = str(match.lastgroup)
        self._token = Token(kind, match[kind], match.start(kind))
        self._next = match.end()

    def _refuse(self, expected: str, token: Token | None = None) -> NoReturn:
        token = token or self._token
        if token.kind == "end":
            raise TravError(
                f"where={written(self._text)} ends at character {token.place + 1}, where {expected} is "
                f"expected: the columns are {listed(self._columns)}."
            )
        raise TravError(
            f"where={written(self._text)} is not the name of a column, and as a condition it has "
            f"{written(token.text)} at character {token.place + 1}, where {expected} is expected: the "
            f"columns are {listed(self._columns)}, and names with characters other than letters, digits and "
            f"_ go in backticks."
        )


def written_out(test: Test) -> str:
    """Return a test in its normal form; equal tests have equal normal forms."""
    if isinstance(test, Column):
        plain = re.fullmatch(r"[^\W\d]\w*", test.name) and test.name.lower() not in WORDS
        return test.name if plain else "`" + test.name.replace("`", "``") + "`"
    if isinstance(test, Comparison):
        other = test.other
        value = written_out(other) if isinstance(other, Column) else _value(other)
        return f"{written_out(test.column)} {test.operator} {value}"
    if isinstance(test, IsNull):
        return f"{written_out(test.column)} is null"
    if isinstance(test, Not):
        return f"not {_within(test.test)}"
    return (" and " if isinstance(test, AllOf) else " or ").join(map(_within, test.tests))


def _within(test: Test) -> str:
    text = written_out(test)
    return f"({text})" if isinstance(test, AllOf | AnyOf) else text


def _value(value: bool | int | float | str) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value).lower()
