"""The error that every rank raises when one of them fails."""

from __future__ import annotations

from rapids_trav.errors import TravError


class RankError(TravError):
    """A rank failed, or did not answer in time, so that none of them can go on.

    Attributes
    ----------
    rank : int or None
        The rank at fault, or the first of several; None where it is not known.
    """

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank

    def __reduce__(self) -> tuple:
        return type(self), (self.args[0], self.rank)  # travels between processes with its rank
