"""The Graph500 benchmark, its breadth-first part: generate, construct, search, validate, report.

>>> from rapids_trav import graph500
>>> report = graph500.run(10, roots=4, engine="cpu")
>>> report.valid
True
>>> sorted(report.output())[:3]
['NBFS', 'SCALE', 'bfs_firstquartile_TEPS']

Reference: graph500.org, "Graph 500 Benchmarks 1 (Search) and 2 (Shortest Path)", the specification.
"""

from rapids_trav.engines.searches import Verdict
from rapids_trav.graph500.harness import run
from rapids_trav.graph500.report import Report
from rapids_trav.graph500.validation import validate

__all__ = ["Report", "Verdict", "run", "validate"]
