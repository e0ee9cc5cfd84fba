"""Write the tables and the picture of docs/scale.md from the rows of ci/scale-model.jsonl.

    python ci/write_scale.py            # rewrite them
    python ci/write_scale.py --check    # exit with 1 if the tables differ from the rows
    python ci/bench/scale_model.py --scale 22 --json ci/scale-model.jsonl       # more rows, minutes
    python ci/bench_dask.py --part claims --part scaling --json ci/gpu-dask.jsonl

Rows of ci/gpu-dask.jsonl, if that file exists, are shown beside the page's predictions for them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click
from bench.scale_tables import TABLES, Rows, draw
from write_tables import MARKED

ROOT = Path(__file__).resolve().parents[1]


def read(folder: Path) -> Rows:
    """Return the rows in a folder; measured ones may be absent."""
    counted, measured = (_lines(folder / name) for name in ("scale-model.jsonl", "gpu-dask.jsonl"))
    if not counted:
        raise click.ClickException(
            f"{folder / 'scale-model.jsonl'} has no rows: run ci/bench/scale_model.py."
        )
    return Rows(counted, measured)


def _lines(path: Path) -> list[dict]:
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.strip()]


def written(text: str, rows: Rows) -> str:
    """Return the text with its tables made from the rows."""

    def fill(match: re.Match) -> str:
        if match[2] not in TABLES:
            raise click.ClickException(f"No table is called {match[2]!r}: there are {', '.join(TABLES)}.")
        return "\n".join([match[1].rstrip("\n"), "", *TABLES[match[2]](rows), "", match[3]])

    return MARKED.sub(fill, text)


@click.command(help=__doc__.split("\n")[0])
@click.option("--check", is_flag=True, help="Write nothing; leave with 1 if the tables would change.")
@click.option("--page", type=click.Path(path_type=Path), default=ROOT / "docs" / "scale.md")
@click.option(
    "--rows", "folder", type=click.Path(path_type=Path), default=ROOT / "ci", help="Folder of the rows."
)
def main(check: bool, page: Path, folder: Path) -> None:
    rows, text = read(folder), page.read_text()
    new = written(text, rows)
    if check:
        sys.exit(int(new != text))
    page.write_text(new)
    draw(rows).savefig(page.with_suffix(".png"), dpi=80, metadata={"Software": None})


if __name__ == "__main__":
    main()
