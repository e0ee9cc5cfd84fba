"""Command lines: wrong words, contradictory options, disguised files, and unusual environments."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from rapids_trav import TravError
from rapids_trav.cli import run

from .cases import Case
from .oracle import expect

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: dict[str, list[str]] = {
    "bfs": ["-s", "0"], "paths": ["-s", "0", "-t", "1"], "khop": ["-s", "0", "-k", "1"], "components": [],
    "sssp": ["-s", "0", "--weight", "w"], "pagerank": [], "save": ["{folder}/new"],
}  # fmt: skip
WORDS = [
    "", " ", "-", "--", "-1", "0", "1.5", "nan", "1e400", "9" * 400, "nonsense", "é", "a,b", '"', "'", "*",
    "[/red]",
    "%s", "{0}", "\n", "\udcff", "/", "/dev/null", "/proc/self/mem", "{folder}", "{folder}/edges.csv",
    "{folder}/none/x.csv", "x" * 300, "{folder}/" + "x" * 300 + ".csv", "../..", "http://localhost/x.csv",
    "s3://x/y.parquet", "~", "$HOME",
]  # fmt: skip
OPTIONS = [
    *("--src", "--dst", "--format", "--delimiter", "--engine", "--memory-limit", "--spill", "--source"),
    *("--target", "--mode", "--direction", "--depth-limit", "--variant", "--policy", "--where", "--output"),
    *("--seed", "--k", "--vertices", "--weight", "--alpha", "--tol", "--max-iter", "--checkpoint"),
    *("--checkpoint-every", "--plot"),
]  # fmt: skip
FLAGS = [
    *("--directed", "--header", "--no-header", "--string-ids", "--deterministic", "--no-predecessors"),
    *("--reached-only", "--trace", "--quiet", "--resume", "--help", "--nonsense"),
]  # fmt: skip
FILES: dict[str, bytes] = {
    "edges.csv": b"src,dst,w,open\n0,1,2,True\n1,2,3,False\n",
    "words.csv": b"from,to\na,b\nb,c\n",
    "adjacency.txt": b"1 2 3 4 5\n2 3\n", "binary.csv": bytes(range(256)), "empty.csv": b"",
    "fractions.csv": b"src,dst\n0.5,1\n", "mixed.csv": b"src,dst\n0,1\n1,x\n",
    "large.csv": b"src,dst\n0," + b"9" * 30,
    "long.csv": b'src,dst\n0,"' + b"x" * 200_000 + b'"\n', "no.parquet": b"PAR1", "unknown.xyz": b"0 1\n",
}  # fmt: skip
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "Numba may not compile": {"NUMBA_DISABLE_JIT": "1"}, "no threads": {"NUMBA_NUM_THREADS": "0"},
    "no cache": {"NUMBA_CACHE_DIR": "/dev/null"},
    "ASCII": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    "no home": {"HOME": "/nonexistent"}, "no folder for temporary files": {"TMPDIR": "/nonexistent"},
    "warnings are errors": {"PYTHONWARNINGS": "error"}, "no docstrings": {"PYTHONOPTIMIZE": "2"},
    "a narrow screen": {"COLUMNS": "1"}, "no number of columns": {"COLUMNS": "x"},
}  # fmt: skip
STREAMS = {
    "a closed output": ">&-",
    "a closed input": "<&-",
    "closed messages": "2>&-",
    "a full disk": ">/dev/full",
}


def cases(seed: int) -> Iterator[Case]:
    """Yield cases of each option with each word, then files, random command lines, and separate processes."""
    for command in COMMANDS:
        for word in WORDS:
            yield _case(f"edges of {command}: {word[:40]!r}", [command, word, *COMMANDS[command]])
        for option in OPTIONS:
            for word in WORDS[::4] if command != "bfs" else WORDS:
                words = [command, "{folder}/edges.csv", *COMMANDS[command], option, word]
                yield _case(f"options of {command}: {option} {word[:40]!r}", words)
        for flag in FLAGS:
            words = [command, "{folder}/edges.csv", *COMMANDS[command], flag]
            yield _case(f"flags of {command}: {flag}", words)
        for name in FILES:
            yield _case(f"files of {command}: {name}", [command, f"{{folder}}/{name}", *COMMANDS[command]])
    for words in (
        [],
        ["nonsense"],
        ["--version"],
        ["-h"],
        ["graph500"],
        ["graph500", "--scale", "0"],
        ["doctor", "x"],
    ):
        yield _case(f"words: {' '.join(words)}", words)
    for option in ("--scale", "--edge-factor", "--roots", "--seed", "--engine", "--json"):
        for word in WORDS[:8] + WORDS[16:24]:
            words = ["graph500", "--scale", "3", "--roots", "1", "--engine", "cpu", option, word]
            yield _case(f"options of graph500: {option} {word[:40]!r}", words)
    generator = random.Random(seed)
    for i in range(150):
        yield _case(f"random words: {i} of seed {seed}", _drawn(generator))
    for name, environment in ENVIRONMENTS.items():
        yield Case(f"environments: {name}", functools.partial(_process, environment, ""))
    for name, redirection in STREAMS.items():
        yield Case(f"environments: {name}", functools.partial(_process, {}, redirection))


def _drawn(generator: random.Random) -> list[str]:
    command = generator.choice(list(COMMANDS))
    words = [command, "{folder}/" + generator.choice(list(FILES)[:3]), *COMMANDS[command]]
    for _ in range(generator.randint(1, 4)):
        if generator.random() < 0.4:
            words.append(generator.choice(FLAGS))
        else:
            words += [generator.choice(OPTIONS), generator.choice(WORDS)]
    return words


def _case(name: str, words: list[str]) -> Case:
    return Case(f"command lines, {name}", functools.partial(_command, words))


class _Stream(io.TextIOWrapper):
    """A stream that keeps what is printed, as bytes and text."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)

    def text(self) -> str:
        return self.buffer.getvalue().decode()


def _command(words: list[str]) -> None:
    """Run one command line in an empty folder; raise a refusal with the printed message."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            Path(folder, name).write_bytes(content)
        work = Path(folder, "work")
        work.mkdir()
        out, messages, stdin = _Stream(), _Stream(), sys.stdin
        os.chdir(work)
        try:
            sys.stdin = io.TextIOWrapper(io.BytesIO(b"src,dst\n0,1\n1,2\n"))
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
                code = run([word.replace("{folder}", folder) for word in words])
        finally:
            os.chdir(before)
            sys.stdin = stdin
        _judge(code, out.text(), messages.text().replace(folder, "{folder}"))


def _judge(code: int, out: str, said: str) -> None:
    expect("Traceback" not in said + out, said)
    expect(code in (0, 1, 2), f"exit code {code}: {said}")
    if code:
        lines = [line for line in said.splitlines() if line.strip()]
        expect(bool(lines), "nothing is said")
        expect(lines[-1].startswith(("rapids-trav: ", "Error: ", "  ")), said)
        raise TravError(lines[-1])


def _process(environment: dict[str, str], redirection: str) -> None:
    """Run a separate process; if it answers, the answer must be the same in every environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "edges.csv")
        path.write_bytes(FILES["edges.csv"])
        line = f"{sys.executable} {ROOT / 'rapids_trav_cli.py'} bfs {path} -s 0 -q -o - {redirection}"
        known: dict[str, Any] = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        done = subprocess.run(["sh", "-c", line], env=known, capture_output=True, text=True, check=False)
        _judge(done.returncode, done.stdout, done.stderr)
        if ">" not in redirection:
            expect(pd.read_csv(io.StringIO(done.stdout))["distance"].tolist() == [0, 1, 2], done.stdout)
