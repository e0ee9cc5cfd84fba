"""Amounts of memory as text: "8GB", "512 MiB"."""

from __future__ import annotations

import operator
import re
from contextlib import suppress
from decimal import Decimal
from typing import Any

import numpy as np

from rapids_trav.errors import TravError, TravMemoryError, written

_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:e\d{1,3})?"
_AMOUNT = re.compile(rf"\s*({_NUMBER})\s*(?:([kmgtp])(i?)b?|b)?\s*", re.IGNORECASE | re.ASCII)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_MOST = 2**63 - 1  # bytes


def parse_bytes(amount: Any, what: str = "memory_limit") -> int:
    """Return the bytes of an amount: a whole number, or a text with a unit such as kB or KiB."""
    n_bytes: int | Decimal = -1
    if isinstance(amount, str) and (match := _AMOUNT.fullmatch(amount)):
        number, unit, binary = match.groups()
        scale = (1024 if binary else 1000) ** _POWERS.get((unit or "").lower(), 0)
        n_bytes = Decimal(number) * scale  # exact, unlike floats of large numbers
    elif isinstance(amount, (float, np.floating)):
        n_bytes = int(amount) if amount.is_integer() else -1
    elif not isinstance(amount, (bool, np.bool_)):
        with suppress(TypeError):
            n_bytes = operator.index(amount)
    if 0 <= n_bytes <= _MOST:
        return int(n_bytes)
    raise TravError(
        f"{what}={written(amount)} is not an amount of memory: "
        f"give bytes as a whole number, or a number with a unit such as '8GB' or '512MiB'."
    )


def parse_limit(memory_limit: int | str) -> int:
    """Parse a memory limit and return its bytes; refuse a limit of 0."""
    n_bytes = parse_bytes(memory_limit)
    if n_bytes == 0:
        raise TravMemoryError(
            f"memory_limit={memory_limit!r} leaves no memory to search in: give more or leave it out."
        )
    return n_bytes


def readable(n_bytes: int) -> str:
    """Format bytes in decimal units, rounded: 1500000 is "1.5 MB"."""
    size = float(n_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB" if size < 999.5 else f"{size:.0f} TB"


def readable_limit(n_bytes: int) -> str:
    """Format bytes, rounded up, for use as a limit: it parses to at least `n_bytes`."""
    step = 10 ** max(len(str(n_bytes)) - 3, 0)
    return readable(-(-n_bytes // step) * step)
