"""Cases for ci/sanitize.py: searches, builds and searches outside GPU memory, programs, Graph500 and ranks.

The ranks search on a grid.  Each module raises an AssertionError where an answer differs from NumPy's or
SciPy's.
"""
