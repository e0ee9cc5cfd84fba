"""Break the sources on purpose, one mechanism at a time, and report which test notices.

    python ci/mutate.py                      # the mutations that need no GPU
    python ci/mutate.py --where gpu --jobs 4 # those of the kernels, on a machine with a GPU
    python ci/mutate.py --where emulated     # the same without a GPU, as ci/test_emulated.sh runs their tests
    python ci/mutate.py push-claim answer-nulls --json mutations.jsonl

ci/mutations/*.toml has a table for each mutation: `why`, the mechanism, by its id in docs/systems.md if it
has one; the `function`; the `change` to it, in the words of ci/changes.py; and the `tests` that are expected
to notice, arguments of pytest.  Those of kernels and tests/gpu need a GPU.  Each mutation is made in a copy
of the tree.  First, the tests of all chosen mutations run in an unchanged copy.

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

sys.path.insert(0, str(Path(__file__).parent))
from changes import ChangeError, changed

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "ci" / "mutations"
LEFT_OUT = shutil.ignore_patterns(".*", "*.egg-info", "__pycache__", "*.json", "*.jsonl")
PYTEST_FAILED = 1
TIMED_OUT = "(timed out)"


class MutationError(Exception):
    """A mutation cannot be made, or its tests have no result."""


@dataclass(frozen=True)
class Mutation:
    """A deliberate break of one mechanism."""

    name: str
    why: str
    function: str
    change: str
    tests: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        of_gpu = self.function.startswith("kernels/") or any(
            test.startswith("tests/gpu/") for test in self.tests
        )
        return "gpu" if of_gpu else "cpu"

    def apply(self, tree: Path) -> None:
        """Make the mutation in a copy of the tree."""
        try:
            path, text = changed(tree, self.function, self.change)
        except ChangeError as error:
            raise MutationError(f"{error}.") from error
        path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Outcome:
    """Outcome of a mutation: the test that caught it, or None."""

    name: str
    why: str
    function: str
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
    return [mutation for mutation in mutations if (mutation.where == "cpu") == (where == "cpu")]


def copy_tree(source: Path, target: Path) -> Path:
    """Copy the sources and tests."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        made = {"build", "dist"} if Path(folder) == source else set()
        return LEFT_OUT(folder, names) | made & set(names)

    shutil.copytree(source, target, ignore=left_out, symlinks=True)
    return target


@dataclass(frozen=True)
class Runner:
    """How the tests run: on this machine as it is, or on an emulated GPU."""

    timeout: float
    emulated: bool = False

    def environment(self, tree: Path) -> dict[str, str]:
        """Return an environment with a copy of the tree before the present entries of PYTHONPATH."""
        packages = [str(tree / "tests/emulated/packages")] if self.emulated else []
        path = os.pathsep.join(filter(None, [*packages, str(tree), os.environ.get("PYTHONPATH")]))
        kept = {"RAPIDS_TRAV_CACHE_DIR": "/dev/null/none"} if self.emulated else {}
        return os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"} | kept

    def run(self, tree: Path, tests: Iterable[str], *options: str, times: float = 1) -> tuple[int, str]:
        """Run pytest in a copy of the tree; return its exit status and output, or that it took too long."""
        plugin = ["-p", "emulated_gpu", "-m", "gpu", "--long"] if self.emulated else []
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=line", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [*command, *plugin, *options, *tests],
            cwd=tree,
            env=self.environment(tree),
            text=True,
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            output, _ = process.communicate(timeout=self.timeout * times)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return PYTEST_FAILED, TIMED_OUT
        return process.returncode, output

    def check_clean(self, clean: Path, mutations: Sequence[Mutation], jobs: int) -> None:
        """Run the tests of all mutations without any; a test that fails here would catch nothing."""
        tests = sorted({test for mutation in mutations for test in mutation.tests})
        shared = [] if find_spec("xdist") is None else ["-n", str(jobs), "--dist", "worksteal"]
        code, output = self.run(clean, tests, *shared, times=max(10, len(mutations)))
        if code or not re.search(r"\b\d+ passed", output):
            raise MutationError(f"The tests do not pass without a mutation:\n{output[-3000:]}")
        program = "import rapids_trav; print(rapids_trav.__file__)"
        used = subprocess.check_output(
            [sys.executable, "-c", program], cwd=clean, env=self.environment(clean), text=True
        )
        if not Path(used.strip()).is_relative_to(clean):
            raise MutationError(f"The tests use the package in {used.strip()}, not its copy.")

    def try_one(self, mutation: Mutation, clean: Path) -> Outcome:
        """Make a mutation in a copy of `clean` and run its tests up to the first that fails."""
        start = time.perf_counter()
        alone = [] if find_spec("xdist") is None else ["-n", "0"]
        with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
            tree = copy_tree(clean, Path(folder, "tree"))
            mutation.apply(tree)
            caught = caught_by(*self.run(tree, mutation.tests, "-x", *alone))
        seconds = round(time.perf_counter() - start, 1)
        return Outcome(mutation.name, mutation.why, mutation.function, mutation.where, caught, seconds)


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


def show(outcome: Outcome) -> str:
    """Format a row of the table."""
    verdict = "SURVIVED" if outcome.caught_by is None else f"caught by {outcome.caught_by}"
    return f"{outcome.name:28} {outcome.seconds:6.1f} s  {verdict}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="MUTATION", help="default: all that run there")
    parser.add_argument("--where", choices=("cpu", "gpu", "emulated"), default="cpu")
    parser.add_argument("--jobs", type=int, default=2, help="mutations tried at once (default: 2)")
    parser.add_argument(
        "--timeout", type=float, default=60, help="seconds for the tests of one (default: 60)"
    )
    parser.add_argument("--json", type=Path, help="append a line for each mutation to this file")
    options = parser.parse_args(arguments)
    try:
        return _run(choose(load(), options.names, options.where), options)
    except MutationError as error:
        print(error, file=sys.stderr)
        return 2


def _run(chosen: Sequence[Mutation], options: argparse.Namespace) -> int:
    runner = Runner(options.timeout, options.where == "emulated")
    status, n_caught = 0, 0
    with tempfile.TemporaryDirectory(prefix="clean-") as folder:
        clean = copy_tree(ROOT, Path(folder, "tree"))
        runner.check_clean(clean, chosen, options.jobs)

        def tried(mutation: Mutation) -> Outcome | MutationError:
            try:
                return runner.try_one(mutation, clean)
            except MutationError as error:
                return MutationError(f"{mutation.name}: {error}")

        with ThreadPoolExecutor(options.jobs) as pool:
            for outcome in pool.map(tried, chosen):
                if isinstance(outcome, MutationError):
                    print(outcome, file=sys.stderr, flush=True)
                    status = 2
                    continue
                print(show(outcome), flush=True)
                if options.json:
                    with options.json.open("a") as file:
                        file.write(json.dumps(asdict(outcome)) + "\n")
                n_caught += outcome.caught_by is not None
                status = max(status, int(outcome.caught_by is None))
    print(f"{n_caught} of {len(chosen)} caught")
    return status


if __name__ == "__main__":
    sys.exit(main())
