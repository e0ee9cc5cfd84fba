"""What ci/bench_gpu.py and ci/bench_dask.py (`dask_*`) run: one module for each benchmark, and what they share.

`graphs` makes and names the graphs, `lab` holds the device, the contenders and the clock, `checks` validates
what was timed, `rows` makes statistics, `tables` and `pictures` show them.  A benchmark is a module with
`GRAPHS` (the default ones), `TABLES` (with their columns), `measure(lab, graphs)`, which yields rows, and
`draw(axes, rows)`.
"""
