"""Hostile checkpoints: made-up headers, values and active vertices, with matching checksums."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rapids_trav import Graph
from rapids_trav.programs.checkpoint import NAME
from rapids_trav.programs.page_journal import SUFFIX
from rapids_trav.programs.shipped import connected_components

from .cases import Case

Question = Callable[..., pd.DataFrame]
DEEP: Any = json.loads("[" * 300 + "]" * 300)
VALUES: tuple[Any, ...] = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**40, 1.5, float("nan"), "", "x", "nan", "0x1p+99999", "inf",
    "object", "int8", "float64,int32", [], {}, [1], {"graph": 1}, DEEP,
)  # fmt: skip


def _graph() -> Graph:
    random = np.random.default_rng(0)
    edges = pd.DataFrame(random.integers(0, 45, (90, 2)), columns=["src", "dst"])
    edges["cost"] = random.integers(1, 9, 90)
    return edges.trav.graph(weight="cost", vertices=list(range(45)), degree_sort=True, engine="cpu")


QUESTIONS: dict[str, Question] = {
    "pagerank": lambda graph, **how: graph.pagerank(**how),
    "labels": lambda graph, **how: graph.run(
        connected_components(), initial=range(graph.n_vertices), direction="both", **how
    ),
    "sssp": lambda graph, **how: graph.sssp(0, **how),
}


def cases(seed: int) -> Iterator[Case]:
    """Yield the systematic cases, the same for every seed, then random ones."""
    yield from systematic()
    yield from random_cases(np.random.default_rng(seed))


def systematic() -> Iterator[Case]:
    """Yield a case for each edited field, file and part of the state."""
    graph = _graph()
    for name, question in QUESTIONS.items():
        content = _written(graph, question)
        line, _, rest = content[:-4].partition(b"\n")
        header, n = json.loads(line), graph.n_vertices
        size = np.dtype(header["dtype"]).itemsize

        def case(what: str, body: bytes, question: Question = question, name: str = name) -> Case:
            kind, _, detail = what.partition(": ")
            return Case(f"checkpoint, {kind}: {name} {detail}", _resuming(graph, question, _sealed(body)))

        yield case("untouched", content[:-4])
        edits = VALUES if name == "labels" else VALUES[::4]  # headers are read alike for all programs
        for field in header:
            for value in edits:
                yield case(f"header edited: {field} = {value!r:.20}", _body(header | {field: value}, rest))
            kept = {other: header[other] for other in header if other != field}
            yield case(f"field missing: {field}", _body(kept, rest))
        for field in header["fingerprint"]:
            for value in edits[::2]:
                told = header | {"fingerprint": header["fingerprint"] | {field: value}}
                yield case(f"fingerprint edited: {field} = {value!r:.20}", _body(told, rest))
        for vertices in (0, 1, n - 1, n + 1, 2 * n):  # with a state of matching size
            state = bytes(vertices * size) + bytes(-(-vertices // 8))
            yield case(f"other sizes: {vertices} vertices", _body(header | {"vertices": vertices}, state))
        for dtype in ("int32", "int64", "float32", "float64"):
            state = np.ones(n, dtype).tobytes() + rest[n * size :]
            yield case(f"other types: {dtype}", _body(header | {"dtype": dtype}, state))
        yield case("active: beyond the vertices", _body(header, rest[:-1] + bytes([rest[-1] | 1])))
        yield case("active: all", _body(header, rest[: n * size] + np.packbits(np.ones(n, bool)).tobytes()))
        for value in (-1, n, 2**31 - 1, -(2**31), 0):
            values = np.frombuffer(rest, header["dtype"], n).copy()
            values[n // 2] = value
            yield case(f"other values: {value}", _body(header, values.tobytes() + rest[n * size :]))
        for length in (0, 1, 3, 4, 5, len(line), len(line) + 1, len(content) - 5):
            yield case(f"bytes: cut to {length}", content[:length])
        yield case("bytes: deep header", b"[" * 100_000 + b"\n" + rest)
        yield case("bytes: header without end", b" " * (1 << 21))
        yield case("bytes: a field twice", line[:-1] + b', "vertices": 3}\n' + rest)
    yield from _kinds_of_file(graph)


def random_cases(random: np.random.Generator) -> Iterator[Case]:
    """Yield cases with bytes changed at random places."""
    graph = _graph()
    for i in range(60):
        name = list(QUESTIONS)[i % len(QUESTIONS)]
        content = bytearray(_written(graph, QUESTIONS[name])[:-4])
        for position in random.integers(0, len(content), random.integers(1, 9)):
            content[position] = random.integers(256)
        run = _resuming(graph, QUESTIONS[name], _sealed(bytes(content)))
        yield Case(f"checkpoint, random bytes: {name} {i}", run)


def _written(graph: Graph, question: Question) -> bytes:
    """Return the bytes of a checkpoint written during a run."""
    with tempfile.TemporaryDirectory() as folder:
        question(graph, checkpoint=folder, checkpoint_every=1)
        return Path(folder, NAME).read_bytes()


def _body(header: Any, rest: bytes) -> bytes:
    return json.dumps(header).encode() + b"\n" + rest


def _sealed(body: bytes) -> bytes:
    return body + zlib.crc32(body).to_bytes(4, "little")


def _resuming(graph: Graph, question: Question, content: bytes) -> Callable[[], None]:
    """Return a case that resumes from these bytes; made-up values may go undetected but must do no harm."""

    def run() -> None:
        Path(NAME).write_bytes(content)
        found = question(graph, checkpoint=Path.cwd(), resume=True)
        assert found["vertex"].tolist() == list(range(graph.n_vertices)), "rows are missing"
        if "component" in found:
            assert found["component"].isin(found["vertex"]).all(), "a component is not a vertex"

    return run


def _kinds_of_file(graph: Graph) -> Iterator[Case]:
    """Yield cases with links, pipes and folders in place of the checkpoint and of its partial file."""
    question = QUESTIONS["pagerank"]
    content = _written(graph, question)
    kinds: dict[str, Callable[[Path, Path], object]] = {
        "a link": lambda path, outside: path.symlink_to(outside),
        "a link to a device": lambda path, outside: path.symlink_to("/dev/zero"),
        "a pipe": lambda path, outside: os.mkfifo(path),
        "a folder": lambda path, outside: path.mkdir(),
    }
    for kind, make in kinds.items():
        for name in (NAME, *(Path(NAME).with_suffix(suffix).name for suffix in (".partial", SUFFIX))):
            for resume in (False, True):

                def run(make=make, name: str = name, resume: bool = resume) -> None:
                    outside, folder = Path("outside").absolute(), Path("run").absolute()
                    outside.write_bytes(content)
                    folder.mkdir()
                    make(folder / name, outside)
                    try:
                        question(graph, checkpoint=folder, resume=resume, checkpoint_every=1)
                    finally:
                        assert outside.read_bytes() == content, "a file outside was written to"

                yield Case(f"checkpoint, {kind}: {name}, resume={resume}", run)
