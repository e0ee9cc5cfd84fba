"""Both engines have the members of `engines.interface.Engine`, with the same names and defaults."""

from __future__ import annotations

import inspect

import pytest

from rapids_trav import engines
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.interface import DeviceEngine, Engine
from rapids_trav.errors import TravError


def methods(protocol: type) -> list[str]:
    return [
        name
        for kind in protocol.__mro__
        if kind not in (object,) and kind.__module__ == Engine.__module__
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and not name.startswith("_")
    ]


@pytest.mark.parametrize(("engine", "protocol"), [(CpuEngine, Engine), (CudaEngine, DeviceEngine)])
def test_methods_take_what_the_protocol_says(engine, protocol):
    names = methods(protocol)
    assert "search" in names and ("run_hybrid" in names) == (protocol is DeviceEngine)
    for name in names:
        promised, given = (inspect.signature(getattr(kind, name)) for kind in (protocol, engine))
        taken = [
            [(p.name, p.kind, p.default) for p in signature.parameters.values()]
            for signature in (promised, given)
        ]
        assert taken[0] == taken[1], name


def test_an_engine_is_known_by_what_it_has():
    engine = CpuEngine()
    assert isinstance(engine, Engine)
    assert not isinstance(engine, DeviceEngine)  # its memory is host memory
    assert engines.select(engine, "pandas") is engine


def test_an_object_with_a_part_of_an_engine_is_refused():
    class Builder:
        def build_adjacency(self, chunks, n_vertices):
            raise AssertionError("it is not asked")

    with pytest.raises(TravError, match="engine="):
        engines.select(Builder(), "pandas")
