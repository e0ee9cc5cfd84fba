"""The error that every rank raises when one of them fails."""

from __future__ import annotations

from rapids_trav.errors import CLOSED, TravError

WAS_CLOSED = "the graph was closed"  # the reason for which questions that still run end


class InterruptError(TravError):
    """The caller has interrupted a request, which ends at the same point on all ranks; they stay usable."""

    def __init__(self) -> None:
        super().__init__("The call was interrupted: call it again.")

    def __reduce__(self) -> tuple:
        return type(self), ()


class RankError(TravError):
    """A rank failed, or did not answer in time, so that no rank can continue.

    Attributes
    ----------
    rank : int or None
        The rank at fault, or the first of several; None if it is not known.
    """

    def __init__(self, message: str, rank: int | None = None) -> None:
        super().__init__(message)
        self.rank = rank

    @classmethod
    def because(cls, reason: str, rank: int | None = None) -> RankError:
        """Make the error for a reason, such as "rank 3 failed while searching: out of memory"."""
        if reason == WAS_CLOSED:
            return cls(CLOSED, rank)
        remedy = "the graph is lost: remove the cause and build it again"
        return cls(f"{reason[0].upper()}{reason[1:]}; {remedy}.", rank)

    def __reduce__(self) -> tuple:
        return type(self), (self.args[0], self.rank)  # keeps its rank when it is pickled
