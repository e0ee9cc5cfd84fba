"""`frame.trav`: traversal as a method of the frame that holds the edges."""

from rapids_trav.accessor.methods import TravAccessor
from rapids_trav.accessor.registration import register

__all__ = ["TravAccessor", "register"]
