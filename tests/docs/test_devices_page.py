"""docs/devices.md names what is refused, and what a trace says."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import rapids_trav
from rapids_trav import TravError
from rapids_trav.engines.multigpu.one_launch import trace

PAGE = (Path(rapids_trav.__file__).parents[1] / "docs/devices.md").read_text(encoding="utf-8")
EDGES = pd.DataFrame({"src": [0, 1], "dst": [1, 2]})


def test_the_example_is_python():
    (code,) = re.findall(r"^```py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    compile(code, "devices.md", "exec")


def test_all_exchanges_are_named():
    table = PAGE.partition("## What ran")[2].partition("## What is refused")[0]
    named = set(re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE))
    assert named - {"exchange"} == set(trace._EXCHANGES) - {"none"}


@pytest.mark.parametrize("option", ["memory_limit='1GB'", "spill='/tmp'", "order='ids'", "order='locality'"])
def test_what_the_page_says_is_refused_is(option):
    name, _, value = option.partition("=")
    refused = PAGE.partition("## What is refused")[2]
    assert f"`{name}`" in refused or f"`{name}=" in refused
    with pytest.raises(TravError, match=f"^{name}=.*devices"):
        EDGES.trav.graph(devices=[0, 1], **{name: value.strip("'")})


def test_a_graph_on_the_cpu_is_refused():
    with pytest.raises(TravError, match="is for GPUs, but the graph is on the cpu engine"):
        EDGES.trav.graph(devices="all", engine="cpu")
