"""The texts of the kernels.

They are in `rapids_trav/kernels` in a wheel and in `kernels` beside the package in a checkout.  Includes are
inlined here, because machine code is kept on disk by the text that it is compiled from.
"""

from __future__ import annotations

import re
from pathlib import Path

Defines = tuple[tuple[str, int], ...]

_INCLUDE = re.compile(r'^#include "([\w.]+)"\n', re.MULTILINE)
_ONCE = re.compile(r"^#pragma once\n", re.MULTILINE)


def kernel_directory() -> Path:
    """Return the directory of the CUDA sources."""
    package = Path(__file__).resolve().parents[3]
    installed = package / "kernels"
    return installed if installed.is_dir() else package.parent / "kernels"


def source(file: str, defines: Defines = ()) -> str:
    """Return the text of `file` after its defines, with each include inlined once."""
    preamble = "".join(f"#define {name} {value}\n" for name, value in defines)
    return preamble + _inlined(file, seen=set())


def _inlined(file: str, seen: set[str]) -> str:
    if file in seen:
        return ""
    seen.add(file)
    text = _ONCE.sub("", (kernel_directory() / file).read_text(encoding="utf-8"))
    return _INCLUDE.sub(lambda include: _inlined(include[1], seen), text)
