"""mypy on a user's scripts: answers have the types of the edges, and wrong use is reported."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # mypy has no cache to begin with
ROOT = Path(__file__).resolve().parents[2]
HEAD = """
from collections.abc import Iterator
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import rapids_trav
from rapids_trav import Graph, Neighborhood, Program, Traced, TravAccessor, TravError
from typing import assert_type

table = pl.DataFrame({"src": [0, 1], "dst": [1, 2], "km": [1.0, 2.0]})
edges = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
graph = Graph.from_edges(table, weight="km")
"""
USE = """
assert_type(graph, Graph[pl.DataFrame])
assert_type(graph.bfs(0, mode="each", depth_limit=3, reached_only=True), pl.DataFrame)
assert_type(graph.bfs(0, trace=True), Traced[pl.DataFrame])
assert_type(graph.bfs(0, trace=True).trace, pl.DataFrame)
assert_type(graph.paths(0, [1, 2]), pl.DataFrame)
assert_type(graph.khop(0, 2, direction="in"), Neighborhood[pl.DataFrame])
assert_type(graph.khop(0, 2).edges, pl.DataFrame)
assert_type(graph.levels(0), pl.DataFrame)
assert_type(graph.degrees(), pl.DataFrame)
assert_type(graph.components(), pl.DataFrame)
assert_type(graph.sssp([0], predecessors=False), pl.DataFrame)
assert_type(graph.sssp(0, trace=True).result, pl.DataFrame)
assert_type(graph.pagerank(0.85, tol=1e-6), pl.DataFrame)
assert_type(graph.run(Program("least", dtype="int64", reducer="min"), initial=0), pl.DataFrame)
assert_type(graph.memory(), pl.DataFrame)
assert_type(graph.annotate(table, graph.bfs(0)), pl.DataFrame)
assert_type(graph.annotate(edges, graph.bfs(0), on="src"), pd.DataFrame)
assert_type(graph.n_vertices, int)
assert_type(graph.directed, bool)
graph.save("folder")
assert_type(graph.to_scipy().shape, tuple[int, int])
vertices, rows = graph.khop(0, 1)
assert_type(rows, pl.DataFrame)

with Graph.from_edges(edges, directed=True, memory_limit="1GB") as of_pandas:
    assert_type(of_pandas.bfs(0), pd.DataFrame)
assert_type(TravAccessor(edges).diameter(), int)

def either(of_any: Graph, traced: Traced, near: Neighborhood, accessor: TravAccessor) -> None:
    of_any.bfs(0).head(len(traced.trace) + len(near.edges))

either(Graph.from_edges(edges), graph.bfs(0, trace=True), graph.khop(0, 1), TravAccessor(table))
assert_type(TravAccessor(edges).graph(), Graph[pd.DataFrame])
assert_type(TravAccessor(edges).bfs(0, directed=True), pd.DataFrame)
assert_type(TravAccessor(table).khop(0, 1).vertices, pl.DataFrame)
assert_type(Graph.from_edges([table, table]), Graph[pl.DataFrame])
assert_type(Graph.from_edges((np.arange(3), np.arange(3))), Graph[pd.DataFrame])
Graph.from_edges("edges.parquet").bfs(0)
Graph.from_edges(["a.parquet", "b.parquet"], engine="cpu").bfs(0)
Graph.from_edges(duckdb.from_arrow(table)).bfs(0)

def made() -> Iterator[pl.DataFrame]:
    yield table

assert_type(Graph.from_edges(made), Graph[pl.DataFrame])

def asked(of: Graph[pl.DataFrame], trace: bool) -> int:
    answer = of.bfs(0, trace=trace)
    return len(answer.result if isinstance(answer, Traced) else answer)

try:
    graph.bfs(9)
except TravError as error:
    print(error)
"""
# Stub with the parts of a pandas frame that the script needs: pandas itself ships without stubs.
PANDAS = """
from collections.abc import Callable, Iterator
class DataFrame:
    def __init__(self, data: object = None) -> None: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    def explode(self, column: str) -> DataFrame: ...
"""
# SciPy ships without stubs too; the type of a returned matrix would then be unknown.
SCIPY = """
class csr_array:
    @property
    def shape(self) -> tuple[int, int]: ...
"""
WRONG = {
    "Graph.from_edges(3)": "call-overload",
    "Graph.from_edges(edges, wheight='km')": "call-overload",
    "graph.bfs()": "call-overload",
    "graph.bfs(0, mode='sideways')": "call-overload",
    "graph.bfs(0, depth=3)": "call-overload",
    "graph.khop(0)": "call-arg",
    "graph.khop(0, '1')": "arg-type",
    "graph.khop(0, 1).rows": "attr-defined",
    "graph.bfs(0, trace=True).head()": "attr-defined",
    "graph.bfs(0).trace": "attr-defined",
    "graph.bsf(0)": "attr-defined",
    "n: str = graph.n_vertices": "assignment",
    "frame: pl.DataFrame = Graph.from_edges(edges).bfs(0)": "assignment",
    "TravAccessor(edges).bfs(0, directd=True)": "call-overload",
}


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Function that checks a script with `mypy --strict`, as its user would, and returns the output."""
    folder = tmp_path_factory.mktemp("typed")
    for name, text in (("pandas", PANDAS), ("scipy", ""), ("scipy/sparse", SCIPY)):
        (folder / "stubs" / name).mkdir(parents=True, exist_ok=True)
        (folder / "stubs" / name / "__init__.pyi").write_text(text)

    def checked(script):
        (folder / "script.py").write_text(script)
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            "--config-file=",
            "script.py",
        ]
        paths = f"{folder / 'stubs'}:{ROOT}"
        done = subprocess.run(
            command,
            cwd=folder,
            env={"MYPYPATH": paths, "PATH": ""},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        return done.stdout

    return checked


def test_a_script_with_every_question_is_typed(check):
    told = check(HEAD + USE)
    # mypy may report missing library stubs in the package itself, which is not installed here as for a user.
    assert [line for line in told.splitlines() if line.startswith("script.py")] == []
    assert "1 source file" in told


def test_wrong_use_is_told(check):
    lines = (HEAD + "\n".join(WRONG)).splitlines()
    told = check("\n".join(lines) + "\n")
    first = len(lines) - len(WRONG) + 1
    for i, (wrong, code) in enumerate(WRONG.items()):
        assert any(
            line.startswith(f"script.py:{first + i}: error:") and line.endswith(f"[{code}]")
            for line in told.splitlines()
        ), (wrong, told)


def test_the_package_says_that_it_is_typed():
    assert (ROOT / "rapids_trav" / "py.typed").exists()
