"""After `doctor --warm`, questions about ordinary graphs compile nothing, in this process or in another."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from rapids_trav.cli import run
from rapids_trav.jit import kernel_cache
from rapids_trav.jit.kernels import keeps
from rapids_trav.warming import Warmed, warm

# Asks graphs of other sizes and ids than the warm-up uses.
QUESTIONS = """
import json
import numpy as np, pandas as pd, rapids_trav
from numba.core import event
from rapids_trav import datasets, generators
from rapids_trav.jit.kernel_cache import KernelCache
from rapids_trav.warming import warm

def ask(edges, **options):
    edges = edges.assign(km=np.arange(len(edges)) % 9 + 0.5, ok=np.arange(len(edges)) % 3 > 0)
    first, other = edges["src"].iloc[0], edges["dst"].iloc[-1]
    graph = edges.trav.graph(**options)
    graph.bfs(first)
    graph.bfs([first, other], predecessors=False)
    graph.bfs(first, where="ok", deterministic=True)
    graph.bfs([first, other], mode="each")
    graph.paths(first, other)
    graph.khop(first, 1)
    graph.components()
    graph.pagerank()
    weighted = edges.trav.graph(weight="km", **options)
    weighted.sssp(first)
    weighted.pagerank()

def ask_all():
    facebook = datasets.load("facebook")
    for edges in (facebook, generators.rmat(12), generators.grid(100, 30), generators.path(9)):
        ask(edges)
        ask(edges, directed=True)
    small = generators.grid(5, 5)
    ask(small.astype(str))
    ask(small.astype("int32"))
"""
IN_A_LATER_PROCESS = f"""{QUESTIONS}
with event.install_recorder("numba:compile") as recorder:
    ask_all()
print(sorted({{told.data["dispatcher"].py_func.__qualname__ for _, told in recorder.buffer}}))
"""
# A function that this process has for the types of a call is not looked up in the cache any more.
IN_THE_SAME_PROCESS = f"""{QUESTIONS}
steps, missing, load = [], [], KernelCache.load_overload
warm("cpu", lambda *told: steps.append(told))

def noted(cache, *arguments):
    missing.append(cache._name)
    return load(cache, *arguments)

KernelCache.load_overload = noted
ask_all()
print(json.dumps([steps, missing]))
"""


def python(*words, **variables):
    done = subprocess.run(
        [sys.executable, *words], env=os.environ | variables, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.slow
def test_questions_after_it_need_nothing_more():
    steps, missing = json.loads(python("-c", IN_THE_SAME_PROCESS))
    assert missing == []
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert {total for *_, total in steps} == {len(steps)}
    assert len({name for name, *_ in steps}) == len(steps)


@pytest.mark.release  # compiles everything; programs in the cache are tested in test_program_cache.py
def test_questions_of_a_later_process_compile_nothing(tmp_path):
    command = ("-c", "from rapids_trav.cli import main; main()", "doctor", "--warm", "--json")
    (told,) = json.loads(python(*command, NUMBA_CACHE_DIR=str(tmp_path)))["warmed"]
    assert told["engine"] == "cpu" and told["kept"] and told["compiled"] > 50
    assert python("-c", IN_A_LATER_PROCESS, NUMBA_CACHE_DIR=str(tmp_path)) == "[]\n"
    (told,) = json.loads(python(*command, NUMBA_CACHE_DIR=str(tmp_path)))["warmed"]
    assert told["compiled"] == 0


def test_the_command_warms_engines_that_work(monkeypatch, capsys):
    asked = []

    def warmed(engine, notify):
        notify("a step", 0, 1)
        asked.append(engine)
        return Warmed(engine, 1.5, 7, kept=True)

    monkeypatch.setattr("rapids_trav.cli.commands.warm", warmed)
    assert run(["doctor"]) == 0
    assert asked == []
    assert run(["doctor", "--warm"]) == 0
    assert "cpu" in asked
    assert "cpu: compiled 7 functions in 1.5 s, kept on disk for later processes." in capsys.readouterr().out


def test_a_cache_that_cannot_be_kept_is_told(monkeypatch):
    """A missing cache is reported: Numba raises a RuntimeError if no locator has a folder, as here."""
    assert keeps()
    monkeypatch.setattr(kernel_cache._Implementation, "_locator_classes", [])
    assert not keeps()
    assert "NUMBA_CACHE_DIR" in str(Warmed("cpu", 1.0, 3, kept=False))


@pytest.mark.gpu
def test_the_gpu_is_warmed():
    told = warm("cuda")
    assert told.engine == "cuda" and told.kept and told.compiled is None
