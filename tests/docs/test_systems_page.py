"""docs/systems.md has every requirement that the code cites, and what it names exists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "systems.md"
COUNTS = {"P": 8, "K": 13, "L": 11, "V": 8, "G": 20, "X": 9, "B": 15}  # requirements of each system
FIRST = {"P": 0}  # number of the first one, if it is not 1
FOLDERS = ("rapids_trav", "kernels", "tests", "benchmarks", "ci", "examples")
IDS = "".join(COUNTS)

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
ROW = re.compile(rf"^\| ([{IDS}]\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
CITED = re.compile(rf"\b([{IDS}])(\d{{1,2}})(?: to ([{IDS}])(\d{{1,2}}))?\b")
CODE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """Row of a requirement on the page."""

    id: str
    asks: str
    where: str
    guarded: str


ROWS = [Row(*found) for found in ROW.findall(PAGE.read_text(encoding="utf-8"))]
EACH_ROW = pytest.mark.parametrize("row", ROWS, ids=[row.id for row in ROWS])


def links(text: str) -> Iterator[tuple[str, Path]]:
    """Yield the label and the file of each link into the repository."""
    for label, target in LINK.findall(text):
        if not target.startswith(("https:", "#")):
            yield label.replace("\\", ""), (PAGE.parent / target).resolve()


def comments(path: Path) -> str:
    """Return the comments of a source file; for Python also all strings, which include docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return "\n".join(line.partition("//")[2] for line in text.splitlines())
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return "\n".join(token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))


def citations(text: str) -> set[str]:
    """Return the ids that a text cites, including all ids of a range such as "G1 to G3"."""
    found = set()
    for letter, first, other, last in CITED.findall(text):
        numbers = range(int(first), int(last) + 1) if other == letter else (int(first), int(last or first))
        found |= {f"{letter}{number}" for number in numbers}
    return found


def sources() -> Iterator[Path]:
    """Yield the files that may cite a requirement, except this one."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.parent.name == "hostile":  # made-up dtypes such as V0 look like ids
                continue
            if path.suffix in (".py", ".cu", ".cuh") and path != Path(__file__):
                yield path


def names_of_tests(path: Path) -> set[str]:
    """Return the names of the tests of a file, with tests of classes as Class::test."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return names


def test_every_requirement_has_one_row_in_order():
    wanted = [
        f"{letter}{number}"
        for letter, count in COUNTS.items()
        for number in range(FIRST.get(letter, 1), FIRST.get(letter, 1) + count)
    ]
    assert [row.id for row in ROWS] == wanted


def test_what_the_code_cites_has_a_row():
    known = {row.id for row in ROWS}
    cited = {path: citations(comments(path)) for path in sources()}
    assert any(cited.values())
    assert {str(path.relative_to(ROOT)): ids - known for path, ids in cited.items() if ids - known} == {}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("(SYSTEMS G1 to G3, G8)", {"G1", "G2", "G3", "G8"}),
        ("docs/systems.md, V6", {"V6"}),
        ("P0: a graph on an H100, in G100 or G8x", {"P0"}),
        ("G21 and B16", {"G21", "B16"}),
    ],
)
def test_citations_are_found(text, ids):
    assert citations(text) == ids


def test_comments_and_docstrings_are_read(tmp_path):
    (tmp_path / "a.py").write_text('"""Follow G1."""\nG2 = 1  # as G3 asks\n')
    (tmp_path / "a.cu").write_text("int G1;  // as G2 asks\n")
    assert citations(comments(tmp_path / "a.py")) == {"G1", "G3"}
    assert citations(comments(tmp_path / "a.cu")) == {"G2"}


def test_links_lead_to_files_of_the_repository():
    found = list(links(PAGE.read_text(encoding="utf-8")))
    assert found
    for label, path in found:
        assert path.is_file() and path.is_relative_to(ROOT), label
        file = label.partition("::")[0]
        assert path.as_posix().endswith(f"/{file}"), f"{label} leads to {path}"


def test_headings_that_are_linked_are_there():
    text = PAGE.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {target[1:] for _, target in LINK.findall(text) if target.startswith("#")} == anchors


@EACH_ROW
def test_names_are_in_the_linked_files(row):
    """Each identifier in the column "where" occurs in one of the files linked in that column."""
    files = [path.read_text(encoding="utf-8") for _, path in links(row.where)]
    assert files or row.where.startswith("Not implemented yet")
    for name in CODE.findall(row.where):
        if files and name.isidentifier() and name != "multigpu":
            assert any(re.search(rf"\b{name}\b", text) for text in files), name


@EACH_ROW
def test_tests_are_there(row):
    """Each test that a row names exists; a row without tests says so, as must a row not yet implemented."""
    named = list(links(row.guarded))
    tests = [(label, path) for label, path in named if path.is_relative_to(ROOT / "tests")]
    assert tests or "no test yet" in row.guarded.lower()
    if row.where.startswith("Not implemented yet"):
        assert row.guarded == "No test yet"
    for label, path in tests:
        assert label.partition("::")[2] in names_of_tests(path), label
