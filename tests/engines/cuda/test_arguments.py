"""The structs of arguments lie in memory as those of the kernels, and each field is given once, by name."""

from __future__ import annotations

import ctypes
import re
from types import SimpleNamespace

import numpy as np
import pytest

from rapids_trav.engines.cuda.programs import link
from rapids_trav.engines.cuda.runtime import arguments, loader, modules
from rapids_trav.engines.cuda.runtime.arguments import (
    DOUBLE,
    FLOAT,
    I32,
    I64,
    POINTER,
    U32,
    U64,
    arguments_of,
)

TEXTS = {path.name: path.read_text() for path in sorted(modules.kernel_directory().glob("*.cu*"))}
# The structs that kernels take, and the file of each.
TAKEN = {
    name: file
    for file, text in TEXTS.items()
    for name in re.findall(r"^(?:extern.*|    )\w+\(const (?:__grid_constant__ )?(\w+) given\)", text, re.M)
}
STRUCTS = {name: arguments_of(file, name) for name, file in TAKEN.items() if name != "Arguments"}
MOST_ARGUMENTS = 11


def errors(text):
    """Return the errors that NVRTC reports for a source."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    program = nvrtc.nvrtcCreateProgram(text.encode(), b"arguments.cu", 0, [], [])[1]
    nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_90", b"-std=c++17"])
    log = b" " * (1 + nvrtc.nvrtcGetProgramLogSize(program)[1])  # one byte alone would be a shared object
    nvrtc.nvrtcGetProgramLog(program, log)
    return [line for line in log.decode().splitlines() if ": error:" in line]


def test_fields_have_the_types_of_the_kernel():
    assert list(STRUCTS["AheadArguments"].kinds.items())[-4:] == [
        ("marks", POINTER),
        ("n_iterations", I64),
        ("tolerance", DOUBLE),
        ("barrier", POINTER),
    ]
    of_blocks = STRUCTS["LentArguments"].kinds
    assert list(of_blocks)[:2] == ["row_offsets", "columns"]  # those of the base come first
    assert (of_blocks["shift"], of_blocks["enough_landed"], of_blocks["block"]) == (I32, U32, I64)


@pytest.mark.parametrize("vertex", [I32, I64])
def test_a_vertex_has_the_type_of_the_graph(vertex):
    alone = arguments_of("bfs_fused.cu", vertex=vertex).kinds
    assert (alone["n_vertices"], alone["n_targets"], alone["alpha"]) == (vertex, U64, FLOAT)
    ranked = arguments_of("bfs_fused.cu", vertex=vertex, ranked=True).kinds
    assert list(ranked.items())[: len(alone)] == list(alone.items())
    assert list(ranked)[len(alone) :][-3:] == ["n_each", "rank", "n_ranks"]
    assert (ranked["shared"], ranked["n_each"]) == (POINTER, vertex)


@pytest.mark.parametrize("bits", [(32, 32), (32, 64), (64, 64)])
@pytest.mark.parametrize("name", STRUCTS)
def test_fields_are_at_the_same_bytes(name, bits):
    struct, file = STRUCTS[name], TAKEN[name]
    checks = [f"static_assert(sizeof({name}) == {ctypes.sizeof(struct)});"]
    checks += [
        f"static_assert(__builtin_offsetof({name}, {field}) == {getattr(struct, field).offset});"
        for field in struct.kinds
    ]
    text = loader.source(file, loader.defines_of(file, *bits))
    assert errors("\n".join([text, *checks])) == []
    assert len(errors(f"{text}\nstatic_assert(sizeof({name}) == 1);")) == 1


@pytest.mark.parametrize("file", sorted({*loader.TUNABLES, *link.FILES, "bfs_2d.cu", "graph500.cu"}))
def test_long_lists_of_arguments_are_structs(file):
    kernel = r'^extern "C" __global__ void\s+(?:__launch_bounds__\(.*?\)\s+)?(\w+)\((.*?)\) \{$'
    found = re.findall(kernel, TEXTS[file], re.MULTILINE | re.DOTALL)
    assert len(found) == TEXTS[file].count("__global__")
    assert {name: n for name, listed in found if (n := listed.count(",") + 1) > MOST_ARGUMENTS} == {}


PlainArguments = STRUCTS["PlainArguments"]
PLAIN = dict.fromkeys(PlainArguments.kinds, None) | {"first_row": 3, "n_rows": 5}


def test_values_are_set_by_name():
    array = SimpleNamespace(data=SimpleNamespace(ptr=4096))
    given = PLAIN | {"values": array, "weights": 2**64 - 8, "n_rows": np.int32(7), "active": 0}
    made = PlainArguments(**dict(reversed(given.items())))
    assert (made.values, made.weights, made.messages, made.active) == (4096, 2**64 - 8, None, None)
    assert (made.first_row, made.n_rows) == (3, 7)


def test_a_field_is_neither_missing_nor_unknown():
    without = {name: value for name, value in PLAIN.items() if name != "values"}
    with pytest.raises(TypeError, match=r"PlainArguments lacks \['values'\] and does not know \[\]"):
        PlainArguments(**without)
    with pytest.raises(TypeError, match=r"PlainArguments lacks \[\] and does not know \['value'\]"):
        PlainArguments(**PLAIN, value=None)
    with pytest.raises(TypeError, match="multiple values for keyword argument 'values'"):
        PlainArguments(**PLAIN, values=None)


def test_numbers_are_numbers():
    with pytest.raises(TypeError):
        PlainArguments(**PLAIN | {"n_rows": None})
    with pytest.raises(TypeError):
        PlainArguments(**PLAIN | {"n_rows": 0.5})


def test_arrays_live_as_long_as_what_is_launched():
    class Array:
        data = SimpleNamespace(ptr=64)

        def __del__(self):
            gone.append(True)

    gone = []
    passed = arguments.by_value(PlainArguments(**PLAIN | {"values": Array()}))
    assert gone == []
    del passed
    assert gone == [True]


def test_a_launch_by_cupy_passes_a_struct_by_value(monkeypatch):
    class Module:
        def get_function(self, name):
            def kernel(grid, block, parameters, shared_mem):
                launches.append((name, parameters))

            kernel.ptr = 1
            return kernel

    monkeypatch.setattr(loader, "_modules", lambda: None)
    launches = []
    made = PlainArguments(**PLAIN)
    loader.Kernels(Module()).launch_grid("gather_plain", (1,), made)
    ((name, (passed,)),) = launches
    assert name == "gather_plain"
    assert isinstance(passed, np.ndarray)
    assert passed.shape == (1,)  # CuPy passes an array of one entry by value
    assert passed.tobytes() == bytes(made)
