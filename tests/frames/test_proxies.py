"""Handling of cudf.pandas proxies, with a stand-in for cudf.pandas whose GPU frames are pandas frames too."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pandas as pd
import pytest
from common import rows

import rapids_trav
from rapids_trav.edges.sources import FrameEdges
from rapids_trav.errors import TravError
from rapids_trav.frames import proxies


class Proxy:
    """Proxy of an object that records which side it is asked for."""

    def __init__(self, inside, on_gpu=None):
        self._fsproxy_wrapped = inside
        self._on_gpu = on_gpu
        self.asked = []

    def as_gpu_object(self):
        self.asked.append("gpu")
        if self._on_gpu is None:
            raise RuntimeError("no GPU")
        return self._on_gpu

    def as_cpu_object(self):
        self.asked.append("cpu")
        return self._fsproxy_wrapped


Proxy.DataFrame = type("DataFrame", (Proxy,), {"__module__": "pandas"})


@pytest.fixture
def accelerated(monkeypatch):
    module = SimpleNamespace(
        LOADED=True, is_proxy_object=lambda obj: isinstance(obj, Proxy), as_proxy_object=Proxy.DataFrame
    )
    monkeypatch.setitem(sys.modules, proxies.MODULE, module)
    return module


def edges(n=4):
    return pd.DataFrame({"src": range(n), "dst": range(1, n + 1)})


def test_without_cudf_pandas_nothing_is_a_proxy():
    given = [edges(), {1: edges()}, (1, 2)]
    assert not proxies.is_proxy(given[0])
    assert proxies.opened(given, on_gpu=True) is given
    assert proxies.proxied(given[0]) is given[0]


def test_an_import_alone_changes_nothing(accelerated):
    """`import cudf.pandas` without install() makes no proxies."""
    accelerated.LOADED = False
    assert not proxies.is_proxy(Proxy(1))
    frame = edges()
    assert proxies.proxied(frame) is frame


def test_the_side_that_is_wanted(accelerated):
    cpu, gpu = edges(), edges()
    assert proxies.opened(Proxy(cpu, gpu), on_gpu=True) is gpu
    assert proxies.opened(Proxy(cpu, gpu), on_gpu=False) is cpu
    assert proxies.opened(Proxy(cpu), on_gpu=True) is cpu  # the GPU cannot hold it
    proxy = Proxy(cpu, gpu)
    assert proxies.held(proxy) is cpu and proxy.asked == []


def test_proxies_in_containers_are_found(accelerated):
    given = [1, "a", Proxy(2), (Proxy(3), [Proxy(4)]), {Proxy(5): Proxy(6)}, {7}]
    assert proxies.opened(given, on_gpu=False) == [1, "a", 2, (3, [4]), {5: 6}, {7}]
    assert proxies.opened(frozenset({Proxy(1)}), on_gpu=False) == frozenset({1})
    plain = list(range(1000))
    assert proxies.opened(plain, on_gpu=True) is plain


@pytest.mark.parametrize(("engine", "asked"), [("auto", "gpu"), ("cuda", "gpu"), ("cpu", "cpu")])
def test_the_engine_decides_the_side(accelerated, engine, asked):
    proxy = Proxy.DataFrame(edges(), edges())
    source = FrameEdges([proxy], engine)
    assert proxy.asked == [asked]
    assert isinstance(source.library.hand_out(edges()), Proxy)


def test_frames_are_all_on_one_side(accelerated, monkeypatch):
    """A frame that the GPU cannot hold keeps the others on the CPU."""
    on_gpu = type("DataFrame", (pd.DataFrame,), {"__module__": "cudf.core.dataframe"})(edges())
    with pytest.raises(TravError, match="convert them to one library"):
        FrameEdges([on_gpu, edges()])
    source = FrameEdges([Proxy.DataFrame(edges(), on_gpu), Proxy.DataFrame(edges())])
    assert [type(frame) for frame in source.chunks()] == [pd.DataFrame, pd.DataFrame]
    assert source.library.name == "pandas"


def test_results_are_handed_out_as_proxies(accelerated):
    graph = rapids_trav.Graph.from_edges(Proxy.DataFrame(edges(), edges()), engine="cpu")
    traced = graph.bfs(Proxy(pd.Series([0])), trace=True)
    for found in (
        traced.result,
        traced.trace,
        graph.levels(0),
        graph.degrees(),
        graph.memory(),
        graph.components(),
        *graph.khop(0, 1),
    ):
        assert isinstance(found, Proxy), found
        assert isinstance(found._fsproxy_wrapped, pd.DataFrame)
    assert rows(traced.result._fsproxy_wrapped)[-1] == (4, 4, 3)


def test_plain_frames_give_plain_results(accelerated):
    """Plain pandas frames, which cudf.pandas has not made, give plain pandas results."""
    assert type(edges().trav.bfs(0)) is pd.DataFrame


def test_this_package_sees_pandas_itself(monkeypatch):
    finder = SimpleNamespace(_denylist=("/somewhere",))
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, finder])
    proxies.stay_outside()
    proxies.stay_outside()
    assert finder._denylist == ("/somewhere", proxies._PACKAGE)
    assert rapids_trav.__file__.startswith(finder._denylist[1])
