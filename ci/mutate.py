"""Break the sources on purpose, one mechanism at a time, and report which test notices.

    python ci/mutate.py                      # the mutations that need no GPU
    python ci/mutate.py --where gpu --jobs 4 # those of the kernels, on a machine with a GPU
    python ci/mutate.py push-claim answer-nulls --json mutations.jsonl

ci/mutations/*.toml has a table for each mutation: `mechanism`, `file`, the text to `find` (which must occur
once), its `replace`ment, the `tests` that are expected to notice (arguments of pytest), and `where`
they run ("cpu" by default, or "gpu").  Each mutation is made in a copy of the tree.  First, the tests of all
chosen mutations run in an unchanged copy.

Exit status: 0 if all are caught, 1 if one survives, 2 if one cannot be made or tested.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "ci" / "mutations"
LEFT_OUT = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "gpu-report.json", "*benchmark.jsonl")
PYTEST_FAILED = 1
TIMED_OUT = "(timed out)"


class MutationError(Exception):
    """A mutation cannot be made, or its tests have no result."""


@dataclass(frozen=True)
class Mutation:
    """A deliberate break of one mechanism."""

    name: str
    mechanism: str
    file: str
    find: str
    replace: str
    tests: tuple[str, ...] = ()
    where: str = "cpu"

    def apply(self, tree: Path) -> None:
        """Make the mutation in a copy of the tree."""
        path = tree / self.file
        text = path.read_text() if path.exists() else ""
        if (count := text.count(self.find)) != 1:
            raise MutationError(f"{self.name}: its text occurs {count} times in {self.file}, not once.")
        path.write_text(text.replace(self.find, self.replace))


@dataclass(frozen=True)
class Outcome:
    """Outcome of a mutation: the test that caught it, or None."""

    name: str
    mechanism: str
    file: str
    where: str
    caught_by: str | None
    seconds: float


def load(folder: Path = FOLDER) -> list[Mutation]:
    """Read all mutations, in the order of the files and of the tables in them."""
    found = [
        Mutation(name=name, **{**table, "tests": tuple(table.get("tests", ()))})
        for path in sorted(folder.glob("*.toml"))
        for name, table in tomllib.loads(path.read_text()).items()
    ]
    names = [mutation.name for mutation in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise MutationError(f"Two mutations are called {min(twice)}.")
    return found


def choose(mutations: Sequence[Mutation], names: Sequence[str], where: str) -> list[Mutation]:
    """Return the mutations with these names or, without names, all that run at `where`."""
    known = {mutation.name: mutation for mutation in mutations}
    if unknown := [name for name in names if name not in known]:
        raise MutationError(f"No mutation is called {unknown[0]}.")
    if names:
        return [known[name] for name in names]
    return [mutation for mutation in mutations if mutation.where == where]


def copy_tree(source: Path, target: Path) -> Path:
    """Copy the sources and tests."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        made = {"build", "dist"} if Path(folder) == source else set()
        return LEFT_OUT(folder, names) | made & set(names)

    shutil.copytree(source, target, ignore=left_out, symlinks=True)
    return target


def run_tests(tree: Path, tests: Iterable[str], timeout: float, *options: str) -> tuple[int, str]:
    """Run pytest in a copy of the tree; return its exit status and its output, or that it took too long."""
    environment = os.environ | {"PYTHONPATH": first_on_path(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider", *options]
    process = subprocess.Popen(
        [*command, *tests], cwd=tree, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return PYTEST_FAILED, TIMED_OUT
    return process.returncode, output


def first_on_path(tree: Path) -> str:
    """Return a PYTHONPATH with a copy of the tree before the present entries."""
    return os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))


def caught_by(code: int, output: str) -> str | None:
    """Return the test that failed; None if all passed."""
    if output == TIMED_OUT:
        return TIMED_OUT
    if code < 0 or "Fatal Python error" in output:
        return f"(killed by signal {abs(code)})"
    if failed := re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE):
        return failed[1]
    if code == 0 and re.search(r"\b\d+ passed", output):
        return None
    raise MutationError(f"pytest ended with status {code} and no result: {output[-500:]}")


def try_one(mutation: Mutation, clean: Path, timeout: float) -> Outcome:
    """Make a mutation in a copy of `clean` and run its tests up to the first that fails."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        tree = copy_tree(clean, Path(folder, "tree"))
        mutation.apply(tree)
        try:
            caught = caught_by(*run_tests(tree, mutation.tests, timeout, "-x", *_on_one_process()))
        except MutationError as error:
            raise MutationError(f"{mutation.name}: {error}") from error
    seconds = round(time.perf_counter() - start, 1)
    return Outcome(mutation.name, mutation.mechanism, mutation.file, mutation.where, caught, seconds)


def _on_one_process() -> list[str]:
    return [] if find_spec("xdist") is None else ["-n", "0"]


def check_clean(clean: Path, mutations: Sequence[Mutation], jobs: int, timeout: float) -> None:
    """Run the tests of all mutations without any mutation; a test that fails here would catch nothing."""
    tests = sorted({test for mutation in mutations for test in mutation.tests})
    shared = [] if find_spec("xdist") is None else ["-n", str(jobs), "--dist", "worksteal"]
    code, output = run_tests(clean, tests, timeout * 10, *shared)
    if code or not re.search(r"\b\d+ passed", output):
        raise MutationError(f"The tests do not pass without a mutation:\n{output[-3000:]}")
    program = "import rapids_trav; print(rapids_trav.__file__)"
    used = subprocess.check_output(
        [sys.executable, "-c", program],
        cwd=clean,
        env=os.environ | {"PYTHONPATH": first_on_path(clean)},
        text=True,
    )
    if not Path(used.strip()).is_relative_to(clean):
        raise MutationError(f"The tests use the package in {used.strip()}, not its copy.")


def show(outcome: Outcome) -> str:
    """Format a row of the table."""
    verdict = "SURVIVED" if outcome.caught_by is None else f"caught by {outcome.caught_by}"
    return f"{outcome.name:28} {outcome.seconds:6.1f} s  {verdict}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="MUTATION", help="default: all that run there")
    parser.add_argument("--where", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--jobs", type=int, default=2, help="mutations tried at once (default: 2)")
    parser.add_argument(
        "--timeout", type=float, default=60, help="seconds for the tests of one (default: 60)"
    )
    parser.add_argument("--json", type=Path, help="append a line for each mutation to this file")
    options = parser.parse_args(arguments)
    try:
        chosen = choose(load(), options.names, options.where)
        return _run(chosen, options)
    except MutationError as error:
        print(error, file=sys.stderr)
        return 2


def _run(chosen: Sequence[Mutation], options: argparse.Namespace) -> int:
    survivors = [mutation.name for mutation in chosen if not mutation.tests]
    for name in survivors:
        print(f"{name:28}           SURVIVED: no test is named for it")
    tested = [mutation for mutation in chosen if mutation.tests]
    with tempfile.TemporaryDirectory(prefix="clean-") as folder:
        clean = copy_tree(ROOT, Path(folder, "tree"))
        check_clean(clean, tested, options.jobs, options.timeout)
        with ThreadPoolExecutor(options.jobs) as pool:
            for outcome in pool.map(lambda mutation: try_one(mutation, clean, options.timeout), tested):
                print(show(outcome), flush=True)
                if options.json:
                    with options.json.open("a") as file:
                        file.write(json.dumps(asdict(outcome)) + "\n")
                if outcome.caught_by is None:
                    survivors.append(outcome.name)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} caught")
    return int(bool(survivors))


if __name__ == "__main__":
    sys.exit(main())
