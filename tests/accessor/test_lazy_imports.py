"""Lazy imports: `import rapids_trav` loads few modules, yet all names and signatures are available."""

import inspect
import subprocess
import sys

import pandas as pd
import pytest

import rapids_trav
from rapids_trav import Graph


def run(code: str) -> str:
    """Return the standard output of `code` in a new Python process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_import_loads_little_beyond_pandas():
    code = """
import sys, pandas
before = set(sys.modules)
import rapids_trav
more = set(sys.modules) - before
own = {name for name in more if name.startswith("rapids_trav")}
print(sorted(name for name in more - own if "." not in name and name not in sys.stdlib_module_names))
print(sorted(name.removeprefix("rapids_trav.") for name in own if name.count(".") == 1))
"""
    others, own = run(code).splitlines()
    assert others == "[]"
    assert own == "['accessor', 'errors', 'frames', 'utilities']"


MODULES = ["datasets", "generators", "io", "plot", "programs", "tuning"]


def test_every_public_name_is_there_when_asked_for_first():
    """Each is asked for in its own copy of a process that has only imported the package."""
    code = f"""
import os, rapids_trav
for name in {[*rapids_trav.__all__, *MODULES]}:
    assert name in dir(rapids_trav), name
    if os.fork() == 0:
        found = getattr(rapids_trav, name, None)
        right = found.__name__ == f"rapids_trav.{{name}}" if name in {MODULES} else found is not None
        os._exit(not right)
    if os.wait()[1]:
        print(name)
"""
    assert run(code) == ""


def test_what_is_listed_is_public():
    listed = {name for name in dir(rapids_trav) if not name.startswith("__")}
    assert listed == {*rapids_trav.__all__, "datasets", "generators", "io", "plot", "tuning"}


def test_names_that_are_not_there():
    with pytest.raises(AttributeError, match=r"^module 'rapids_trav' has no attribute 'grahp'$"):
        rapids_trav.grahp  # noqa: B018
    assert run("from rapids_trav import *; print(Graph.__name__, TravError.__name__)") == "Graph TravError"
    assert run("import rapids_trav; print(rapids_trav.datasets.load.__name__)") == "load"


def test_signatures_are_visible_before_the_first_question():
    code = "import pandas, inspect, rapids_trav; print(inspect.signature(pandas.DataFrame.trav.bfs))"
    assert run(code) == str(inspect.signature(pd.DataFrame.trav.bfs))
    assert list(inspect.signature(pd.DataFrame.trav.bfs).parameters)[:2] == ["self", "sources"]
    assert "bfs" in dir(pd.DataFrame.trav)
    assert inspect.getdoc(pd.DataFrame.trav.levels).startswith("Count the vertices at each distance.")
    frame = pd.DataFrame({"src": [0], "dst": [1]})
    assert inspect.signature(frame.trav.graph) == inspect.signature(frame.trav.graph)
    assert "self" not in inspect.signature(frame.trav.bfs).parameters


def test_graphs_are_named_with_the_type_of_their_answers():
    assert Graph[pd.DataFrame] is not None
    assert isinstance(rapids_trav.TravAccessor(pd.DataFrame({"src": [0], "dst": [1]})).graph(), Graph)
