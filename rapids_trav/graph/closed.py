"""Questions of a graph that was closed."""

from __future__ import annotations

from typing import Any

from rapids_trav.errors import TravError


class ClosedQuestions:
    """Refuses every question of a closed graph."""

    def close(self) -> None:
        """There is nothing left to close."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python's own questions, as for copying
            raise AttributeError(name)
        raise TravError("The graph is closed: build it again, and ask before its close().")
