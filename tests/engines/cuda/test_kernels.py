"""The CUDA sources and the code that loads them, as far as a machine without a GPU can check."""

import importlib.util
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from rapids_trav.engines.cuda.programs import link
from rapids_trav.engines.cuda.runtime import loader, modules

SOURCES = sorted(modules.kernel_directory().glob("*.cu*"))


def test_every_source_is_found():
    names = {path.name for path in SOURCES}
    assert {file for file, _ in loader.SPECIALISATIONS} | {"bfs_fused.cu", "common.cuh"} <= names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_sources_include_only_each_other(path):
    """NVRTC finds no headers, and the loader inserts only files that stand beside the including one."""
    for line in path.read_text().splitlines():
        if line.lstrip().startswith("#include"):
            included = re.fullmatch(r'#include "([\w.]+\.cuh)"', line)
            assert included, line
            assert (path.parent / included[1]).is_file()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_sources_open_with_what_they_are(path):
    text = path.read_text()
    assert text.startswith("// ")
    if path.suffix == ".cu":
        heading = re.match(r"(//.*\n)+", text)[0]
        assert "Invariant" in heading
        assert 'extern "C" __global__' in text


@pytest.mark.parametrize("path", [path for path in SOURCES if path.suffix == ".cu"], ids=lambda p: p.name)
def test_sources_name_what_they_must_agree_with(path):
    """It is a kernel in the same file or a file that exists, and the functions named before it are in it."""
    heading = re.match(r"(//.*\n)+", path.read_text())[0]
    named = re.search(r"^// Must agree with: ((?:.|\n// )+?)[.;,]?(?:  |\n//\n|\n$)", heading, re.MULTILINE)[
        1
    ]
    files = re.findall(r"[\w/]+\.(?:cu|py)\b", named)
    root = modules.kernel_directory().parent
    texts = [(path.parent / file if file.endswith(".cu") else root / file).read_text() for file in files]
    for name in re.findall(r"\b\w+_\w+\b(?![\w/]*\.)(?!/)", re.sub(r"[\w/]+\.(?:cu|py)\b", "", named)):
        assert any(re.search(rf"(?:void|def) {name}\(", text) for text in texts or [path.read_text()]), name
    assert files or "_plain" in named


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_sources_have_one_dialect(path):
    """Integers have the types of common.cuh, and casts are those of C++."""
    code = re.sub(r"//.*", "", path.read_text())
    if path.name == "common.cuh":
        code = re.sub(r"using \w+ = [\w ]+;", "", code)
    assert not re.findall(r"\b(?:int|unsigned|long|short|char|u?int\d+_t|size_t)\b", code)
    kinds = (
        "u8|u16|u32|u64|i32|i64|vertex_t|edge_t|value_t|weight_t|degree_t|label_t|place_t|bool|float|double"
    )
    assert not re.findall(rf"(?<![\w>])\((?:{kinds})\)\s*[\w(~-]", code)


def test_includes_are_put_in_once():
    text = loader.source("bfs_direction.cu")
    assert "#include" not in text
    assert "#pragma once" not in text
    assert text.count("using vertex_t = i32;") == 1
    assert text.index("using vertex_t") < text.index("enum Counter") < text.index("first_match")


def test_the_preamble_comes_first():
    text = loader.source("bfs_push.cu", (("EDGE_BITS", 64), ("VERTEX_BITS", 32)))
    assert text.startswith("#define EDGE_BITS 64\n#define VERTEX_BITS 32\n")


def test_the_defaults_are_those_of_the_host():
    """A file compiled alone has the tunables that the engine would pass."""
    for file, tunables in (loader.TUNABLES | loader.PROGRAM_TUNABLES).items():
        text = loader.source(file)
        for name, value in tunables.items():
            assert re.search(rf"#ifndef {name}\n#define {name} {value}\b", text), (file, name)


def test_specialisations_are_all_combinations():
    for file in loader.TUNABLES:
        types = {(dict(defines)["VERTEX_BITS"], dict(defines)["EDGE_BITS"]) for _, defines in _of(file)}
        assert types == {(32, 32), (32, 64), (64, 32), (64, 64)}


def test_programs_are_linked_with_every_file_of_theirs():
    assert {file for file, _ in link.SPECIALISATIONS} == set(link.FILES) == set(loader.PROGRAM_TUNABLES)
    names = {path.name for path in SOURCES if path.suffix == ".cu" and path.name.startswith("gas")}
    assert names == set(link.FILES)


def test_tallies_have_the_same_places_on_both_sides():
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda.bfs.levels import Counts
    from rapids_trav.engines.cuda.programs import state

    text = loader.source("gas_vertex.cuh")
    for name in ("found", "edges", "scout", "light", "heavy"):
        assert getattr(state, f"_{name.upper()}") == Counts._fields.index(name)
    for name, place in (("RESIDUAL_SUM", state._RESIDUAL), ("TOTAL_SUM", state._TOTAL)):
        assert f"constexpr i32 {name} = {place};" in text
    assert len(Counts._fields) == state._RESIDUAL
    assert state._TOTAL + 1 == state.WORDS


def _of(file):
    return [entry for entry in loader.SPECIALISATIONS if entry[0] == file]


def test_counters_have_the_same_names_on_both_sides():
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda.bfs.levels import Counts

    names = re.search(r"enum Counter \{(.*?)\};", loader.source("level.cuh"), re.DOTALL)[1]
    assert tuple(name.lower() for name in re.findall(r"^\s+(\w+),", names, re.MULTILINE)) == Counts._fields


def test_loading_sources_needs_no_cupy():
    program = (
        "import sys; from rapids_trav.engines.cuda import CudaEngine; "
        "from rapids_trav.published.pmpp import policy; "
        "from rapids_trav.engines.cuda.runtime import loader; "
        "[loader.source(*entry) for entry in loader.SPECIALISATIONS]; sys.exit('cupy' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_inline_assembly_stays_in_headers():
    for file in (*loader.TUNABLES, *loader.PROGRAM_TUNABLES):
        body = (modules.kernel_directory() / file).read_text()
        assert "asm" not in body


@pytest.mark.slow
@pytest.mark.parametrize(("file", "defines"), loader.SPECIALISATIONS[:: len(loader.TUNABLES) // 2 + 1])
def test_some_compile(file, defines):
    """A sample is compiled for one architecture; `ci/compile_kernels.py` compiles all for all."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    text = loader.source(file, defines).encode()
    status, program = nvrtc.nvrtcCreateProgram(text, file.encode(), 0, [], [])
    options = [b"-arch=sm_90", b"-std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = b" " * (1 + nvrtc.nvrtcGetProgramLogSize(program)[1])  # one byte alone would be a shared object
    nvrtc.nvrtcGetProgramLog(program, log)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
    assert not log.decode().rstrip("\0 \n"), log.decode()


@pytest.fixture(scope="module")
def script():
    """Import ci/compile_kernels.py as a module."""
    pytest.importorskip("cuda.bindings.nvrtc")
    path = Path(__file__).parents[3] / "ci" / "compile_kernels.py"
    spec = importlib.util.spec_from_file_location("compile_kernels", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks the module up
    spec.loader.exec_module(module)
    return module


def test_everything_is_compiled_for_each_architecture(script):
    """But for the longest file: each of its specialisations is compiled for one."""
    jobs = script.jobs(script.ARCHITECTURES, everything=False)
    every = set(script.SPECIALISATIONS)
    longest = {entry for entry in every if entry[0] == script.LONGEST}
    assert len(set(jobs)) == len(jobs)
    assert {job[:2] for job in jobs if job[2] == script.TUNED_FOR} >= every - longest
    assert {job[:2] for job in jobs if job[2] != script.TUNED_FOR} >= every - longest
    assert sorted(job[:2] for job in jobs if job[0] == script.LONGEST) == sorted(longest)
    for architecture in script.ARCHITECTURES:
        compiled = [(file, dict(defines)) for file, defines, known in jobs if known == architecture]
        assert {file for file, _ in compiled} == {file for file, _ in every}
        fused = [defines for file, defines in compiled if file == script.LONGEST]
        for name in ("VERTEX_BITS", "EDGE_BITS", "BLOCK_SIZE", "PREDECESSORS", "TRACE", "PAGED"):
            values = Counter(dict(defines)[name] for file, defines in every if file == script.LONGEST)
            shared = {value for value, n in values.items() if n > len(script.ARCHITECTURES)}
            assert len(shared) > 1, name
            assert {defines[name] for defines in fused} >= shared, name
    everything = script.jobs(script.ARCHITECTURES, everything=True)
    assert set(everything) == {(*entry, known) for entry in every for known in script.ARCHITECTURES}
    assert len(jobs) < len(everything) / 3


@pytest.mark.parametrize("wanted", [(90,), (75, 90)])
def test_few_architectures_leave_nothing_out(script, wanted):
    jobs = script.jobs(wanted, everything=False)
    shared = [job for job in jobs if job[0] == script.LONGEST]
    others = [entry for entry in script.SPECIALISATIONS if entry[0] != script.LONGEST]
    assert set(jobs) - set(shared) == {(*entry, known) for entry in others for known in wanted}
    assert {job[:2] for job in shared} == set(script.SPECIALISATIONS) - set(others)
    assert {known for *_, known in shared} == set(wanted)
