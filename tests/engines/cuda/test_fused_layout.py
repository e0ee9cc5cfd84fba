"""The fused search's structs have the same size in the kernel and on the host, which lays the memory out."""

from __future__ import annotations

import ctypes
import re

import pytest

from rapids_trav.engines.cuda.runtime import loader


def errors(text: str) -> list[str]:
    """Return the errors that NVRTC reports for a source."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    program = nvrtc.nvrtcCreateProgram(text.encode(), b"layout.cu", 0, [], [])[1]
    nvrtc.nvrtcCompileProgram(program, 2, [b"-arch=compute_90", b"-std=c++17"])
    log = b" " * (1 + nvrtc.nvrtcGetProgramLogSize(program)[1])  # one byte alone would be a shared object
    nvrtc.nvrtcGetProgramLog(program, log)
    return [line for line in log.decode().splitlines() if ": error:" in line]


@pytest.mark.parametrize("edge_bytes", [4, 8])
@pytest.mark.parametrize("vertex_bytes", [4, 8])
def test_sizes(vertex_bytes, edge_bytes):
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda.bfs.fused import ARGUMENTS, NARROW_BYTES

    defines = loader.defines_of("bfs_fused.cu", 8 * vertex_bytes, 8 * edge_bytes)
    sizes = {
        "NarrowItem": NARROW_BYTES[vertex_bytes],
        "HubItem": 16,
        "Arguments": ctypes.sizeof(ARGUMENTS[vertex_bytes]),
        "TraceRow": 7 * 8,
    }
    checks = [f"static_assert(sizeof({name}) == {size});" for name, size in sizes.items()]
    text = loader.source("fused_state.cuh", defines)
    assert errors("\n".join([text, *checks])) == []
    assert len(errors(text + "\nstatic_assert(sizeof(NarrowItem) == 12);")) == 1


@pytest.mark.parametrize("trace", [0, 1])
def test_traced_and_untraced_searches_meet_at_the_same_words(trace):
    """Both take turns on one stream with one `Control`, although their levels differ in size."""
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda.bfs import fused

    text = loader.source("fused_state.cuh", loader.defines_of("bfs_fused.cu", 32, 32, TRACE=trace))
    where = {"barrier": 0, "epoch": 4}
    checks = [f"static_assert(__builtin_offsetof(Control, {name}) == {at});" for name, at in where.items()]
    checks.append(f"static_assert(sizeof(Control) <= {fused.CONTROL_BYTES});")
    assert errors("\n".join([text, *checks])) == []
    assert len(errors(text + "\nstatic_assert(__builtin_offsetof(Control, epoch) == 8);")) == 1


def test_the_engine_bounds_what_lies_in_shared_memory():
    """A copy of more hubs than fit would overwrite what follows it in shared memory."""
    pytest.importorskip("cupy")
    from rapids_trav.published import vs_graph500

    defined = re.search(r"#define HUB_WORDS (\d+)", loader.source("fused_frontier.cuh"))[1]
    assert int(defined) == vs_graph500.HUB_WORDS


@pytest.mark.parametrize(
    ("name", "value"),
    [("private_capacity", 0), ("private_capacity", 4097)],
)
def test_settings_out_of_bounds_are_refused(name, value):
    pytest.importorskip("cupy")
    from rapids_trav.engines.cuda import CudaEngine
    from rapids_trav.errors import TravError

    with pytest.raises(TravError, match=f"{name} is {value}: give an? "):
        CudaEngine(**{name: value})
