"""Try bad input, hostile files and hostile folders, and print the outcomes by class of cases.

    python ci/try_hostile.py             # exits with 1 if a case failed
    python ci/try_hostile.py --seed 7    # other random cases

Every failure is shown with its traceback.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.util import find_spec

import click
from hostile.cases import report

MODULES = ("inputs", "folders")


@click.command()
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the random cases.")
@click.option("--only", help="Run the cases whose name contains this.")
def main(seed: int, only: str | None) -> None:
    """Run all cases of the modules that are there."""
    warnings.simplefilter("ignore")
    there = (name for name in MODULES if find_spec(f"hostile.{name}"))
    found = (importlib.import_module(f"hostile.{name}") for name in there)
    cases = (case for module in found for case in module.cases(seed))
    failed = report(case for case in cases if only is None or only in case.name)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
