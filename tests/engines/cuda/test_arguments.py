"""The structs of arguments are those of the kernels, and each field is given once, by name."""

from __future__ import annotations

import ctypes
import inspect
import re
from types import SimpleNamespace

import numpy as np
import pytest

from rapids_trav.engines.cuda.bfs.fused_arguments import ARGUMENTS
from rapids_trav.engines.cuda.programs import link
from rapids_trav.engines.cuda.runtime import arguments, loader
from rapids_trav.engines.cuda.runtime.arguments import DOUBLE, FLOAT, I32, I64, POINTER, U32, U64

STRUCTS = {
    name: kind
    for name, kind in vars(arguments).items()
    if inspect.isclass(kind) and issubclass(kind, arguments.ArgumentStruct) and kind.kinds
}
TEXTS = {path.name: path.read_text() for path in sorted(loader.kernel_directory().glob("*.cu*"))}
MOST_ARGUMENTS = 11


def file_of(name):
    opening = re.compile(rf"^struct {name}\b.*{{$", re.MULTILINE)
    (file,) = (file for file, text in TEXTS.items() if opening.search(text))
    return file


def declared(name, vertex_bytes, ranked=False):
    """Return the fields of a struct in the sources, with those of its base first.

    The fields of kernels that search one of several ranks count only if `ranked`.
    """
    types = {"i64": I64, "u64": U64, "i32": I32, "u32": U32, "float": FLOAT, "double": DOUBLE}
    types["vertex_t"] = {4: I32, 8: I64}[vertex_bytes]
    found = re.search(
        rf"^struct {name}(?: : (\w+))? \{{\n(.*?)^\}};", TEXTS[file_of(name)], re.MULTILINE | re.DOTALL
    )
    base, body = found.groups()
    code = re.sub(r"//.*", "", body)
    ranks = re.compile(r"^#if RANKED\n(.*?)^#endif\n", re.MULTILINE | re.DOTALL)
    code = ranks.sub(r"\1" if ranked else "", code)
    fields = re.findall(r"^    (?:const )?([\w ]+?)((?:\* const)?\*?) (\w+);", code, re.MULTILINE)
    assert len(fields) == code.count(";")
    own = {field: POINTER if star else types[kind] for kind, star, field in fields}
    return (declared(base, vertex_bytes, ranked) if base else {}) | own


def errors(text):
    """Return the errors that NVRTC reports for a source."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    program = nvrtc.nvrtcCreateProgram(text.encode(), b"arguments.cu", 0, [], [])[1]
    nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_90", b"-std=c++17"])
    log = b" " * (1 + nvrtc.nvrtcGetProgramLogSize(program)[1])  # one byte alone would be a shared object
    nvrtc.nvrtcGetProgramLog(program, log)
    return [line for line in log.decode().splitlines() if ": error:" in line]


@pytest.mark.parametrize("vertex_bytes", [4, 8])
@pytest.mark.parametrize("name", [*STRUCTS, "Arguments"])
def test_fields_are_those_of_the_kernel(name, vertex_bytes):
    struct = ARGUMENTS[vertex_bytes] if name == "Arguments" else STRUCTS[name]
    assert struct.__name__ == name
    assert list(struct.kinds.items()) == list(declared(name, vertex_bytes).items())
    assert {field: getattr(struct, field).size for field in struct.kinds} == {
        field: ctypes.sizeof(kind) for field, kind in struct.kinds.items()
    }


@pytest.mark.parametrize("vertex_bytes", [4, 8])
def test_fields_of_a_rank_are_those_of_its_kernel(vertex_bytes):
    pytest.importorskip("cupy")
    from rapids_trav.engines.multigpu.one_launch.layout import RANKED_ARGUMENTS

    struct = RANKED_ARGUMENTS[vertex_bytes]
    assert list(struct.kinds.items()) == list(declared("Arguments", vertex_bytes, ranked=True).items())


@pytest.mark.parametrize("bits", [(32, 32), (32, 64), (64, 64)])
@pytest.mark.parametrize("name", STRUCTS)
def test_fields_are_at_the_same_bytes(name, bits):
    struct, file = STRUCTS[name], file_of(name)
    checks = [f"static_assert(sizeof({name}) == {ctypes.sizeof(struct)});"]
    checks += [
        f"static_assert(__builtin_offsetof({name}, {field}) == {getattr(struct, field).offset});"
        for field in struct.kinds
    ]
    text = loader.source(file, loader.defines_of(file, *bits))
    assert errors("\n".join([text, *checks])) == []
    assert len(errors(f"{text}\nstatic_assert(sizeof({name}) == 1);")) == 1


def test_every_struct_of_a_kernel_is_listed():
    taking = re.compile(r"^(?:extern.*|    )\w+\(const (?:__grid_constant__ )?(\w+) given\)", re.MULTILINE)
    taken = {name for text in TEXTS.values() for name in taking.findall(text)}
    assert taken | {"GatherArguments"} == {*STRUCTS, "Arguments"}


@pytest.mark.parametrize("file", sorted({*loader.TUNABLES, *link.FILES, "bfs_2d.cu", "graph500.cu"}))
def test_long_lists_of_arguments_are_structs(file):
    kernel = r'^extern "C" __global__ void\s+(?:__launch_bounds__\(.*?\)\s+)?(\w+)\((.*?)\) \{$'
    found = re.findall(kernel, TEXTS[file], re.MULTILINE | re.DOTALL)
    assert len(found) == TEXTS[file].count("__global__")
    assert {name: n for name, listed in found if (n := listed.count(",") + 1) > MOST_ARGUMENTS} == {}


PLAIN = dict.fromkeys(arguments.PlainArguments.kinds, None) | {"first_row": 3, "n_rows": 5}


def test_values_are_set_by_name():
    array = SimpleNamespace(data=SimpleNamespace(ptr=4096))
    given = PLAIN | {"values": array, "weights": 2**64 - 8, "n_rows": np.int32(7), "active": 0}
    made = arguments.PlainArguments(**dict(reversed(given.items())))
    assert (made.values, made.weights, made.messages, made.active) == (4096, 2**64 - 8, None, None)
    assert (made.first_row, made.n_rows) == (3, 7)


def test_a_field_is_neither_missing_nor_unknown():
    without = {name: value for name, value in PLAIN.items() if name != "values"}
    with pytest.raises(TypeError, match=r"PlainArguments lacks \['values'\] and does not know \[\]"):
        arguments.PlainArguments(**without)
    with pytest.raises(TypeError, match=r"PlainArguments lacks \[\] and does not know \['value'\]"):
        arguments.PlainArguments(**PLAIN, value=None)
    with pytest.raises(TypeError, match="multiple values for keyword argument 'values'"):
        arguments.PlainArguments(**PLAIN, values=None)


def test_numbers_are_numbers():
    with pytest.raises(TypeError):
        arguments.PlainArguments(**PLAIN | {"n_rows": None})
    with pytest.raises(TypeError):
        arguments.PlainArguments(**PLAIN | {"n_rows": 0.5})


def test_arrays_live_as_long_as_what_is_launched():
    class Array:
        data = SimpleNamespace(ptr=64)

        def __del__(self):
            gone.append(True)

    gone = []
    passed = arguments.by_value(arguments.PlainArguments(**PLAIN | {"values": Array()}))
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
    made = arguments.PlainArguments(**PLAIN)
    loader.Kernels(Module()).launch_grid("gather_plain", (1,), made)
    ((name, (passed,)),) = launches
    assert name == "gather_plain"
    assert isinstance(passed, np.ndarray)
    assert passed.shape == (1,)  # CuPy passes an array of one entry by value
    assert passed.tobytes() == bytes(made)
