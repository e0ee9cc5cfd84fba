"""A compiler that leaves texts as they are: the stand-in for CuPy compiles them for the CPU."""

from __future__ import annotations

import ctypes
from enum import IntEnum


class nvrtcResult(IntEnum):
    NVRTC_SUCCESS = 0


def nvrtcCreateProgram(text: bytes, name: bytes, n_headers: int, headers: list, names: list) -> tuple:
    return nvrtcResult.NVRTC_SUCCESS, text


def nvrtcCompileProgram(program: bytes, n_options: int, options: list[bytes]) -> tuple:
    return (nvrtcResult.NVRTC_SUCCESS,)


def nvrtcGetCUBINSize(program: bytes) -> tuple:
    return nvrtcResult.NVRTC_SUCCESS, len(program)


def nvrtcGetCUBIN(program: bytes, code: bytes) -> tuple:
    ctypes.memmove(code, program, len(program))
    return (nvrtcResult.NVRTC_SUCCESS,)


def nvrtcGetLTOIRSize(program: bytes) -> tuple:
    raise NotImplementedError("emulated_programs.py links programs")


nvrtcGetLTOIR = nvrtcGetLTOIRSize


def nvrtcDestroyProgram(program: bytes) -> tuple:
    return (nvrtcResult.NVRTC_SUCCESS,)
