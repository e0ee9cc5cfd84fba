"""Write the tables of the README, docs/performance.md and docs/cpu.md from the rows of the benchmarks.

    python ci/write_tables.py            # rewrite them
    python ci/write_tables.py --check    # exit with 1 if they differ from the rows

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`, and is made from the rows of one
run, or of one run on a CPU and one on a GPU.  Rows of several runs or sources in one file, or without a run,
are refused with exit status 2.  A table whose rows have no file yet is left as it is.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.readme_tables import TABLES, RowsError, Run

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "performance.md", ROOT / "docs" / "cpu.md")
MARKED = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


def read(path: Path) -> Run:
    """Return the rows in a file."""
    return Run(json.loads(line) for line in path.read_text().splitlines() if line.strip())


def written(text: str, folder: Path) -> str:
    """Return the text with its tables made from the rows in `folder`."""
    run = functools.cache(lambda file: read(folder / file))
    made = {name: (files, table) for files, own in TABLES.items() for name, table in own.items()}

    def fill(match: re.Match) -> str:
        name = match[2]
        if name not in made:
            raise RowsError(f"No table is called {name!r}: there are {', '.join(made)}.")
        files, table = made[name]
        if not all((folder / file).exists() for file in files):
            return match[0]
        try:
            lines = table(*map(run, files))
        except RowsError as error:
            raise RowsError(f"Table {name}: {error}") from error
        return "\n".join([match[1].rstrip("\n"), "", *lines, "", match[3]])

    return MARKED.sub(fill, text)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; leave with 1 if it would change")
    parser.add_argument("--page", type=Path, help="only this page")
    parser.add_argument("--rows", type=Path, default=ROOT / "ci", help="folder of the rows")
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
