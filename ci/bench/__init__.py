"""Benchmarks of ci/bench_gpu.py and ci/bench_dask.py (`dask_*`): one module each, and shared modules.

`graphs` generates and names the graphs, `lab` holds the device, the contenders and the clock, `checks`
validates the timed answers, `rows` computes statistics, `tables` and `pictures` show them.  A benchmark is a
module with `GRAPHS` (the default ones), `TABLES` (with their columns), `measure(lab, graphs)`, which yields
rows, and `draw(axes, rows)`.
"""
