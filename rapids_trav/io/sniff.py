"""Finds how a text file writes its rows, from its first lines and from what the caller says."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rapids_trav.errors import NoEdgesError, TravError
from rapids_trav.io.columns import as_list, usual_ends
from rapids_trav.io.dialect import Dialect, FileOptions, check_comment, is_number, split, without_comments
from rapids_trav.io.formats import marked_encoding, open_bytes
from rapids_trav.io.header import default_names, has, is_header, unique_names

SAMPLE_BYTES = 1 << 18
SAMPLE_LINES = 1000
COMMENTS = ("#", "%")
DELIMITERS = ("\t", ",", ";", "|", " ")
SEPARATOR = re.compile(r'"?sep=(.)"?')  # first line of a file for Excel
RULE = re.compile(r":?-+:?")  # field of the line below the header of a table in Markdown


def find_dialect(path: Path, options: FileOptions) -> Dialect:
    """Find how a file writes its rows; refuse it if there are none, or several ways to understand them."""
    if options.format == "tsv" and options.delimiter is None:
        options = replace(options, delimiter="\t")
    text, encoding, line_end = _first_text(path, options.encoding)
    lines = text.split(line_end)[:SAMPLE_LINES]
    comments = COMMENTS if options.comment is None else tuple(filter(None, [options.comment]))
    marked = [i for i, line in enumerate(lines) if comments and line.lstrip().startswith(comments)]
    plain = [i for i, line in enumerate(lines) if line.strip() and i not in set(marked)]
    told = SEPARATOR.fullmatch(lines[plain[0]].strip(" \r\n")) if plain else None
    if told:  # of Excel, not a row
        options, plain = replace(options, delimiter=options.delimiter or told[1]), plain[1:]
    if not plain:
        skipped = f" but {len(marked)} comments" if marked else ""
        other = ", or say comment='' to read them" if marked else ""
        raise NoEdgesError(f"{path} holds no edges{skipped}: give at least one{other}.")
    body = [lines[i] for i in plain]
    quote = _quote_sign(body) if options.quote is None else options.quote
    delimiter = options.delimiter or _find_delimiter(path, body, quote)
    explicit = options.comment is not None
    if delimiter == " " or explicit:
        body = [without_comments(line, comments, quote) for line in body]
    quote, multiline = _check_quotes(path, body, delimiter, quote, options.quote is None, plain)
    rows = _rows(body, delimiter, quote, multiline)
    _check_signs(path, rows, body, plain)
    if not explicit:
        _check_lists(path, lines, [i for i in marked if i > plain[0]], rows)
    width = max(len(row) for row in rows[1:2] or rows)
    skip = plain[0]
    leading = [i for i in marked if i < skip]
    explained = _explained(lines[leading[-1]], delimiter, comments, width) if leading else ()
    wanted = [
        name
        for name in (*as_list(options.src), *as_list(options.dst), *as_list(options.weight))
        if not str(name).isdecimal() or not 1 <= int(name) <= width
    ]
    header = options.header
    if wanted and has(explained, wanted) and not has(rows[0], wanted):
        names, header = explained, header or False
    else:
        if header is None:
            header = is_header(path, skip + 1, rows, wanted)
        first = ["", *rows[0]] if _has_row_names(body, rows, quote, multiline) else rows[0]
        if rows[1:] and all(len(row) == len(first) + 1 and row[-1] == "" for row in rows[1:]):
            first = [*first, ""]  # rows end with a delimiter
        if not usual_ends(rows[0]) and not wanted:
            _check_width(path, skip, body[0], first, rows)
        names = (
            unique_names(path, first, free=options.src is not None) if header else default_names(len(first))
        )
    if len(names) < 2:
        above = any(len(row) > 1 for row in rows)
        advice = (
            "delete it if it is a title or counts the rows"
            if above
            else "check the delimiter, which delimiter= names"
        )
        advice = "write a tab for each '::'" if "::" in body[0] else advice
        if not explicit and body[0].strip() != lines[skip].strip():
            advice = "say comment='' if the sign behind it begins no comment"
        raise TravError(
            f"Line {skip + 1} of {path} has one field ({body[0].strip()[:40]!r}), and an edge needs two: "
            f"{advice}."
        )
    if not header and options.src is None and _are_numbered(body, rows, quote):
        raise TravError(
            f"Line {skip + 1} of {path} is {body[0].strip()[:60]!r}, with a number in quotes as R's names of "
            f"rows: name both ends by number, such as src=2 and dst=3."
        )
    dialect = Dialect(
        encoding=encoding,
        line_end=line_end,
        delimiter=delimiter,
        quote=quote,
        padded=bool(quote) and delimiter != " " and _is_padded(body, delimiter, quote),
        multiline=multiline,
        decimal=options.decimal,
        comments=comments,
        explicit=explicit,
        names=names,
        header=header,
        explained=explained,
        skip=skip + header,
        n_comments=len(leading),
        sample=rows[header:],
    )
    if not explicit and names is not explained:
        for i in leading:
            check_comment(path, lines[i], dialect)
    return dialect


def _check_lists(
    path: Path, lines: Sequence[str], marked: Sequence[int], rows: Sequence[Sequence[str]]
) -> None:
    """Refuse neighbours listed below their vertex: of igraph's LGL, and of NetworkX with several lines."""
    vertices = {row[0] for row in rows}
    words = [lines[i].strip()[1:].split() for i in marked]
    if words and all(len(line) == 1 and line[0] in vertices for line in words):
        raise TravError(
            f"Line {marked[0] + 1} of {path} is {lines[marked[0]].strip()[:60]!r}, a vertex above its "
            f"neighbours (LGL) or a comment: write each edge on a line of its own, or say comment='#' to "
            f"skip such lines."
        )
    if words == [[]]:
        raise TravError(
            f"Line {marked[0] + 1} of {path} is '#' alone, below which TGF lists edges: delete it with the "
            f"lines above it, or say comment='#' to skip it."
        )
    counts = [row for row in rows if not row[-1].endswith("}")]
    mixed = bool(counts) and counts[0] is rows[0] and len(counts) < len(rows)
    if mixed and all(len(row) == 2 and row[1].isdecimal() for row in counts):
        raise TravError(
            f"{path} has neighbours with their data below the number of them: write each edge on a line of "
            f"its own, as NetworkX does with write_edgelist."
        )


def _are_numbered(lines: Sequence[str], rows: Sequence[Sequence[str]], quote: str) -> bool:
    """Return whether all rows begin with their number in quotes, above others without."""
    numbers = [f"{quote}{i}{quote}" for i in range(1, len(rows) + 1)]
    begin = all(line.lstrip().startswith(number) for number, line in zip(numbers, lines, strict=False))
    return bool(quote) and begin and all(len(row) > 2 for row in rows) and lines[0].count(quote) == 2


def _check_width(
    path: Path, skip: int, line: str, first: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Refuse a first line with more or fewer fields than all others have."""
    widths = {len(row) for row in rows[1:]}
    if len(rows) > 2 and len(widths) == 1 and len(first) not in (1, *widths):
        raise TravError(
            f"Line {skip + 1} of {path} is {line.strip()[:60]!r}, with {len(first)} fields where all others "
            f"have {widths.pop()}: delete it if it is a title or counts vertices and edges, or name the sign "
            f"of comments with comment=."
        )


def _check_signs(
    path: Path, rows: Sequence[Sequence[str]], lines: Sequence[str], numbers: Sequence[int]
) -> None:
    """Refuse brackets around rows, signs that cling to a field of every row, and rules below a header."""
    full = [row for row in rows if len(row) > 1]
    if not full or len(full) < len(rows) - 1:
        return
    place = f"Line {numbers[-1] + 1} of {path} is {lines[-1].strip()[:60]!r}"
    pair = {row[0][:1] + row[-1][-1:] for row in full if row[0][-1:] != row[-1][-1:]}
    if len(pair) == 1 and pair <= {"()", "[]", "{}", "<>"}:
        raise TravError(f"{place}, with brackets around the row: remove them.")
    for i in range(min(map(len, full))):
        signs = {row[i][-1:] for row in full if len(row[i]) > 1}
        if len(signs) == 1 and signs <= set(",;:|") and len(full) == sum(len(row[i]) > 1 for row in full):
            raise TravError(
                f"{place}, where {full[-1][i]!r} ends with a sign: remove it, or name the sign between the "
                f"fields with delimiter=."
            )
    if len(rows) > 1 and any(rows[1]) and all(RULE.fullmatch(field) for field in rows[1] if field):
        raise TravError(f"Line {numbers[1] + 1} of {path} is a rule below the header: delete it.")


def _first_text(path: Path, encoding: str | None) -> tuple[str, str, str]:
    """Return the first lines as text, their encoding, and the end of a line."""
    with open_bytes(path) as stream:
        start = stream.read(SAMPLE_BYTES)
    if encoding is None:
        marked = marked_encoding(start)
        encoding = marked or "utf-8-sig"
        if marked is None and b"\0" in start[:4096]:
            raise TravError(
                f"{path} holds no text of edges: check it, or name its encoding, such as encoding='utf-16', "
                f"or its format with format=."
            )
    text = decoded(path, start, encoding, 1, final=len(start) < SAMPLE_BYTES)
    line_end = "\r" if "\r" in text and "\n" not in text else "\n"
    if len(start) == SAMPLE_BYTES:
        text = text[: text.rfind(line_end)] if line_end in text else text
    return text.replace("\r\n", "\n"), encoding, line_end


def decoded(path: Path, content: bytes | bytearray, encoding: str, line: int, final: bool = True) -> str:
    """Return bytes that begin with a line as text; an error names the line, the byte and the remedy."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(content, final)
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line += content[:start].count(b"\n")
        known, other = ("UTF-8", "latin-1") if encoding.startswith("utf-8") else (encoding, "utf-8")
        raise TravError(
            f"Line {line} of {path} has the byte 0x{content[start : start + 1].hex()}, which is not {known}: "
            f"name the encoding of the file, such as encoding={other!r}."
        ) from error


def _quote_sign(lines: Sequence[str]) -> str:
    """Return the sign around fields: a double quote unless single ones enclose a field of all rows."""
    single = [line for line in lines if re.search(r"(?:^|[,;|\s])'[^']*'(?=[,;|\s]|$)", line)]
    return "'" if len(single) >= max(len(lines) - 1, 1) and not any('"' in line for line in lines) else '"'


def _find_delimiter(path: Path, lines: Sequence[str], quote: str) -> str:
    """Return the delimiter that gives most lines the same number of fields, which is at least two."""
    found: dict[str, tuple[float, list[list[str]]]] = {}
    for delimiter in DELIMITERS:
        rows = _rows(lines, delimiter, quote, False)
        counts = Counter(map(len, rows))
        if (
            len(rows) > 1 and 1 < len(rows[0]) == len(rows[1]) - 1
        ):  # the header of R has no name for names of rows
            counts[len(rows[1])] += 1
        width, times = max(counts.items(), key=lambda item: (item[1], item[0]))
        if width > 1:
            found[delimiter] = times / len(rows), rows
    if not found:
        return " "
    best = max(share for share, _ in found.values())
    good = {delimiter: rows for delimiter, (share, rows) in found.items() if share == best}
    if quote:  # a delimiter that leaves no quote within a field is the likelier one
        good = {
            d: rows for d, rows in good.items() if not any(quote in part for row in rows for part in row)
        } or good
    numbers = [delimiter for delimiter, rows in good.items() if _are_numbers(rows)]
    if len(numbers) == 1:  # "1 2 0,5" is three numbers with blanks between them
        return numbers[0]
    # A tab is hardly ever part of a field, and a sign that a blank follows in each line may be.
    likely = [sign for sign in good if sign != " " and not all(f"{sign} " in line for line in lines)]
    likely = likely or [sign for sign in good if sign != " "]
    numeric = {sign: sum(map(_all_numbers, zip(*good[sign], strict=False))) for sign in likely}
    if len(likely) > 1 and ("\t" not in likely or len(lines) == 1 or numeric["\t"] < max(numeric.values())):
        raise TravError(
            f"{path} has lines such as {lines[0].strip()[:60]!r}, which {' and '.join(map(repr, likely))} "
            f"divide into fields alike: name the one that does with delimiter=."
        )
    return likely[0] if likely else " "


def _all_numbers(values: Sequence[str]) -> bool:
    return all(map(is_number, filter(None, values[1:] or values)))


def _are_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return all(not part or is_number(part.replace(",", ".", 1)) for row in rows[1:] or rows for part in row)


def _rows(lines: Sequence[str], delimiter: str, quote: str, multiline: bool) -> list[list[str]]:
    if not multiline:
        return [split(line, delimiter, quote) for line in lines]
    text = [f"{line}\n" for line in lines]
    reader = csv.reader(text, delimiter=delimiter, quotechar=quote, skipinitialspace=True)
    rows = [[part.strip() for part in row] for row in islice(reader, SAMPLE_LINES)]
    return rows[:-1] if len(rows) > 2 and len(rows[-1]) != len(rows[-2]) else rows  # the last may be cut


def _check_quotes(
    path: Path, lines: Sequence[str], delimiter: str, quote: str, free: bool, numbers: Sequence[int]
) -> tuple[str, bool]:
    """Return the quote, or "" if quotes are ordinary characters, and whether fields span several lines."""
    if not quote or not any(quote in line for line in lines):
        return quote, False
    sign = r"\s" if delimiter == " " else re.escape(delimiter)
    opened = re.compile(rf"(?:^|(?<={sign})) *{quote}")
    closed = re.compile(rf"(?:^|(?<={sign})) *{quote}(?:[^{quote}]|{quote}{quote})*{quote} *(?=$|{sign})")
    starts = [len(opened.findall(closed.sub("x", line))) for line in lines]
    if not any(starts):
        return (quote if any(map(closed.search, lines)) or not free else ""), False
    plain = [split(line, delimiter, "") for line in lines]
    if _are_even(_rows(lines, delimiter, quote, True)) and not (free and _are_even(plain)):
        return quote, True
    if not free:
        return quote, False
    number = next(i for i, count in enumerate(starts) if count)
    raise quote_error(path, numbers[number] + 1, lines[number])


def _are_even(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows have the same number of fields; the header of R may have one less."""
    widths = {len(row) for row in rows[1:]}
    return len(widths) < 2 and all(len(rows[0]) in (width, width - 1) for width in widths)


def quote_error(path: Path, line: int, text: str) -> TravError:
    """Return the error for a quote that may or may not enclose a field."""
    return TravError(
        f"Line {line} of {path} is {text.strip()[:60]!r}, with a quote that encloses no field of the line: "
        f"close it, or say quote='\"' if the field goes on in the next line, or quote='' if quotes are "
        f"ordinary characters."
    )


def _is_padded(lines: Sequence[str], delimiter: str, quote: str) -> bool:
    """Return whether blanks stand between a quote and a delimiter."""
    sign = re.escape(delimiter)
    pattern = re.compile(rf"^[ ]+{quote}|{sign}[ ]+{quote}|{quote}[ ]+(?={sign}|$)")
    return any(quote in line and pattern.search(line) for line in lines)


def _has_row_names(lines: Sequence[str], rows: Sequence[Sequence[str]], quote: str, multiline: bool) -> bool:
    """Return whether rows begin with a name for which the header has none, as R writes them."""
    others = rows[1:]
    if not others or any(len(row) != len(rows[0]) + 1 for row in others[:-1] or others):
        return False
    counted = all(row[0] == str(number) for number, row in enumerate(others, 1))
    words = not any(is_number(part) for row in others for part in row[1:3])
    return (counted and (words or multiline)) or (
        bool(quote) and all(line.startswith(quote) for line in lines[1:])
    )


def _explained(line: str, delimiter: str, comments: tuple[str, ...], width: int) -> tuple[str, ...]:
    """Return the names of columns in a comment above the rows, if there are as many as a row has fields."""
    sign = next(sign for sign in comments if line.lstrip().startswith(sign))
    names = tuple(split(line.strip().removeprefix(sign), delimiter, ""))
    return names if len(names) == width == len(set(names)) and not any(map(is_number, names)) else ()
