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
_NAME = "_ZZ9bfs_fusedE6shared"
_ACCESS = r"\b{kind}\.shared(?:\.v(\d))?\.[a-z](\d+)\s[^;]*\[" + _NAME + r"(?:\+(\d+))?\]"
# Its address with the place of a lane added, and stores of 64 bits, by register.
_ADDRESS = r"mov\.[a-z]32\s+(%r\d+), " + _NAME + ";"
_SUM = r"add\.s32\s+(%r\d+), (%r\d+), (%r\d+);"
_STORE = r"\bst\.shared\.[a-z]64\s+\[(%r\d+)(?:\+(\d+))?\]"
TOTALS = 6  # as in fused_state.cuh; a lane writes each


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


def lane_places(text: str) -> set[int]:
    """Return the offsets of all bytes of the totals that lanes write, each its own."""
    bases = set(re.findall(_ADDRESS, text))
    lanes = {address for address, *terms in re.findall(_SUM, text) if bases & set(terms)}
    return {
        int(first or 0) + byte
        for address, first in re.findall(_STORE, text)
        if address in lanes
        for byte in range(8 * TOTALS)
    }


@pytest.mark.parametrize("paged", [0, 1])
@pytest.mark.parametrize("trace", [0, 1])
def test_what_is_read_has_been_written(trace, paged):
    wanted = {"TRACE": trace, "PAGED": paged, "PREDECESSORS": 1, "VERTEX_BITS": 32, "EDGE_BITS": 32}
    defines = next(entry for _, entry in fused.SPECIALISATIONS if wanted.items() <= dict(entry).items())
    text = ptx(fused.FILE, defines)
    read = places("ld", text)
    written = lane_places(text)
    assert len(written) == 8 * TOTALS
    assert written <= read
    assert read <= written | places("st", text)
