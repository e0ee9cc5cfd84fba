"""Count the uses of `Any` in the package, by folder.

    python ci/count_any.py             # a row for each folder and the total
    python ci/count_any.py --files     # a row for each file
    python ci/count_any.py --most 120  # exits with 1 if there are more

Each `Any` in the code counts: in annotations, including quoted ones, in type aliases and in casts.
Imports, comments and docstrings do not count.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def count(source: str) -> int:
    """Count the uses of `Any` in a module's code."""
    total = 0
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id="Any") | ast.Attribute(attr="Any"):
                total += 1
            case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
                total += _count_quoted(annotation)
            case ast.FunctionDef(returns=ast.expr() as annotation):
                total += _count_quoted(annotation)
            case ast.AsyncFunctionDef(returns=ast.expr() as annotation):
                total += _count_quoted(annotation)
            case ast.Call(func=ast.Name(id="cast"), args=[annotation, *_]):
                total += _count_quoted(annotation)
    return total


def _count_quoted(annotation: ast.expr) -> int:
    """Count in the quoted parts of an annotation."""
    constants = (node.value for node in ast.walk(annotation) if isinstance(node, ast.Constant))
    return sum(len(re.findall(r"\bAny\b", text)) for text in constants if isinstance(text, str))


def count_files(package: Path) -> dict[Path, int]:
    """Return the count of each file with any, by its path relative to the package's parent."""
    counts = {
        path.relative_to(package.parent): count(path.read_text()) for path in sorted(package.rglob("*.py"))
    }
    return {path: number for path, number in counts.items() if number}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", nargs="?", type=Path, default=ROOT / "rapids_trav", help="default: ours")
    parser.add_argument("--files", action="store_true", help="a row for each file")
    parser.add_argument("--most", type=int, metavar="N", help="leave with 1 if there are more")
    options = parser.parse_args(arguments)
    rows: Counter[str] = Counter()
    for path, number in count_files(options.package.resolve()).items():
        rows[str(path if options.files or len(path.parts) < 3 else Path(*path.parts[:2]))] += number
    for name, number in rows.most_common():
        print(f"{number:5}  {name}")
    total = rows.total()
    print(f"{total:5}  in all")
    if options.most is not None and total > options.most:
        print(f"Any is used {total} times, more than {options.most}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
