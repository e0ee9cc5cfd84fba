"""All cases of bad input: columns, damaged data, arguments, files and command lines."""

from __future__ import annotations

from collections.abc import Iterator

from . import arguments, columns, commands, frames, slips, texts
from .cases import Case

MODULES = (columns, frames, slips, arguments, texts, commands)


def cases(seed: int) -> Iterator[Case]:
    """Yield every case; those with random values are drawn from `seed`."""
    for module in MODULES:
        yield from module.cases(seed)
