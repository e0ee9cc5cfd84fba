"""Changes to the tree of a function, and functions found by name, for ci/mutate.py.

A change is a short sentence; what it names is compared by structure, so layout and comments do not matter:

    replace A by B    every expression A, or operator such as `<`, in the function becomes B
    drop A            every statement that is A, calls A, or assigns to A or a part of it
    never A           every condition, or part of one joined by and/or, that is or mentions A, is False
    always A          the same, True
    return A          the function does nothing else

In a function of a kernel, which is text, only `replace A by B` is possible, and spaces do not matter.

A function is named by its dotted path, or for a kernel by `kernels/file.cuh:function`.  It is found elsewhere
if it moved: by as many of the last parts of the path as are known, as long as they name one function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
OPERATORS = {
    "<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq, "is": ast.Is,
    "is not": ast.IsNot, "in": ast.In, "not in": ast.NotIn, "and": ast.And, "or": ast.Or, "+": ast.Add,
    "-": ast.Sub, "*": ast.Mult, "//": ast.FloorDiv, "%": ast.Mod, "|": ast.BitOr, "&": ast.BitAnd,
    "^": ast.BitXor, "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"|\w+|<<=?|>>=?|[-+*/%&|^<>=!]=|&&|\|\||\+\+|--|->|::|\S", re.S
)
NO_FUNCTIONS = {"if", "for", "while", "switch", "constexpr"}


class ChangeError(Exception):
    """A function is not found, or a change does not apply to it."""


def changed(tree: Path, function: str, change: str) -> tuple[Path, str]:
    """Return the file of a function in a tree of sources, and its text with the change."""
    path, begin, end = find(tree, function)
    text = path.read_text(encoding="utf-8")
    made = (_in_python if path.suffix == ".py" else _in_kernel)(text, begin, end, change)
    if made == text:
        raise ChangeError(f"{change!r} changes nothing in {function}")
    return path, made


def find(tree: Path, function: str) -> tuple[Path, int, int]:
    """Return the file of a function, and where its text begins and ends."""
    kernel = ":" in function
    parts = function.split(":" if kernel else ".")
    known = [*(_in_kernels if kernel else _in_package)(tree, parts[-1])]
    for first in range(len(parts)):
        places = [place for names, place in known if names[-len(parts) + first :] == parts[first:]]
        if len(places) == 1:
            return places[0]
        if places:
            raise ChangeError(f"{function} is one of {len(places)} functions: name more of its path")
    raise ChangeError(f"There is no function {function}")


Found = tuple[list[str], tuple[Path, int, int]]  # the names on the path to a function, and its place


@cache
def _texts(tree: Path, pattern: str) -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in sorted(tree.glob(pattern))}


def _in_package(tree: Path, name: str) -> Iterator[Found]:
    for path, text in _texts(tree, "rapids_trav/**/*.py").items():
        if not re.search(rf"def {name}\b", text):
            continue
        names = [*path.relative_to(tree).with_suffix("").parts]
        names = names[:-1] if names[-1] == "__init__" else names
        starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
        for inner, node in _functions(ast.parse(text), []):
            if node.name == name:
                yield names + inner, (path, starts[node.lineno - 1], starts[node.end_lineno])


def _in_kernels(tree: Path, name: str) -> Iterator[Found]:
    for path, text in _texts(tree, "kernels/*.cu*").items():
        if re.search(rf"\b{name}\(", text):
            for found, begin, end in _kernels(text):
                if found == name:
                    yield [f"kernels/{path.name}", name], (path, begin, end)


def _functions(node: ast.AST, names: list[str]) -> Iterator[tuple[list[str], ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        named = [*names, child.name] if isinstance(child, (*FUNCTIONS, ast.ClassDef)) else names
        if isinstance(child, FUNCTIONS):
            yield named, child
        yield from _functions(child, named)


def _kernels(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the name of each function of a file of CUDA, and where its body begins and ends."""
    tokens = [(match[0], match.start()) for match in TOKEN.finditer(text)]
    tokens = [token for token in tokens if not token[0].startswith(("//", "/*"))]
    for i, (token, _) in enumerate(tokens[:-1]):
        if tokens[i + 1][0] != "(" or not token.isidentifier() or token in NO_FUNCTIONS:
            continue
        after = _closing(tokens, i + 1)
        while after < len(tokens) and tokens[after][0] in ("const", "noexcept"):
            after += 1
        if after < len(tokens) and tokens[after][0] == "{":
            yield token, tokens[after][1], tokens[_closing(tokens, after) - 1][1] + 1


def _closing(tokens: list[tuple[str, int]], opening: int) -> int:
    """Return the index behind the bracket that closes that at `opening`."""
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i][0] in "({[") - (tokens[i][0] in ")}]")
        if depth == 0:
            return i + 1
    return len(tokens)


def _in_kernel(text: str, begin: int, end: int, change: str) -> str:
    verb, _, (old, new) = _parsed(change)
    if verb != "replace":
        raise ChangeError(f"{change!r}: a kernel knows `replace A by B` alone")
    wanted = TOKEN.findall(old)
    tokens = [(match[0], match.start(), match.end()) for match in TOKEN.finditer(text, begin, end)]
    tokens = [token for token in tokens if not token[0].startswith(("//", "/*"))]
    words = [token[0] for token in tokens]
    places = [i for i in range(len(words)) if words[i : i + len(wanted)] == wanted]
    for i in reversed(places):
        text = text[: tokens[i][1]] + new + text[tokens[i + len(wanted) - 1][2] :]
    return text


def _in_python(text: str, begin: int, end: int, change: str) -> str:
    lines = text[begin:end]
    indent = len(lines) - len(lines.lstrip())
    module = ast.parse("if True:\n" + lines if indent else lines)
    before = ast.unparse(module)
    changer = _Changer(change)
    changed = ast.unparse(ast.fix_missing_locations(changer.visit_whole(module)))
    if changed == before:
        return text
    body = changed.partition("\n")[2] if indent else changed
    shift = " " * max(indent - 4, 0)
    return text[:begin] + "".join(f"{shift}{line}\n" for line in body.split("\n")) + text[end:]


def _parsed(change: str) -> tuple[str, str, tuple[str, str]]:
    verb, _, rest = change.strip().partition(" ")
    if verb not in ("replace", "drop", "never", "always", "return"):
        raise ChangeError(f"{change!r} begins with no verb of ci/changes.py")
    old, separator, new = rest.partition(" by ")
    if (verb == "replace") != bool(separator):
        raise ChangeError(f"{change!r} is not of a form of ci/changes.py")
    return verb, rest, (old, new)


def _normal(expression: str) -> str:
    return ast.unparse(ast.parse(expression, mode="eval"))


class _Changer(ast.NodeTransformer):
    """Makes a change in the tree of a function."""

    def __init__(self, change: str) -> None:
        self.verb, what, (self.old, self.new) = _parsed(change)
        self.operator = self.verb == "replace" and self.old in OPERATORS
        self.what = what if self.verb == "replace" else ast.unparse(ast.parse(what))
        if self.verb == "replace" and not self.operator:
            self.old = _normal(self.old)

    def visit_whole(self, module: ast.Module) -> ast.Module:
        """Change a module that has the function alone."""
        if self.verb == "return":
            node = next(node for node in ast.walk(module) if isinstance(node, FUNCTIONS))
            node.body = [ast.Return(ast.parse(self.what, mode="eval").body)]
            return module
        return self.visit(module)

    def visit(self, node: ast.AST) -> ast.AST:
        if self.verb == "drop" and isinstance(node, ast.stmt) and self._is_dropped(node):
            return ast.Pass()
        if self.verb == "replace" and isinstance(node, ast.expr) and self._is_old(node):
            return ast.parse(self.new, mode="eval").body
        node = self.generic_visit(node)
        if self.operator:
            return self._with_operator(node)
        if self.verb in ("never", "always"):
            self._decide(node)
        return node

    def _is_old(self, node: ast.expr) -> bool:
        return (
            not self.operator
            and ast.unparse(node) == self.old
            and not isinstance(getattr(node, "ctx", None), ast.Store)
        )

    def _is_dropped(self, node: ast.stmt) -> bool:
        if ast.unparse(node) == self.what:
            return True
        match node:
            case ast.Break() | ast.Continue() | ast.Raise() | ast.Return():
                return self.what == type(node).__name__.lower()
            case ast.Expr(ast.Call(function)) | ast.Expr(ast.Await(ast.Call(function))):
                return self._names(function)
            case ast.Assign(targets):
                return any(map(self._names, targets))
            case ast.AugAssign(target):
                return self._names(target)
        return False

    def _names(self, node: ast.AST) -> bool:
        """Return whether an expression is what is named, ends with that attribute, or is a part of it."""
        if isinstance(node, ast.Subscript) and self._names(node.value):
            return True
        return ast.unparse(node) == self.what or getattr(node, "attr", None) == self.what

    def _with_operator(self, node: ast.AST) -> ast.AST:
        old, new = OPERATORS[self.old], OPERATORS[self.new]
        if isinstance(node, ast.Compare):
            node.ops = [new() if isinstance(operator, old) else operator for operator in node.ops]
        elif isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign) and isinstance(node.op, old):
            node.op = new()
        return node

    def _decide(self, node: ast.AST) -> None:
        """Decide the conditions of a node."""
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            node.test = self._decided(node.test)
        elif isinstance(node, ast.comprehension):
            node.ifs = [self._decided(test) for test in node.ifs]
        elif isinstance(node, ast.BoolOp):
            node.values = [self._decided(value) for value in node.values]

    def _decided(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp):  # its parts were decided before
            return test
        for part in ast.walk(test):
            if isinstance(part, ast.expr) and (
                ast.unparse(part) == self.what or getattr(part, "attr", None) == self.what
            ):
                return ast.Constant(self.verb == "always")
        return test
