"""Choose the tests that a change can make fail.

    python ci/choose_tests.py quick      the files of `make quick`
    python ci/choose_tests.py emulated   the arguments that CI gives to ci/test_emulated.sh
    python ci/choose_tests.py advance    give a change that is ready the next turn, in ci/turn.toml

What was chosen and why goes to the standard error stream.
"""

from __future__ import annotations

import argparse
import ast
import functools
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TURN = ROOT / "ci" / "turn.toml"
SECONDS = ROOT / "ci" / "seconds.toml"  # processor seconds of test files that take one or more
FAST = 0.3  # of the others
SUITE = ROOT / "tests" / "emulated" / "suite.toml"  # the part and the kernels of each emulated test file
OLDEST = 100  # commits after which all has to run
PARTS = 10
ON_GPUS = ("engines/cuda/", "engines/multigpu/", "published/")
QUICK = 30.0  # processor seconds, as recorded, that `make quick` may take: about 50 s on two cores


@dataclass(frozen=True)
class Turn:
    """Number of a change, which decides the parts that CI runs, and the commit from which changes count."""

    turn: int
    since: str

    @classmethod
    def read(cls) -> Turn | None:
        """Return the turn that ci/turn.toml states; None if all has to run."""
        if not TURN.exists():
            return _all("ci/turn.toml is missing")
        turn = cls(**tomllib.loads(TURN.read_text()))
        n_commits = _git("rev-list", "--count", f"{turn.since}..HEAD", failing="")
        if not n_commits or _git("merge-base", turn.since, "HEAD", failing="") != turn.since:
            return _all(f"{turn.since[:8]}, from which changes count, is not among the ancestors")
        if int(n_commits) > OLDEST:
            return _all(f"{turn.since[:8]}, from which changes count, is {n_commits} commits old")
        return turn


def _all(reason: str) -> None:
    print(f"everything: {reason}", file=sys.stderr)


def _git(*words: str, failing: str | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=failing is None)
    return done.stdout.strip() if done.returncode == 0 else failing or ""


def changed_files(since: str) -> list[str]:
    """Return the files that differ from a commit, those that are not committed yet included."""
    new = _git("ls-files", "--others", "--exclude-standard").splitlines()
    return sorted({*_git("diff", "--name-only", since).splitlines(), *new})


# ---- which tests import what


@functools.cache
def imports(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, and each name that it imports from one."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


def module_name(file: str) -> str:
    """Return the name by which tests import a module of the package, or a helper of theirs."""
    path = Path(file).with_suffix("")
    if path.parts[0] == "tests":
        return path.name
    return ".".join(path.parts[:-1] if path.name == "__init__" else path.parts)


def test_files() -> list[Path]:
    return sorted((ROOT / "tests").rglob("test_*.py"))


def tests_of(module: str) -> list[Path]:
    """Return the test files of a module such as "io/text", by its path or its row in tests/modules.toml."""
    row = exceptions().get(module)
    return [ROOT / "tests" / row] if row else found_by_path(module)


@functools.cache
def exceptions() -> dict[str, str]:
    return tomllib.loads((ROOT / "tests" / "modules.toml").read_text())


def found_by_path(module: str) -> list[Path]:
    """Return the test files that the path of a module leads to: the first kind that there is.

    These are tests/io/test_text.py, or those in tests/io that import it, or those there that import another
    module of its folder which leads to it.  Folders above count as well, and tests/gpu for what needs a GPU.
    """
    path = Path(module)
    name = path.parent.name if path.name == "__init__" else path.name
    folders = [folder for folder in (path.parent, *path.parent.parents) if folder.name] or [Path()]
    named = [ROOT / "tests" / folder / f"test_{name}.py" for folder in folders]
    if module.startswith(ON_GPUS):
        folders.append(Path("gpu"))
        named.append(ROOT / "tests" / "gpu" / f"test_{name}_gpu.py")
    near = [test for folder in folders for test in sorted((ROOT / "tests" / folder).glob("test_*.py"))]
    beside = {
        module_name(_relative(file)): file for file in (ROOT / "rapids_trav" / path.parent).glob("*.py")
    }
    own = module_name(f"rapids_trav/{module}.py")
    within = {name: beside.keys() & imports(file) for name, file in beside.items()}
    return (
        [test for test in named if test.exists()][:1]
        or [test for test in near if own in imported(test)]
        or [test for test in near if own in _reached(within, *(beside.keys() & imported(test)))]
    )


def imported(test: Path) -> set[str]:
    """Return the modules that a test imports, with those behind the names that the package offers."""
    return {_offered().get(name, name) for name in imports(test)}


@functools.cache
def _offered() -> dict[str, str]:
    """Return the module behind each name that the package loads at first access."""
    text = (ROOT / "rapids_trav" / "__init__.py").read_text(encoding="utf-8")
    table = next(
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_LAZY"
    )
    return {f"rapids_trav.{name}": module for name, module in ast.literal_eval(table).items()}


def guards(file: str) -> list[str]:
    """Return the test files for a changed file: itself, those of a module, and those that import it."""
    path = Path(file)
    top, *inside = path.with_suffix("").parts
    if top not in ("rapids_trav", "tests") or path.suffix != ".py":
        folder = "docs" if path.suffix == ".md" else top
        return [_relative(test) for test in test_files() if test.parent == ROOT / "tests" / folder]
    if path.name.startswith("test_"):
        return [file] if (ROOT / file).exists() else []
    own = tests_of("/".join(inside)) if top == "rapids_trav" else []
    name = module_name(file)
    return [_relative(test) for test in test_files() if test in own or name in imports(test)]


def _relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# ---- what to run


def quick() -> list[str]:
    """Return the test files for what changed since the merge base with origin/main, or all fast ones."""
    seconds = tomllib.loads(SECONDS.read_text())["tests"] if SECONDS.exists() else {}
    base = _git("merge-base", "origin/main", "HEAD", failing="")
    if not base:
        chosen = [_relative(path) for path in test_files()]
        print("no merge base with origin/main: the fastest tests of all", file=sys.stderr)
    else:
        chosen = sorted({test for file in changed_files(base) for test in guards(file)})
    affordable, total = [], 0.0
    for test in sorted(chosen, key=lambda test: seconds.get(test, FAST)):
        total += seconds.get(test, FAST)
        affordable += [test] if total <= QUICK or not affordable else []
    left_out = len(chosen) - len(affordable)
    print(f"{len(affordable)} test files; {left_out} that take longer are for `make test`", file=sys.stderr)
    return affordable


def emulated() -> list[str]:
    """Return the arguments of ci/test_emulated.sh."""
    turn = Turn.read()
    if turn is None:
        return ["ci"]
    always = emulated_guards(changed_files(turn.since))
    part = turn.turn % PARTS
    print(
        f"part {part} of {PARTS}, and {len(always)} files for what changed since {turn.since[:8]}",
        file=sys.stderr,
    )
    return ["ci", "--part", str(part), *(word for test in always for word in ("--always", test))]


def emulated_guards(changed: Iterable[str]) -> list[str]:
    """Return the emulated test files that import a changed module or launch a kernel that is touched."""
    suite = tomllib.loads(SUITE.read_text())
    kernels = {path for file in changed for path in _kernels_over(file)}
    direct = {test for file in changed if file.endswith(".py") for test in guards(file)}
    return [test for test, row in suite.items() if test in direct or kernels & set(row["kernels"])]


def _kernels_over(file: str) -> set[str]:
    """Return the kernels that a change of this file touches.

    For a module of an engine they are those that it or a module over it names; failing these, modules below
    it; and failing these, modules below those that import it.
    """
    path = Path(file)
    if path.parts[0] == "kernels":
        return _including(path.name)
    if not file.startswith("rapids_trav/engines/") or path.suffix != ".py":
        return set()
    modules = {
        module_name(_relative(path)): path for path in (ROOT / "rapids_trav" / "engines").rglob("*.py")
    }
    below = {name: {other for other in modules if other in imports(path)} for name, path in modules.items()}
    over = {name: {other for other in modules if name in below[other]} for name in modules}
    name = module_name(file)
    circles = [_reached(over, name), _reached(below, name)]
    circles.append(set().union(*(_reached(below, user) for user in over.get(name, ()))))
    return next(filter(None, (_named_kernels(modules, circle) for circle in circles)), set())


def _reached(following: dict[str, set[str]], *names: str) -> set[str]:
    found, new = set(names), list(names)
    while new:
        more = following.get(new.pop(), set()) - found
        found |= more
        new += more
    return found


def _named_kernels(modules: dict[str, Path], names: set[str]) -> set[str]:
    """Return the kernels that these modules name, but for the table of all in the loader."""
    paths = [modules[name] for name in names if name in modules and not name.endswith(".runtime.loader")]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    kernels = [kernel.name for kernel in (ROOT / "kernels").glob("*.cu")]
    return {kernel for kernel in kernels if any(f'"{kernel}"' in text for text in texts)}


def _including(name: str) -> set[str]:
    """Return the .cu files that are this file or include it, directly or not."""
    users = [
        path
        for path in (ROOT / "kernels").iterdir()
        if f'#include "{name}"' in path.read_text(encoding="utf-8")
    ]
    return ({name} if name.endswith(".cu") else set()).union(*(_including(path.name) for path in users))


def advance() -> list[str]:
    """Give the next change its turn: changes count from the newest commit of origin/main, or from HEAD."""
    turn = tomllib.loads(TURN.read_text())["turn"] + 1 if TURN.exists() else 0
    since = _git("merge-base", "origin/main", "HEAD", failing="") or _git("rev-parse", "HEAD")
    comments = (
        [line for line in TURN.read_text().splitlines() if line.startswith("#")] if TURN.exists() else []
    )
    TURN.write_text("\n".join([*comments, f"turn = {turn}", f'since = "{since}"', ""]))
    return [f"turn {turn}, changes since {since[:8]}"]


def main() -> None:
    choices = {"quick": quick, "emulated": emulated, "advance": advance}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=choices)
    print(*choices[parser.parse_args().what](), sep="\n")


if __name__ == "__main__":
    main()
