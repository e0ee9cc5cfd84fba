"""Unexpected values for the arguments of every public function."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from rapids_trav import Graph, Program, Traced, TravError, datasets, generators
from rapids_trav.graph500 import run as graph500
from rapids_trav.io import read_edges, write_frame

from .cases import Case
from .oracle import counted, expect


class _Path:
    """An object that claims to be a path."""

    def __init__(self, path: Any) -> None:
        self._path = path

    def __fspath__(self) -> Any:
        return self._path


VALUES: dict[str, Any] = {
    "None": None, "True": True, "0": 0, "-1": -1, "1.5": 1.5, "nan": float("nan"), "inf": float("inf"),
    "2^31": 2**31, "2^63": 2**63, "-2^70": -(2**70), "10^5000": 10**5000, "empty": "", "a word": "nonsense",
    "a null character": "a\0b", "no text": "\ud800", "bytes": b"x", "empty list": [], "list": [1, 2],
    "empty dict": {}, "tuple": (1, "a"), "nested": [[1], [2, 3]], "set": {1}, "array": np.array([1, 2]),
    "empty array": np.array([]), "table": np.zeros((2, 2)), "scalar array": np.array(3),
    "Series": pd.Series([1, 2]),
    "frame": pd.DataFrame({"a": [1]}), "object": object(), "type": int, "function": lambda: None,
    "complex": 1j, "array of fixed-width bytes": np.array([b"a"], "S5"),
    "array of raw bytes": np.array([b"a"], "V1"), "array of records": np.zeros(1, [("a", int)]),
    "path of bytes": _Path(b"x"), "path of a number": _Path(1), "mixed": ["a", 1],
    "NumPy's False": np.False_, "NumPy's 1": np.int8(1), "null": pd.NA, "no time": pd.NaT,
}  # fmt: skip
SIZES = ("2^31", "2^63")  # valid but large sizes for generated graphs

GENERATORS = (generators.rmat, generators.rmat_frames, generators.grid, generators.path, generators.star)


@functools.cache
def graphs() -> dict[str, Graph]:
    """Return a path graph of four vertices under ids of several kinds."""
    steps = {"open": [True, False, True], "km": [1.0, 2.0, 3.0]}
    ids: dict[str, list[Any]] = {
        "integers": [0, 1, 2, 3],
        "words": ["a", "b", "c", "d"],
        "moments": list(pd.date_range("2000", periods=4)),
        "floats": [0.0, 1.0, 2.0, 3.0],
    }
    made = {
        name: pd.DataFrame({"src": ids[name][:3], "dst": ids[name][1:], **steps}).trav.graph(weight="km")
        for name in ids
    }
    pairs = pd.DataFrame(
        {"a": [0, 0, 1], "b": ["x", "y", "x"], "c": [0, 1, 1], "d": ["y", "x", "y"], **steps}
    )
    made["pairs"] = pairs.trav.graph(["a", "b"], ["c", "d"], weight="km")
    made["nothing"] = pd.DataFrame({"src": [], "dst": [], "km": []}).astype("int64").trav.graph(weight="km")
    return made


FIRST = {"integers": 0, "words": "a", "moments": pd.Timestamp("2000"), "floats": 0.0, "pairs": (0, "x")}


def cases(seed: int) -> Iterator[Case]:
    """Yield a case for each argument with each value; the same for every seed."""
    for value in VALUES:
        for kind in graphs():
            yield Case(f"ids as arguments: {value}, {kind}", functools.partial(_ids, kind, value))
        for name in ("bfs", "paths", "khop", "levels", "components", "sssp", "pagerank", "run"):
            for option in _options(getattr(Graph, name), name):
                run = functools.partial(_question, name, option, value)
                yield Case(f"options of {name}: {option}={value}", run)
        for option in ("src", "dst", *_options(Graph.from_edges, "from_edges")):
            yield Case(f"options of graph: {option}={value}", functools.partial(_building, option, value))
        yield Case(f"edges: {value}", functools.partial(_edges, value))
        yield Case(f"saving and opening: {value}", functools.partial(_saving, value))
        yield Case(f"file names: {value}", functools.partial(_file, value))
        for option in inspect.signature(Program).parameters:
            yield Case(f"options of Program: {option}={value}", functools.partial(_program, option, value))
        if value not in SIZES:
            for function in GENERATORS:
                for option in inspect.signature(function).parameters:
                    run = functools.partial(_generator, function, option, value)
                    yield Case(f"generators: {function.__name__}, {option}={value}", run)
            for option in ("scale", "edge_factor", "roots", "seed", "engine", "validate"):
                yield Case(f"graph500: {option}={value}", functools.partial(_graph500, option, value))
        for option in ("name", "library"):
            yield Case(f"data sets: {option}={value}", functools.partial(_data_set, option, value))
    for kind in ("coo", "csr", "dok", "lil"):
        for shape in ("matrix", "array"):
            matrix = getattr(scipy.sparse, f"{kind}_{shape}")(np.eye(3))
            yield Case(f"edges: {kind} {shape} of SciPy", functools.partial(_edges_of, matrix))
    for name, edges in EDGES.items():
        yield Case(f"edges: {name}", functools.partial(_edges_of, edges))


def _options(function: Callable, name: str) -> list[str]:
    own = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return [
        *own,
        *(["k"] if name == "khop" else []),
        *(["alpha"] if name == "pagerank" else []),
    ]


def _ids(kind: str, value: str) -> None:
    """Check that an answer starts from some vertex of the graph, consistently for every method."""
    graph, given = graphs()[kind], VALUES[value]
    answer = graph.bfs(given)
    expect(0 in counted(answer), answer)
    expect(graph.sssp(given)["distance"].notna().any())
    expect(len(graph.khop(given, 0).vertices) == (answer["distance"] == 0).sum())
    if kind in FIRST:
        expect(len(graph.paths([FIRST[kind]], given)) >= 1)
        graph.bfs([FIRST[kind]], targets=given)


def _question(name: str, option: str, value: str) -> None:
    """Check that no distance exceeds the length of the graph's only path, wherever the search starts."""
    graph = graphs()["integers"]
    arguments: list[Any] = {"paths": [0, 3], "khop": [0, 1], "components": [], "pagerank": []}.get(name, [0])
    options: dict[str, Any] = {option: VALUES[value]}
    if name == "run":
        arguments = [Program("least", dtype="float64", reducer="min")]
        options = {"initial": 1, **options}
    if option == "k":
        arguments = [0, options.pop("k")]
    if option in ("resume", "checkpoint_every"):
        options["checkpoint"] = "state"
    answer = getattr(graph, name)(*arguments, **options)
    frame = answer.result if isinstance(answer, Traced) else answer
    if name in ("bfs", "sssp"):
        expect(all(0 <= distance <= 6 for distance in counted(frame)), frame)
        expect(frame["vertex"].isin(range(4)).all(), frame)
    elif name == "khop":
        expect(1 <= len(frame.vertices) <= 4, frame)
    elif name == "pagerank":
        expect(abs(frame["pagerank"].sum() - 1) < 1e-3, frame)


def _building(option: str, value: str) -> None:
    frame = pd.DataFrame({"src": [0, 1, 2], "dst": [1, 2, 3], "km": [1, 2, 3]})
    options: dict[str, Any] = {"src": "src", "dst": "dst"} if option in ("src", "dst") else {}
    graph = Graph.from_edges(frame, **{**options, option: VALUES[value]})
    expect(graph.n_edges == 3 and 4 <= graph.n_vertices <= 7, graph)
    expect(counted(graph.bfs(0)) == [0, 1, 2, 3])


def _edges(value: str) -> None:
    _edges_of(VALUES[value])


def _edges_of(edges: Any) -> None:
    graph = Graph.from_edges(edges)
    expect(graph.n_edges >= 0, graph)


FRAME = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})
EDGES: dict[str, Any] = {
    "a file that is not there": "/nonexistent/edges.parquet", "a path that is not there": Path("nonexistent"),
    "a folder": "/", "a device": "/dev/null", "a very long name": "x" * 5000,
    "a frame and a number": [FRAME, 1],
    "a frame and none": [FRAME, None], "frames and paths": [FRAME, "x.parquet"],
    "paths and none": ["a", None],
    "frames of other columns": [FRAME, FRAME[["src"]]], "frames of other types": [FRAME, FRAME.astype(str)],
    "an iterator of nothing": iter(()), "a function that gives none": lambda: None,
    "a function that gives a frame": lambda: FRAME, "a function that gives nothing": lambda: iter(()),
    "a function that gives numbers": lambda: iter([1]), "a function that gives one iterator": (
        iter([FRAME]).__iter__
    ), "a Series": FRAME["src"], "an index": FRAME.index, "a column of frames": [FRAME[["src"]]],
    "a group": FRAME.groupby("src"), "no columns": pd.DataFrame(), "no rows": FRAME[:0],
    "an empty list of names": [""], "a generator of names": (name for name in ["nonexistent"]),
    "an array with names": np.array([(0, 1)], dtype=[("src", int), ("dst", int)]), "a mapping": {"src": [0]},
}  # fmt: skip


def _saving(value: str) -> None:
    """Check that a graph can be saved and opened only where the value names a place."""
    graphs()["integers"].save(VALUES[value])
    expect(Graph.open(VALUES[value], engine="cpu").n_edges == 3)


def _file(value: str) -> None:
    """Check that a file can be written and read only where the value names a place."""
    given = VALUES[value]
    if isinstance(given, str) and given:
        given = f"{given}.csv"
    with contextlib.suppress(TravError):
        expect(len(read_edges(given)) < 0)
    write_frame(FRAME, given)
    expect(len(read_edges(given)) == len(FRAME))


def _program(option: str, value: str) -> None:
    options: dict[str, Any] = {"name": "least", "dtype": "float64", "reducer": "min"}
    program = Program(**{**options, option: VALUES[value]})
    answer = graphs()["integers"].run(program, initial=1.0, max_iterations=3)
    expect(len(answer) == 4, answer)


def _generator(function: Callable, option: str, value: str) -> None:
    options: dict[str, Any] = {"scale": 4} if "scale" in inspect.signature(function).parameters else {}
    if function is generators.grid:
        options = {"rows": 2, "columns": 2}
    if function in (generators.path, generators.star):
        options = {"n_vertices": 3}
    made = function(**{**options, option: VALUES[value]})
    frames = [made] if isinstance(made, pd.DataFrame) else list(made)
    expect(all(list(frame.columns) == ["src", "dst"] for frame in frames))


def _graph500(option: str, value: str) -> None:
    report = graph500(**{"scale": 3, "roots": 1, "engine": "cpu", option: VALUES[value]})
    expect(report.valid is not False)


def _data_set(option: str, value: str) -> None:
    frame = datasets.load(**{"name": "facebook", option: VALUES[value]})
    expect(len(frame) == 88234)
