"""What ci/sanitize.py runs: searches, builds and searches outside the GPU's memory, programs, Graph500, and
the search on a grid of ranks.

Each module raises an AssertionError where an answer is not NumPy's or SciPy's.
"""
