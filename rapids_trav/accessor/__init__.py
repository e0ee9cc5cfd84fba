"""The accessor `frame.trav`: graph traversal as methods of the frame that holds the edges."""

from rapids_trav.accessor.methods import TravAccessor
from rapids_trav.accessor.registration import register

__all__ = ["TravAccessor", "register"]
