"""Translation of a kernel file to C++, with `cuda.hpp` before it."""

from __future__ import annotations

import re

from cupy._errors import CUDARuntimeError

# A kernel ends at the first brace at the start of a line, as clang-format leaves it.
_KERNEL = re.compile(
    r'^extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(.*?^}$',
    re.MULTILINE | re.DOTALL,
)
_DYNAMIC = re.compile(r"extern __shared__ ([\w ]+) (\w+)\[\];")
_PTX = {  # the inline PTX of the kernels, and its meaning
    r'asm volatile\("ld\.acquire\.gpu\.global\.u[^;]*;[^;]*;': "value = emulated::load_acquire(address);",
    r'asm volatile\("red\.release\.gpu\.global\.add[^;]*;[^;]*;': "emulated::add_release(address, value);",
    r'asm volatile\("atom\.acq_rel\.gpu\.global\.add[^;]*;[^;]*;': "before = emulated::add(address, value);",
    r'asm volatile\("st\.release\.gpu\.global\.u32[^;]*;[^;]*;': "emulated::store_release(address, value);",
    r'asm volatile\("ld\.acquire\.sys\.global\.u[^;]*;[^;]*;': "value = emulated::load_acquire(address);",
    r'asm volatile\("st\.release\.sys\.global\.u32[^;]*;[^;]*;': "emulated::store_release(address, value);",
    r'asm volatile\("ld\.volatile\.global\.[^;]*;[^;]*;': "value = *static_cast<const volatile T*>(address);",
    r'asm volatile\("st\.volatile\.global\.[^;]*;[^;]*;': "*static_cast<volatile T*>(address) = value;",
    r'asm volatile\("mov\.u64 %0, %%globaltimer;[^;]*;': "now = emulated::nanoseconds();",
}


def translated(code: str, program: bool) -> str:
    """Return the C++ of a kernel file; that of a vertex program has room for the program's functions."""
    for ptx, meaning in _PTX.items():
        code = re.sub(ptx, meaning, code)
    if "asm volatile" in code:
        raise CUDARuntimeError("there is inline PTX whose meaning _translation.py does not know")
    code = _DYNAMIC.sub(r"\1* const \2 = reinterpret_cast<\1*>(emulated::dynamic_shared());", code)
    code = _KERNEL.sub(r"\g<0>\nEMULATED_KERNEL(\1)", code)
    return code + ('\n#include "program.hpp"\n' if program else "")
