"""Vertex programs compiled into the CUDA kernels, as far as a machine without a GPU can check."""

import ctypes
import importlib.util
import math
import re
import signal

import pytest

from rapids_trav.engines.cuda.programs import link
from rapids_trav.engines.cuda.runtime import loader, modules
from rapids_trav.errors import TravError
from rapids_trav.programs import shipped
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey

SHIPPED = {
    "breadth_first": shipped.breadth_first(),
    "components": shipped.connected_components(),
    "sssp": shipped.shortest_paths("float32"),
    "pagerank": shipped.pagerank(),
}


def _can_link():
    names = ("numba.cuda", "cuda.bindings.nvrtc", "cuda.bindings.nvjitlink")
    try:
        return all(importlib.util.find_spec(name) for name in names) and bool(
            importlib.util.find_spec("numba_cuda")
        )
    except ModuleNotFoundError:
        return False


needs_toolchain = pytest.mark.skipif(not _can_link(), reason="numba-cuda or cuda-bindings is missing")


def test_the_preamble_says_what_the_program_has():
    program = Program("p", "int64", "max", gather=lambda message: message, apply=lambda a, b, c, d: b)
    defines = dict(link.defines_of_program(program, "gas_rows.cu", "float32", 32, 64))
    assert defines["VALUE"] == 2
    assert defines["WEIGHT"] == 3
    assert defines["REDUCER"] == 1
    assert defines["GATHER_ARGUMENTS"] == 1
    assert defines["APPLY_ARGUMENTS"] == 4
    assert defines["SCATTER_ARGUMENTS"] == defines["ACTIVE_ARGUMENTS"] == defines["TOTAL_ARGUMENTS"] == 0
    assert defines["RESIDUAL"] == 0
    assert defines["EDGE_BITS"] == 64
    assert dict(link.defines_of_program(SHIPPED["pagerank"], "gas_rows.cu", None, 32, 32))["RESIDUAL"] == 1


def test_programs_that_compile_to_the_same_are_one():
    def add(number):
        return Program("add", "int32", "min", gather=lambda message: message + number)

    assert ProgramKey(add(1)) == ProgramKey(add(1))
    assert ProgramKey(add(1)) != ProgramKey(add(2))


@needs_toolchain
@pytest.mark.parametrize("file", link.FILES)
@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("weight", [None, "float32"])
def test_calls_are_inlined(name, file, weight):
    if name == "breadth_first" and weight:
        pytest.skip("needs no weights")
    ptx = link.compile_program(SHIPPED[name], file, weight, 32, 32, 90, ptx=True).decode()
    entries = re.findall(r"\.visible \.entry (\w+)\(", ptx)
    bounds = r"(?: __launch_bounds__\([^)]*\))?"
    written = re.findall(rf'extern "C" __global__ void{bounds}\s+(\w+)\(', loader.source(file))
    assert entries and set(entries) <= set(written)
    assert not re.search(r"\bcall\b", ptx)
    assert ".func" not in ptx


@needs_toolchain
@pytest.mark.parametrize("edge_bits", [32, 64])
def test_machine_code_without_a_gpu(edge_bits):
    code = link.compile_program(SHIPPED["sssp"], "gas_push.cu", "float32", 32, edge_bits, 90)
    assert code.startswith(b"\x7fELF")
    assert b"push_light" in code and b"trav_gather" not in code


@needs_toolchain
def test_products_and_sums_stay_apart():
    """A contracted multiply-add rounds once, so a minimum would differ from the CPU's."""
    program = Program("p", "float32", "min", gather=lambda message, weight: message * weight + message)
    ptx = link.compile_program(program, "gas_rows.cu", "float32", 32, 32, 90, ptx=True).decode()
    assert "mul.rn.f32" in ptx or "mul.f32" in ptx
    assert "fma.rn.f32" not in ptx


@needs_toolchain
def test_functions_may_use_math_and_parameters():
    program = Program(
        "p",
        "float64",
        "sum",
        scatter=lambda value, degree: math.sqrt(value) / max(degree, 1),
        apply=lambda value, gathered, total, parameters: parameters[0] * gathered + parameters[1] * total,
        active=lambda value, new: abs(new - value) > 1e-3,
        total=lambda value: value if value > 0 else 0,
    )
    assert link.compile_program(program, "gas_rows.cu", None, 32, 32, 90)


@needs_toolchain
@pytest.mark.parametrize(
    ("gather", "reason"),
    [
        (lambda message: message.upper, "upper"),
        (lambda message: unknown_name + message, "unknown_name"),  # noqa: F821
    ],
)
def test_what_cannot_be_compiled_is_one_sentence(gather, reason):
    program = Program("odd", "int32", "min", gather=gather)
    with pytest.raises(TravError, match=r"gather of program 'odd' cannot be compiled.*engine='cpu'") as error:
        link.compile_program(program, "gas_rows.cu", None, 32, 32, 90)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


@needs_toolchain
def test_floats_are_not_cut_to_integers():
    program = Program("half", "int32", "min", gather=lambda message: 0.5 * message)
    with pytest.raises(
        TravError, match=r"^gather of program 'half' gives float64, and .* are int32: make it"
    ):
        link.compile_program(program, "gas_rows.cu", None, 32, 32, 90)
    program = Program("several", "int32", "min", gather=lambda message: (message, message))
    with pytest.raises(
        TravError, match=r"^gather of program 'several' cannot be compiled \(it gives UniTuple"
    ):
        link.compile_program(program, "gas_rows.cu", None, 32, 32, 90)


def test_linked_programs_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("RAPIDS_TRAV_CACHE_DIR", str(tmp_path / "new"))
    made = []

    def make():
        made.append(1)
        return b"\x7fELF code"

    for _ in range(2):
        assert modules.kept(("one", "90"), make) == b"\x7fELF code"
    assert len(made) == 1
    modules.kept(("one", "100"), make)
    assert len(made) == 2
    with monkeypatch.context() as patched:
        patched.setattr(modules, "OPTIONS", ("-lineinfo",))
        modules.kept(("one", "90"), make)
    assert len(made) == 3
    for path in (tmp_path / "new").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert modules.kept(("one", "90"), make) == b"\x7fELF code"
    assert len(made) == 4


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RAPIDS_TRAV_CACHE_DIR", str(tmp_path / "file"))
    for _ in range(2):
        assert modules.kept(("one",), lambda: b"\x7fELF") == b"\x7fELF"


@needs_toolchain
def test_a_second_process_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("RAPIDS_TRAV_CACHE_DIR", str(tmp_path))
    program = ProgramKey(Program("p", "int32", "min", gather=lambda message: message + 1))
    first = link._compiled(program, "gas_state.cu", None, 32, 32, 90)
    monkeypatch.setattr(link, "compile_program", None)
    assert link._compiled(program, "gas_state.cu", None, 32, 32, 90) == first


def test_the_mode_follows_the_share_of_active_edges():
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda.programs.run import PUSH_COST, choose_mode

    components, pagerank = SHIPPED["components"], SHIPPED["pagerank"]
    assert choose_mode("auto", components, True, 100, 100 * PUSH_COST) == "push"
    assert choose_mode("auto", components, True, 101, 100 * PUSH_COST) == "pull"
    assert choose_mode("auto", components, False, 50, 100) == "notify"
    assert choose_mode("auto", components, False, 51, 100) == "pull"
    assert choose_mode("push", components, False, 51, 100) == "notify"
    for asked in ("auto", "notify", "push"):
        assert choose_mode(asked, pagerank, False, 0, 100) == "pull"
    assert choose_mode("pull", components, True, 0, 100) == "pull"


def test_system_calls_of_a_compilation_end_at_an_interrupt():
    """NVRTC lets them go on, and waits would not end."""
    pytest.importorskip("cuda.bindings.nvrtc")
    libc, action = ctypes.CDLL(None), (ctypes.c_ulong * 19)()  # handler, mask of 1024 bits, flags, restorer
    assert modules.compile_text('extern "C" __global__ void k() {}', "k.cu", 90).startswith(b"\x7fELF")
    libc.sigaction(signal.SIGINT, None, action)
    assert not action[17] & 0x10000000  # SA_RESTART
