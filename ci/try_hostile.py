"""Try bad input, hostile files and hostile folders, and print the outcomes by class of cases.

    python ci/try_hostile.py             # exits with 1 if a case failed
    python ci/try_hostile.py --seed 7    # other random cases

Every failure is shown with its traceback.
"""

from __future__ import annotations

import sys
import warnings

import click
from hostile import arguments, checkpoints, columns, commands, dialects, folders, frames, slips, texts
from hostile.cases import report

KINDS = (columns, frames, slips, arguments, texts, dialects, commands, folders, checkpoints)


@click.command()
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random cases.")
@click.option("--only", help="Run the cases whose name contains this.")
def main(seed: int, only: str | None) -> None:
    """Run all cases of all kinds."""
    warnings.simplefilter("ignore")
    cases = (case for kind in KINDS for case in kind.cases(seed))
    sys.exit(int(report(case for case in cases if only is None or only in case.name) > 0))


if __name__ == "__main__":
    main()
