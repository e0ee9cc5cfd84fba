"""Register `.trav` for the frames of polars: `import rapids_trav.polars`, before or after polars.

>>> import polars as pl, rapids_trav.polars
>>> edges = pl.DataFrame({"src": [0, 0, 1, 2], "dst": [1, 2, 3, 3]})
>>> edges.trav.bfs(0)["distance"].to_list()
[0, 1, 1, 2]

Where polars is imported before it, `import rapids_trav` does so as well.
"""

from rapids_trav.accessor import register_polars

register_polars()
