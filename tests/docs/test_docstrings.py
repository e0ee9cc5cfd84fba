"""Docstrings: all that docs/api.md lists has an example, which prints what it shows."""

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import rapids_trav

PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text(encoding="utf-8")
DIRECTIVE = re.compile(r"^\.\. auto(class|module):: (\S+)\n((?:   :.*\n)*)", re.MULTILINE)
NEEDS = {"to_igraph": "igraph", "to_networkx": "networkx", "to_scipy": "scipy", "plot": "matplotlib"}


def option(options: str, name: str) -> list[str]:
    """Return the names that an option of a directive lists."""
    found = re.search(rf":{name}:(.*)", options)
    return [part.strip() for part in found[1].split(",") if part.strip()] if found else []


def documented() -> Iterator[tuple[str, object]]:
    """Yield the classes and functions of the page, and the methods of its classes."""
    for kind, name, options in DIRECTIVE.findall(PAGE):
        owner = importlib.import_module(name) if kind == "module" else getattr(rapids_trav, name)
        if kind == "class":
            yield name, owner
        if ":members:" in options:
            members = option(options, "members") or public_functions(owner)
            left_out = option(options, "exclude-members")
            yield from ((f"{name}.{part}", getattr(owner, part)) for part in members if part not in left_out)


def public_functions(holder: object) -> list[str]:
    """Return the names of the public functions or methods that the package defines in a module or class."""
    own = holder.__name__ if inspect.ismodule(holder) else "rapids_trav"
    members = {name: getattr(holder, name) for name in dir(holder) if not name.startswith("_")}
    return [
        name
        for name, member in members.items()
        if inspect.isroutine(member) or hasattr(member, "__wrapped__")  # functools.cache makes an object
        if str(getattr(member, "__module__", "")).startswith(own)
    ]


DOCUMENTED = dict(documented())


def test_the_page_lists_what_a_user_meets():
    assert set(rapids_trav.__all__) <= {name.rpartition(".")[2] for name in DOCUMENTED} | {"programs"}
    assert {"Graph.bfs", "Graph.from_edges", "Graph.to_scipy", "Neighborhood.plot"} <= set(DOCUMENTED)
    assert {"rapids_trav.datasets.load", "rapids_trav.generators.rmat"} <= set(DOCUMENTED)


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_example_prints_what_it_shows(name, tmp_path, monkeypatch):
    pytest.importorskip(NEEDS.get(name.rpartition(".")[2], "rapids_trav"))
    if name.startswith("rapids_trav.plot."):
        pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    run(DOCUMENTED[name].__doc__, name)


def test_the_example_of_the_package():
    run(rapids_trav.__doc__, "rapids_trav")


def run(documentation: str | None, name: str) -> None:
    example = doctest.DocTestParser().get_doctest(inspect.cleandoc(documentation or ""), {}, name, None, None)
    assert example.examples, f"{name} has no example"
    report = []
    failures = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=report.append)
    assert not failures.failed, "".join(report)
