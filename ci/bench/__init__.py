"""What ci/bench_gpu.py runs, and ci/bench_dask.py (`dask_*`): a module for each benchmark, and shared ones.

`graphs` makes and names the graphs, `lab` holds the device, the contenders and the clock, `checks` validates
what was timed, `rows` makes statistics, `tables` and `pictures` show them.  A benchmark is a module with
`GRAPHS` (the default ones), `TABLES` (with their columns), `measure(lab, graphs)`, which yields rows, and
`draw(axes, rows)`.
"""
