"""Write the tables of the pages from the rows of the benchmarks, and the picture of docs/scale.md.

    python -m benchmarks pages            # rewrite them
    python -m benchmarks pages --check    # exit with 1 if a table differs from the rows

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`.  Those of README.md,
docs/performance.md and docs/cpu.md are each made from the rows of one run, or of one run on a CPU and one on
a GPU; rows of several runs or sources in one file, or without a run, are refused with exit status 2.  Those
of docs/scale.md are made from counts, beside which measured rows are shown if there are some.  A table whose
rows have no file yet is left as it is.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.harness import read
from benchmarks.pages.tables import TABLES, RowsError, Run
from benchmarks.scale import tables as scale

ROOT = Path(__file__).resolve().parents[2]
ROWS = ROOT / "benchmarks" / "rows"
SCALE = ROOT / "docs" / "scale.md"
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md", ROOT / "docs" / "cpu.md", SCALE)
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)
COUNTED, MEASURED = "scale-model.jsonl", "gpu-dask.jsonl"

Maker = Callable[[], list[str]]


def makers(folder: Path) -> dict[str, Maker]:
    """Return a function for each table whose rows are in the folder."""
    run = functools.cache(lambda file: Run(read(folder / file)))
    found: dict[str, Maker] = {}
    for files, own in TABLES.items():
        if all((folder / file).exists() for file in files):
            found |= {
                name: functools.partial(_of_runs, name, table, run, files) for name, table in own.items()
            }
    if counted := read(folder / COUNTED):
        rows = scale.Rows(counted, read(folder / MEASURED))
        found |= {name: functools.partial(table, rows) for name, table in scale.TABLES.items()}
    return found


def _of_runs(name: str, table: Callable, run: Callable[[str], Run], files: Sequence[str]) -> list[str]:
    try:
        return table(*map(run, files))
    except RowsError as error:
        raise RowsError(f"Table {name}: {error}") from error


def written(text: str, folder: Path) -> str:
    """Return the text with its tables made from the rows in `folder`."""
    made = makers(folder)
    known = {*scale.TABLES, *(name for own in TABLES.values() for name in own)}

    def fill(match: re.Match) -> str:
        if match[2] not in known:
            raise RowsError(f"No table is called {match[2]!r}: there are {', '.join(sorted(known))}.")
        if match[2] not in made:
            return match[0]
        return "\n".join([match[1].rstrip("\n"), "", *made[match[2]](), "", match[3]])

    return MARKED.sub(fill, text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; leave with 1 if it would change")
    parser.add_argument("--page", type=Path, help="only this page")
    parser.add_argument("--rows", type=Path, default=ROWS, help="folder of the rows")
    options = parser.parse_args(arguments)
    pages = PAGES if options.page is None else (options.page,)
    old = {page: page.read_text() for page in pages}
    try:
        new = {page: written(text, options.rows) for page, text in old.items()}
    except RowsError as error:
        print(error, file=sys.stderr)
        return 2
    if options.check:
        return int(new != old)
    for page, text in new.items():
        page.write_text(text)
        if page.name == SCALE.name:
            rows = scale.Rows(read(options.rows / COUNTED), read(options.rows / MEASURED))
            scale.draw(rows).savefig(page.with_suffix(".png"), dpi=80, metadata={"Software": None})
    return 0
