"""Every total of a level that the fused kernel reads from shared memory has been written before.

Shared memory is not cleared: a field that only some specialisations write holds what the last kernel left.
"""

import re

import pytest

pytest.importorskip("cupy")
nvrtc = pytest.importorskip("cuda.bindings.nvrtc")

from rapids_trav.engines.cuda.bfs import fused  # noqa: E402
from rapids_trav.engines.cuda.runtime import loader  # noqa: E402

# Accesses to the kernel's `BlockShared` by its name in PTX: values at once, bits of each, and the offset.
_ACCESS = r"\b{kind}\.shared(?:\.v(\d))?\.[a-z](\d+)\s[^;]*\[_ZZ9bfs_fusedE6shared(?:\+(\d+))?\]"


def ptx(file: str, defines: loader.Defines) -> str:
    program = nvrtc.nvrtcCreateProgram(loader.source(file, defines).encode(), file.encode(), 0, [], [])[1]
    options = [b"-arch=compute_90", b"-std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS
    text = b" " * nvrtc.nvrtcGetPTXSize(program)[1]
    nvrtc.nvrtcGetPTX(program, text)
    return text.decode()


def places(kind: str, text: str) -> set[int]:
    """Return the offsets of all bytes that are accessed with a fixed address."""
    accesses = re.findall(_ACCESS.format(kind=kind), text)
    return {
        int(first or 0) + byte
        for values, bits, first in accesses
        for byte in range(int(values or 1) * int(bits) // 8)
    }


@pytest.mark.parametrize("paged", [0, 1])
@pytest.mark.parametrize("trace", [0, 1])
def test_what_is_read_has_been_written(trace, paged):
    wanted = {"TRACE": trace, "PAGED": paged, "PREDECESSORS": 1, "VERTEX_BITS": 32, "EDGE_BITS": 32}
    defines = next(entry for _, entry in fused.SPECIALISATIONS if wanted.items() <= dict(entry).items())
    text = ptx(fused.FILE, defines)
    read = places("ld", text)
    assert len(read) >= 64
    assert read <= places("st", text)
