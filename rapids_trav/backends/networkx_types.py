"""Type aliases for what comes from NetworkX, which has no types of its own."""

from __future__ import annotations

from typing import Any, TypeAlias

Graph: TypeAlias = Any  # a graph of NetworkX or of the backend
Value: TypeAlias = Any  # an argument or a result: NetworkX checks few of them
Arguments: TypeAlias = dict[str, Value]
