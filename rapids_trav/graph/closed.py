"""Stand-in for the questions of a closed graph."""

from __future__ import annotations

from typing import Any

from rapids_trav.errors import CLOSED, TravError


class ClosedQuestions:
    """Questions of a closed graph, all of which raise an error."""

    def close(self) -> None:
        """Do nothing, since the graph is closed already."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # special names that Python looks up, for example in copying
            raise AttributeError(name)
        raise TravError(CLOSED)
