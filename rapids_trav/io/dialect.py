"""How a text file writes its rows: delimiter, quotes, comments, header and encoding."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rapids_trav.errors import TravError, written
from rapids_trav.io.columns import Ends, Name, as_list, check_names, find_ends, position

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


OF_TEXT = ("delimiter", "header", "comment", "quote", "encoding", "decimal", "string_ids")


@dataclass(frozen=True)
class FileOptions:
    """What a caller says about files of edges, as `read_edges` documents it; None is found from the files."""

    src: Ends = None
    dst: Ends = None
    weight: Name | None = None
    format: str = "auto"
    delimiter: str | None = None
    header: bool | None = None
    comment: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str = "."
    string_ids: bool = False

    def __post_init__(self) -> None:
        for name in ("src", "dst", "weight"):
            check_names(name, getattr(self, name))
        if len(as_list(self.src)) != len(as_list(self.dst)):
            raise TravError("src= and dst= go together: name as many columns with each.")
        for name, known, advice in (
            ("delimiter", _is_sign(self.delimiter) and self.delimiter != '"',
             "cannot stand between two fields: give one ASCII character, such as a comma, a tab or a blank"),
            ("quote", self.quote == "" or (_is_sign(self.quote) and str(self.quote).strip() != ""),
             "cannot stand around a field: give one ASCII character, or '' for ordinary quotes"),
            ("comment", self.comment == "" or _is_mark(self.comment),
             "cannot begin a comment: give a sign such as '#', or '' if there are no comments"),
            ("decimal", self.decimal in (".", ","), "is no sign before a fraction: give '.' or ','"),
            ("encoding", _is_encoding(self.encoding), "is no encoding: give one such as 'latin-1'"),
            ("header", isinstance(self.header, (bool, np.bool_)),
             "is neither True, False nor None: give one of them"),
        ):  # fmt: skip
            if not known and getattr(self, name) is not None:
                raise TravError(f"{name}={written(getattr(self, name))} {advice}.")

    def ends(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the columns of both ends, of those with these names."""
        return find_ends(names, as_list(self.src), as_list(self.dst))

    def weighed(self, names: Sequence[str]) -> str | None:
        """Return the column of the weights, of those with these names."""
        return None if self.weight is None else names[position(self.weight, names)]


def _is_sign(value: object) -> bool:
    if not isinstance(value, str) or len(value) != 1 or not value.isascii():
        return False
    return value not in "\0\r\n"


def _is_mark(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isprintable() and " " not in value


def _is_encoding(value: object) -> bool:
    try:
        return isinstance(value, str) and codecs.lookup(value)._is_text_encoding
    except (LookupError, ValueError):
        return False


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a text file writes its rows."""

    encoding: str
    line_end: str = "\n"
    delimiter: str  # one character; a blank is any run of blanks and tabs
    quote: str = ""  # around fields, or ""
    padded: bool = False  # whether blanks stand between quotes and delimiters
    multiline: bool = False  # whether fields in quotes go over several lines
    decimal: str = "."
    comments: tuple[str, ...]  # signs that begin a comment
    explicit: bool  # whether the caller has named that sign
    names: tuple[str, ...]  # of the columns; as many as a row has fields
    header: bool  # whether a line names the columns
    explained: tuple[str, ...] = ()  # names of the columns in a comment above the rows
    skip: int  # lines before the first row
    n_comments: int  # comments among these
    sample: Sequence[Sequence[str]] = field(repr=False, compare=False)  # the first rows

    @property
    def inline(self) -> bool:
        """Whether a comment may follow a row on its line."""
        return bool(self.comments) and (self.delimiter == " " or self.explicit)

    def split(self, line: str) -> list[str]:
        """Return the fields of a line."""
        return split(line, self.delimiter, self.quote)


def split(line: str, delimiter: str, quote: str) -> list[str]:
    """Return the fields of a line, without quotes and surrounding blanks."""
    line = line.strip(" \r\n" if delimiter == "\t" else " \t\r\n")
    if delimiter == " ":
        line = line.replace("\t", " ")
    if quote and quote in line:
        try:
            reader = csv.reader([line], delimiter=delimiter, quotechar=quote, skipinitialspace=True)
            return [part.strip() for part in next(reader, [])]
        except csv.Error:  # a field of more than 128 KB
            pass
    return line.split() if delimiter == " " else [part.strip() for part in line.split(delimiter)]


def is_infinite(field: str) -> bool:
    """Return whether a field says that a number is infinite."""
    return field.lower().lstrip("+-") in ("inf", "infinity")


def is_number(field: str, decimal: str = ".") -> bool:
    """Return whether a field is a number, nan and infinity apart."""
    if decimal == ",":
        field = field.replace(".", "x").replace(",", ".")
    return NUMBER.fullmatch(field) is not None


def comment_pattern(comments: tuple[str, ...], quote: str) -> re.Pattern[str]:
    """Return a pattern of comments at the start of a line or after a blank; quoted fields are its group."""
    signs = "|".join(map(re.escape, comments))
    quoted = rf"(?<!\S){quote}[^{quote}\n]*{quote}" if quote else "(?!)"
    return re.compile(rf"(?m)({quoted})|(?:^|[ \t]+)(?:{signs}).*")


def without_comments(line: str, comments: tuple[str, ...], quote: str) -> str:
    """Return a line up to the sign that begins a comment."""
    if not any(sign in line for sign in comments):
        return line
    return comment_pattern(comments, quote).sub(lambda found: found[1] or "", line)


def check_comment(path: Path, line: str, dialect: Dialect) -> None:
    """Refuse a line that begins like a comment and may be a row, as "#ai alice" among rows of words."""
    line, fields = line.strip(), dialect.split(line)
    sign = next(sign for sign in dialect.comments if line.startswith(sign))
    if len(fields) != len(dialect.names) or not line.removeprefix(sign)[:1].strip():
        return
    numbers = _numbers(dialect)
    alike = [is_number(part) or not number for part, number in zip(fields, numbers, strict=True)]
    # A number behind the sign is a row that was made a comment, and names are neither empty nor numbers.
    word = not is_number(fields[0].removeprefix(sign)) and any(numbers[1:]) and all(alike[1:])
    if all(alike) or word or any(not part or part.startswith(sign) for part in fields[1:]):
        raise _doubtful(path, line, sign)


def check_marked_row(path: Path, line: str, dialect: Dialect) -> None:
    """Refuse a line with all fields that is more like a comment, as "#2,3" among rows of numbers."""
    line, fields = line.strip(), dialect.split(line)
    sign = next(sign for sign in dialect.comments if line.startswith(sign))
    firsts = [row[0] for row in dialect.sample if not row[0].startswith(dialect.comments)]
    numbers = bool(firsts) and all(map(is_number, firsts))
    if not line.removeprefix(sign)[:1].strip() or (numbers and not is_number(fields[0])):
        raise _doubtful(path, line, sign)


def _numbers(dialect: Dialect) -> list[bool]:
    """Return which columns of the first rows hold numbers."""
    width, rows = len(dialect.names), dialect.sample
    return [all(is_number(row[i]) for row in rows if len(row) > i) for i in range(width)]


def _doubtful(path: Path, line: str, sign: str) -> TravError:
    return TravError(
        f"{path} has the line {line[:60]!r}, which may be a comment or a row: say comment={sign!r} to "
        f"skip such lines, or comment='' to read them."
    )
