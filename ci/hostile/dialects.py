"""Small tables of edges as pandas, polars and R write them, in random dialects: read back, or refused."""

from __future__ import annotations

import csv
import functools
import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from rapids_trav.io import files
from rapids_trav.io.dialect import FileOptions

from .cases import Case
from .oracle import expect

ENDS = [("src", "dst"), ("source", "target"), ("From", "To"), ("node_1", "node_2"), ("id1", "id2"),
        ("u", "v"), ("from_stop_id", "to_stop_id"), ("SOURCE", "TARGET"), ("caller", "callee"),
        ("geneA", "geneB")]  # fmt: skip
OTHERS = ["weight", "km", "since", "kind", "score", "note"]
WORDS = [
    "ann", "bob", "cy", "C#", "O'Neil", "New York", "São Paulo", "x@y.org", "http://a.org/b?c=1#d",
    "P-7", "a|b", "Smith, J", "7up", "10.0.0.1", "9606.ENSP01", "a;b", 'the "one"', "50%", "#ai", "-",
    "Å", "三", "a:b", "a\tb", "two\nlines", " padded", "2020-01-01", "True", "e5", "x_1",
]  # fmt: skip


@dataclass(frozen=True)
class Written:
    """A table as it was written: `pairs` are its edges, `said` what the reader has to be told."""

    content: bytes
    pairs: list[tuple[str, str]]
    said: dict[str, object]


def cases(seed: int) -> Iterator[Case]:
    """Yield random tables."""
    for i in range(5000):
        name = f"dialects: {i} of seed {seed}"
        yield Case(name, functools.partial(_read_back, f"{seed} {i}"))


def _ids(draw: random.Random) -> list[str]:
    kind = draw.choice(["integers", "integers", "words", "words", "zeros", "mixed", "large"])
    n = draw.randint(2, 12)
    numbers = [str(draw.randint(0, 10 ** draw.choice([1, 2, 4, 9]))) for _ in range(n)]
    if kind == "integers":
        return numbers
    if kind == "zeros":
        return [number.zfill(draw.choice([5, 6])) for number in numbers]
    if kind == "large":
        return [str(draw.randint(2**53, 2**62)) for _ in range(n)]
    plain = [word for word in WORDS if word.isascii() and word.isalnum()]
    words = draw.sample(draw.choice([WORDS, plain]), min(n, len(plain)))
    return words + numbers if kind == "mixed" else words


def _table(draw: random.Random) -> Written:
    ids = _ids(draw)
    n = draw.randint(1, 30)
    frame = {name: [draw.choice(ids) for _ in range(n)] for name in draw.choice(ENDS)}
    src, dst = frame
    pairs = [(one.strip(), other.strip()) for one, other in zip(frame[src], frame[dst], strict=True)]
    for name in draw.sample(OTHERS, draw.choice([0, 0, 1, 2])):
        if name in ("kind", "note"):
            frame[name] = [draw.choice(["road", "rail", "a b", ""]) for _ in range(n)]
        else:
            frame[name] = [draw.choice([draw.randint(0, 99), round(draw.random() * 9, 3)]) for _ in range(n)]
    names = list(frame)
    if draw.random() < 0.2:
        draw.shuffle(names)
    table = pd.DataFrame(frame)[names]
    header = draw.random() < 0.7 or names[:2] != [src, dst]
    said: dict[str, object] = {}
    if not header:
        said |= {"header": False, "src": 1, "dst": 2}
    write = draw.choice([_pandas, _pandas, _polars, _r])
    text, more = write(draw, table, header)
    return _encoded(draw, text, pairs, said | more)


def _encoded(draw: random.Random, text: str, pairs: list, said: dict) -> Written:
    if draw.random() < 0.2:
        text = draw.choice(["# written by hand\n", "% a table, of edges\n\n", "#\n"]) + text
    if draw.random() < 0.2 and not any("\n" in part for pair in pairs for part in pair):
        text = text.replace("\n", "\r\n")
    encoding = draw.choice(["utf-8"] * 8 + ["utf-8-sig", "utf-16"])
    return Written(text.encode(encoding), pairs, said)


def _pandas(draw: random.Random, table: pd.DataFrame, header: bool) -> tuple[str, dict]:
    index = header and draw.random() < 0.3
    return table.to_csv(
        sep=draw.choice([",", ",", "\t", ";", "|"]),
        header=header,
        index=index,
        quoting=draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    ), {}


def _polars(draw: random.Random, table: pd.DataFrame, header: bool) -> tuple[str, dict]:
    import polars

    style = draw.choice(["necessary", "necessary", "always", "non_numeric"])
    frame = polars.DataFrame(table.to_dict("list"), strict=False)
    separator = draw.choice([",", ",", "\t", ";", "|"])
    return frame.write_csv(separator=separator, include_header=header, quote_style=style), {}


def _r(draw: random.Random, table: pd.DataFrame, header: bool) -> tuple[str, dict]:
    """Write as `write.table` does: words in quotes, and names of rows without a name in the header."""
    names_of_rows = header and draw.random() < 0.5
    separator = draw.choice([" ", " ", "\t", ","])
    words = [not pd.api.types.is_numeric_dtype(table[name]) for name in table]
    numbers = [
        not word or all(value.isdigit() and str(int(value)) == value for value in table[name])
        for name, word in zip(table, words, strict=True)
    ]
    out = io.StringIO()
    if header:
        print(separator.join(f'"{name}"' for name in table), file=out)
    for i, row in enumerate(table.itertuples(index=False), 1):
        fields = [
            str(value) if number else '"' + str(value).replace('"', '""') + '"'
            for value, number in zip(row, numbers, strict=True)
        ]
        print(separator.join([f'"{i}"', *fields] if names_of_rows else fields), file=out)
    return out.getvalue(), {}


def _read_back(seed: str) -> None:
    table = _table(random.Random(seed))
    Path("edges").write_bytes(table.content)
    found = files.read([Path("edges")], FileOptions(**table.said))
    pairs = list(zip(*(found.frame[end[0]].astype(str) for end in (found.src, found.dst)), strict=True))
    expect(pairs == table.pairs, f"{pairs} instead of {table.pairs} in {table.content[:300]!r}")
