"""The kernels of the grid search compile as the engine loads them; CI has NVRTC but no GPU."""

from __future__ import annotations

import re

import pytest

from rapids_trav.engines.cuda.runtime import loader, modules


@pytest.mark.parametrize("architecture", [75, 90, 120])
def test_the_kernels_compile(architecture):
    pytest.importorskip("cupy")
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    from rapids_trav.engines.multigpu.local_cuda import SPECIALISATIONS

    assert {dict(defines)["EDGE_BITS"] for _, defines in SPECIALISATIONS} == {32, 64}
    for file, defines in SPECIALISATIONS:
        text = loader.source(file, defines).encode()
        _, program = nvrtc.nvrtcCreateProgram(text, file.encode(), 0, [], [])
        options = [f"-arch=sm_{architecture}".encode(), b"-std=c++17"]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        log = b" " * (1 + nvrtc.nvrtcGetProgramLogSize(program)[1])  # one byte alone would be a shared object
        nvrtc.nvrtcGetProgramLog(program, log)
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, log.decode()
        assert not log.decode().rstrip("\0 \n"), log.decode()


def test_launches_name_kernels_and_their_arguments():
    """Each launch passes as many arguments as the kernel has parameters, and plain integers are i64."""
    text = loader.source("bfs_2d.cu")
    kernels = {
        name: [parameter.split()[:-1] for parameter in parameters.split(",")]
        for name, parameters in re.findall(r"__global__ void (\w+)\((.*?)\)", text, re.DOTALL)
    }
    package = modules.kernel_directory().parent / "rapids_trav"
    source = (package / "engines" / "multigpu" / "local_cuda.py").read_text()
    launches = re.findall(r'\.launch\(\s*"(\w+)", (.*?)\s*\)(?:  # fmt: skip)?\n', source, re.DOTALL)
    assert {name for name, _ in launches} == set(kernels)
    for name, arguments in launches:
        _n_threads, *given = re.split(r",\s*", arguments.rstrip(", \n"))
        assert len(given) == len(kernels[name]), name
        for argument, kind in zip(given, kernels[name], strict=True):
            if argument.startswith("np.int32("):
                assert kind == ["i32"], (name, argument)
            elif argument.startswith("len(") or argument in ("total", "n_to", "n_edges"):
                assert kind == ["i64"], (name, argument)
            else:
                assert kind[-1].endswith("*") or "*" in " ".join(kind), (name, argument)
