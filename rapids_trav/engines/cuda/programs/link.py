"""Compilation of a vertex program's Python functions into the engine's kernels.

1. Numba types each function that the program has and compiles it to LTO-IR, as a C function with the name
   that `kernels/gas.cuh` declares.
2. NVRTC compiles the kernels to LTO-IR as well, with the program's types and reducer in the preamble.
3. nvJitLink links all parts into machine code, with the calls inlined.

None of these steps needs a GPU; only loading does.  Linking takes up to a second for each file of kernels,
and a second more for the first function of a process, so its results are kept on disk (`modules.py`), and a
process keeps the kernels that it has loaded.  Products and sums are not contracted into fused multiply-adds
(`-fma=0`), so that every engine gives the same floating-point minima and maxima.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.runtime.loader import PROGRAM_TUNABLES, Kernels, defines_of
from rapids_trav.engines.cuda.runtime.modules import Defines, Modules, compile_text, kept, source
from rapids_trav.errors import TravError
from rapids_trav.jit.interrupts import compile_aside
from rapids_trav.programs.definition import ARGUMENTS, REDUCERS, Program, n_arguments
from rapids_trav.programs.digest import ProgramKey

FILES = ("gas_rows.cu", "gas_shards.cu", "gas_state.cu", "gas_push.cu", "gas_blocks.cu", "gas_lent.cu")
_ALL = {f"{name.upper()}_ARGUMENTS": len(arguments) for name, arguments in ARGUMENTS.items()}
TYPES = ("int32", "int64", "float32", "float64")
_RESULTS = {"active": "int32", "total": "float64"}  # result types of functions; the others return a value


def _switched(file: str) -> tuple[dict[str, int], ...]:
    """Return the settings of a file with all that it can switch on off, and with it on."""
    on: dict[str, int] = {name: 1 for name in ("COUNTS", "FRAMED") if name in PROGRAM_TUNABLES[file]}
    return ({}, on) if on else ({},)


# For `ci/compile_kernels.py`: minima of int32 without functions, and sums of float64 with all of them.
SPECIALISATIONS: tuple[tuple[str, Defines], ...] = tuple(
    (file, defines_of(file, vertex_bits, edge_bits, **settings, **switched))
    for file in FILES
    for vertex_bits, edge_bits in ((32, 32), (32, 64), (64, 64))
    for settings in (
        {"VALUE": 1, "WEIGHT": 0, "REDUCER": 0, "RESIDUAL": 0} | dict.fromkeys(_ALL, 0),
        {"VALUE": 4, "WEIGHT": 3, "REDUCER": 2, "RESIDUAL": 1, "STARTS": 1} | _ALL,
    )
    for switched in _switched(file)
)


def defines_of_program(
    program: Program, file: str, weight: str | None, vertex_bits: int, edge_bits: int, **tunables: int
) -> Defines:
    """Return the defines of `file` for a program and a graph's types; `weight` is None if unweighted."""
    settings = {
        "VALUE": 1 + TYPES.index(program.dtype),
        "WEIGHT": 0 if weight is None else 1 + TYPES.index(weight),
        "REDUCER": REDUCERS.index(program.reducer),
        "RESIDUAL": int(program.tolerance is not None),
        **_start_words(program),
    }
    for name in ARGUMENTS:
        function = getattr(program, name)
        settings[f"{name.upper()}_ARGUMENTS"] = 0 if function is None else n_arguments(function)
    return defines_of(file, vertex_bits, edge_bits, **settings, **tunables)


def _start_words(program: Program) -> dict[str, int]:
    """Return the defines that hold the bits of the program's start, if it has one."""
    if program.start is None:
        return {}
    value = np.array([program.start], program.dtype)
    high, low = divmod(int(value.view(f"u{value.itemsize}")[0]), 1 << 32)
    return {"STARTS": 1, "START_HIGH": high, "START_LOW": low}


def function_types(program: Program, name: str, weight: str | None) -> tuple[tuple[object, ...], Any]:
    """Return the Numba types of the arguments and of the result of one of the program's functions."""
    from numba import types

    value = getattr(types, program.dtype)
    kinds = {
        "degree": types.int64 if weight is None else types.float64,
        "weight": getattr(types, weight or program.dtype),
        "total": types.float64,
        "parameters": types.CPointer(types.float64),
    }
    named = ARGUMENTS[name][: n_arguments(getattr(program, name))]
    result = getattr(types, _RESULTS.get(name, program.dtype))
    return tuple(kinds.get(argument, value) for argument in named), result


def function_to_ir(program: Program, name: str, weight: str | None, architecture: int) -> bytes:
    """Return the LTO-IR of one of the program's functions, with `trav_` before its name."""
    from numba import cuda
    from numba.core.errors import NumbaError

    from rapids_trav.programs.parameters import wrong_result

    function = getattr(program, name)
    taken, result = function_types(program, name, weight)
    how = {"device": True, "abi": "c", "abi_info": {"abi_name": f"trav_{name}"}, "output": "ltoir"}
    how["cc"] = divmod(architecture, 10)
    try:
        code, given = cuda.compile(function, taken, **how)
        wrong = wrong_result(program, name, given)
        if given != result and wrong is None:  # compile again, with a conversion
            code, _ = cuda.compile(function, result(*taken), **how)
    except (NumbaError, NotImplementedError, TypeError, ValueError) as error:
        raise TravError(
            f"{name} of program {program.name!r} cannot be compiled for the GPU ({_reason(error)}): "
            f"use arithmetic, comparisons, conditions and math over its arguments, or choose engine='cpu'."
        ) from error
    if wrong is not None:
        raise TravError(wrong)
    return bytes(code)


def _reason(error: Exception) -> str:
    """Return the line of a Numba error that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines()]
    informative = [line for line in lines if line and not line.startswith(("Failed in", "During:", "File "))]
    return (informative or [type(error).__name__])[0]


def link(parts: list[tuple[str, bytes]], architecture: int, ptx: bool = False) -> bytes:
    """Return machine code, or PTX, linked from named pieces of LTO-IR."""
    from cuda.bindings import nvjitlink

    options = [f"-arch=sm_{architecture}", "-lto", "-fma=0", *(["-ptx"] if ptx else [])]
    handle = nvjitlink.create(len(options), options)
    try:
        for name, code in parts:
            nvjitlink.add_data(handle, nvjitlink.InputType.LTOIR, code, len(code), name)
        nvjitlink.complete(handle)
        if ptx:
            linked = bytearray(nvjitlink.get_linked_ptx_size(handle))
            nvjitlink.get_linked_ptx(handle, linked)
        else:
            linked = bytearray(nvjitlink.get_linked_cubin_size(handle))
            nvjitlink.get_linked_cubin(handle, linked)
    except nvjitlink.nvJitLinkError as error:
        log = bytearray(nvjitlink.get_error_log_size(handle))
        nvjitlink.get_error_log(handle, log)
        raise RuntimeError(f"nvJitLink reports {error}: {log.decode().rstrip(chr(0))}") from error
    finally:
        nvjitlink.destroy(handle)
    return bytes(linked)


def compile_program(
    program: Program,
    file: str,
    weight: str | None,
    vertex_bits: int,
    edge_bits: int,
    architecture: int,
    ptx: bool = False,
    **tunables: int,
) -> bytes:
    """Return the machine code of the kernels of `file` with the program's functions; needs no GPU.

    `weight` is the type of the edges' weights, and `tunables` are those that differ from the defaults.
    """
    text = source(file, defines_of_program(program, file, weight, vertex_bits, edge_bits, **tunables))
    parts = [(file, compile_text(text, file, architecture, linkable=True))]
    for name in ARGUMENTS:
        if getattr(program, name) is not None:
            parts.append((name, function_to_ir(program, name, weight, architecture)))
    return link(parts, architecture, ptx)


@functools.lru_cache(maxsize=128)
def load_program(
    program: ProgramKey, file: str, weight: str | None, vertex_bits: int, edge_bits: int, **tunables: int
) -> Kernels:
    """Return the kernels of `file` for a program, linked when one is first launched on a device."""

    def code(architecture: int) -> bytes:
        return _compiled(program, file, weight, vertex_bits, edge_bits, architecture, **tunables)

    return Kernels(Modules(code))


def program_kernels(
    program: ProgramKey, file: str, rows: Adjacency, weights: Array | None, **tunables: int
) -> Kernels:
    """Return the kernels of `file` for a program and the types of an adjacency and its weights."""
    weight = None if weights is None else weights.dtype.name
    vertex, edge = (8 * part.dtype.itemsize for part in (rows.column_indices, rows.row_offsets))
    return load_program(program, file, weight, vertex, edge, **tunables)


def _compiled(
    program: ProgramKey,
    file: str,
    weight: str | None,
    vertex_bits: int,
    edge_bits: int,
    architecture: int,
    **tunables: int,
) -> bytes:
    """Return the machine code of `compile_program`, from disk if possible."""

    def compiled() -> bytes:
        return compile_program(
            program.program, file, weight, vertex_bits, edge_bits, architecture, ptx=False, **tunables
        )

    if program.digest is None:
        return compile_aside(compiled)
    text = source(file, defines_of_program(program.program, file, weight, vertex_bits, edge_bits, **tunables))
    return kept((program.digest, text, str(weight), str(architecture)), compiled)
