"""The cluster of a benchmark: workers, the ranks on them, frames generated there, clocks and memory."""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.workers import on_ranks as dask_ranks
from rapids_trav import generators
from rapids_trav.distributed.dask_frames import without_rows
from rapids_trav.distributed.session.rank_group import RankGroup
from rapids_trav.graph500 import ranks

EDGE_FACTOR = 16
PATIENCE = 60.0  # seconds that one step may take, and that ranks wait for each other
POOL = 0.6  # share of a GPU's memory for RMM; the rest is for NCCL and contexts


@contextmanager
def start_cluster(cpu: bool, n_workers: int) -> Iterator[Any]:
    """Yield a client of workers on this machine: one GPU each, or processes without GPUs."""
    import dask
    from distributed import Client

    own = {"n_workers": n_workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.worker.memory.terminate": False}))
        if cpu:
            from distributed import LocalCluster

            options = {"processes": True, "memory_limit": 0, "silence_logs": "CRITICAL"}
            cluster = LocalCluster(**own, **options)
        else:
            from dask_cuda import LocalCUDACluster

            cluster = LocalCUDACluster(**own, rmm_pool_size=POOL)
        cluster = stack.enter_context(cluster)
        client = stack.enter_context(Client(cluster, timeout=PATIENCE))
        client.wait_for_workers(n_workers, timeout=PATIENCE)
        yield client


@contextmanager
def within(seconds: float, task: str) -> Iterator[None]:
    """Raise a `TimeoutError` in the block after `seconds`; main thread only, may be nested."""

    def late(*_: object) -> None:
        raise TimeoutError(f"{task} took more than {seconds:.0f} s")

    start = time.monotonic()
    outer, _ = signal.getitimer(signal.ITIMER_REAL)
    if 0 < outer <= seconds:  # the enclosing limit is due first
        yield
        return
    previous = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
        if outer:
            signal.setitimer(signal.ITIMER_REAL, max(outer - (time.monotonic() - start), 0.001))


@dataclass
class Made:
    """An R-MAT graph on the ranks, as one of them described it."""

    group: RankGroup
    scale: int
    generation: float
    roots: list[int]
    about: list[dict]  # results of `dask_ranks.construct`, one for each rank
    found: dict[str, list[list[dict]]] = field(default_factory=dict)  # by settings: rank, root

    @property
    def grid(self) -> str:
        rows, columns = self.about[0]["shape"]
        return f"{rows} x {columns}"

    @property
    def facts(self) -> dict:
        """Facts about the graph that every row of results includes."""
        first = self.about[0]
        return {
            "graph": f"rmat{self.scale}",
            "workers": len(self.group.workers),
            "grid": self.grid,
            "vertices": first["vertices"],
            "edges": first["edges"],
        }


@dataclass
class DaskLab:
    """A cluster and the graphs measured on it.

    Parameters
    ----------
    client : distributed.Client
    cpu : bool
    n_roots, n_checked : int
        Searches of each contender, and the number of them that are checked by the five rules.
    seed : int
        Seed of graphs and roots.
    """

    client: Any
    cpu: bool
    n_roots: int = 8
    n_checked: int = 1
    seed: int = 1
    _groups: dict[int, RankGroup] = field(default_factory=dict)
    _made: dict[int, tuple] = field(default_factory=dict)  # key of the graph that each group holds
    _kept: dict[int, Made] = field(default_factory=dict)

    @property
    def library(self) -> str:
        return "pandas" if self.cpu else "cudf"

    @property
    def workers(self) -> tuple[str, ...]:
        return tuple(self.client.nthreads())

    def group(self, n_workers: int) -> RankGroup:
        """Return the ranks on the first `n_workers` workers; they stay until a failure or `close`."""
        if n_workers not in self._groups:
            device = "cpu" if self.cpu else "cuda"
            chosen = self.workers[:n_workers]
            self._groups[n_workers] = RankGroup.open(self.client, chosen, deadline=PATIENCE, device=device)
        return self._groups[n_workers]

    def made(self, scale: int, n_workers: int, grid: tuple[int, int] | None = None) -> Made:
        """Return the graph of that scale on `n_workers` workers; it is built if it is not there."""
        group, key = self.group(n_workers), (scale, grid)
        if self._made.get(n_workers) != key:
            self.forget()
            with within(2 * PATIENCE, f"building scale {scale}"):
                generation = max(group.call(ranks.generate, scale, EDGE_FACTOR, self.seed))
                about = group.call(dask_ranks.construct, grid)
                roots = group.call(ranks.draw_roots, self.n_roots, self.seed)[0]
            self._made[n_workers] = key
            self._kept[n_workers] = Made(group, scale, generation, roots, about)
        return self._kept[n_workers]

    def forget(self) -> None:
        """Free all graphs that ranks hold."""
        for n_workers in list(self._made):
            self._groups[n_workers].call(dask_ranks.forget)
            del self._made[n_workers], self._kept[n_workers]

    def close(self) -> None:
        """Free what ranks hold, also after a failure; graphs are built again when they are next needed."""
        self._made.clear()
        self._kept.clear()
        for n_workers in list(self._groups):
            group = self._groups.pop(n_workers)
            with contextlib.suppress(Exception), within(PATIENCE, "closing"):  # the cause was reported
                group.close()

    def frame(self, scale: int) -> tuple[Any, int]:
        """Return a Dask frame of the edges, in two partitions on each worker that made them, and its bytes.

        cuGraph would cut the partitions into two.
        """
        import dask.dataframe as dd

        if not self.cpu:
            import dask_cudf  # noqa: F401  (provides the collection for frames of cuDF)
        homes, n_edges = [worker for worker in self.workers for _ in range(2)], EDGE_FACTOR << scale
        bounds = [n_edges * k // len(homes) for k in range(len(homes) + 1)]
        futures = [
            self.client.submit(
                generators.rmat_part, scale, bounds[k], bounds[k + 1], self.seed, self.library,
                workers=[worker], allow_other_workers=False, pure=False,
            )
            for k, worker in enumerate(homes)
        ]  # fmt: skip
        meta = self.fetch([self.client.submit(without_rows, futures[0])])[0]
        n_bytes = sum(self.fetch([self.client.submit(_bytes_of, future) for future in futures]))
        return dd.from_delayed(futures, meta=meta, verify_meta=False), n_bytes

    def waited(self, frame: Any) -> Any:
        """Return a Dask frame once all its partitions are computed on the workers.

        A frame that consists of futures, and of other names of them, is persisted already and is only waited
        for.
        """
        from dask._task_spec import Alias
        from distributed import Future, futures_of, wait

        if not all(isinstance(task, Future | Alias) for task in frame.__dask_graph__().values()):
            frame = frame.persist()
        futures = futures_of(frame)
        wait(futures, timeout=PATIENCE)
        for future in futures:
            if future.status == "error":
                future.result(timeout=PATIENCE)
        return frame

    def fetch(self, futures: Sequence[Any]) -> list:
        """Return the results of futures; no wait is longer than `PATIENCE`."""
        return [future.result(timeout=PATIENCE) for future in futures]

    def peaks(self, work: Callable[[], Any]) -> tuple[Any, float, list[int | None]]:
        """Return the result of the work, its seconds, and the peak memory that it took on each worker.

        This is the memory beyond what was held before: on a GPU by the counters of RMM, from which cuDF,
        cuGraph and CuPy allocate (without the contexts and NCCL's memory); without a GPU, the resident memory
        of the process.
        """
        begin, end = (_begin_rss, _end_rss) if self.cpu else (_begin_rmm, _end_rmm)
        self.client.run(begin)
        start = time.perf_counter()
        try:
            result = work()
            seconds = time.perf_counter() - start
        finally:
            with within(PATIENCE, "reading the peaks"):
                told = self.client.run(end)
        return result, seconds, [told[worker] for worker in self.workers]


def has_cugraph() -> bool:
    return find_spec("cugraph") is not None and find_spec("dask_cudf") is not None


def _bytes_of(frame: Any) -> int:
    return int(frame.memory_usage(index=False).sum())


def _begin_rmm() -> None:
    import rmm.statistics

    rmm.statistics.enable_statistics()
    rmm.statistics.push_statistics()


def _end_rmm() -> int:
    import rmm.statistics

    return int(rmm.statistics.pop_statistics().peak_bytes)


def _begin_rss(dask_worker: Any) -> None:
    """Reset the kernel's count of the peak, and store the memory held now."""
    with contextlib.suppress(OSError):  # some containers have no such file
        Path("/proc/self/clear_refs").write_text("5")
    dask_worker.rapids_trav_rss = _status("VmRSS")


def _end_rss(dask_worker: Any) -> int | None:
    peak, before = _status("VmHWM"), dask_worker.rapids_trav_rss
    return None if peak is None or before is None else max(0, peak - before)


def _status(name: str) -> int | None:
    """Return the bytes in a line of the process's status."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return 1024 * int(line.split()[1])
    return None


def counts(n_workers: int) -> list[int]:
    """Return the numbers of workers for scaling: powers of two, and all."""
    return sorted({1 << k for k in range(n_workers.bit_length()) if 1 << k <= n_workers} | {n_workers})
