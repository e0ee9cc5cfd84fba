"""Time a build and searches on frames of cudf.pandas and on frames of cuDF; needs a GPU.

Prints medians for R-MAT graphs and the CPU calls counted by cudf.pandas's profiler.  Both kinds of frames are
in one process and on one memory pool, and take turns.

    python ci/time_cudf_pandas.py --scale 20
"""

from __future__ import annotations

import argparse
from statistics import median
from time import perf_counter


def measure(action, synchronize) -> float:
    """Return the milliseconds of an action, up to its end on the GPU."""
    synchronize()
    begin = perf_counter()
    action()
    synchronize()
    return 1e3 * (perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args()

    import rmm

    device = rmm.mr.CudaMemoryResource()
    rmm.mr.set_current_device_resource(rmm.mr.PoolMemoryResource(device, initial_pool_size=8 << 30))
    import cudf.pandas

    cudf.pandas.install()  # keeps a memory resource that is already set
    import cupy

    import rapids_trav  # noqa: F401
    from rapids_trav import generators

    native = generators.rmat(asked.scale, library="cudf")
    frames = {"cuDF": native, "cudf.pandas": cudf.pandas.as_proxy_object(native.copy())}
    roots = native["src"].drop_duplicates()[: asked.repeats].to_arrow().to_pylist()
    synchronize = cupy.cuda.get_current_stream().synchronize
    times: dict[tuple[str, str], list[float]] = {}
    built = {name: frame.trav.graph() for name, frame in frames.items()}
    for root in [roots[0], *roots]:  # the first one warms up
        for name, frame in frames.items():
            graph = built[name]
            tasks = {
                "build": frame.trav.graph,
                "bfs": lambda graph=graph, root=root: graph.bfs(root),
                "bfs of 3": lambda graph=graph, frame=frame: graph.bfs(frame["src"].head(3)),
                "one line": lambda frame=frame, root=root: frame.trav.bfs(root),
            }
            for task, action in tasks.items():
                times.setdefault((task, name), []).append(measure(action, synchronize))
    for graph in built.values():
        print(graph)
    for task in tasks:
        plain, proxied = (median(times[task, name][1:]) for name in frames)
        print(f"{task:10} cuDF {plain:9.3f} ms   cudf.pandas {proxied:9.3f} ms   ratio {proxied / plain:.3f}")
    with cudf.pandas.Profiler() as profiler:
        graph = frames["cudf.pandas"].trav.graph()
        graph.bfs(roots[0])
        graph.bfs(frames["cudf.pandas"]["src"].head(3))
    fallen = {name: len(calls["cpu"]) for name, calls in profiler.per_function_stats.items() if calls["cpu"]}
    print("on the CPU, by cudf.pandas's profiler:", fallen or "nothing")


if __name__ == "__main__":
    main()
