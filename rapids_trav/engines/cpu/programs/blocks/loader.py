"""Loading of blocks from files into memory, while resident blocks are iterated (docs/systems.md, L9)."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor

from rapids_trav.engines.blocks.loading import Copy, Landed


class Loader:
    """Loader that copies on one helper thread, or, if no thread can be started, on the calling thread."""

    most = 1

    def __init__(self, copy: Copy) -> None:
        self._copy = copy
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="rapids_trav_loader")
        self._coming: tuple[int, int, Future[int]] | None = None

    @property
    def n_coming(self) -> int:
        return int(self._coming is not None)

    def begin(self, block: int, place: int) -> None:
        try:
            copied = self._pool.submit(self._copy, block, place)
        except RuntimeError:
            copied = Future()
            copied.set_result(self._copy(block, place))
        self._coming = (block, place, copied)

    def landed(self, wait: bool = False) -> Landed | None:
        if self._coming is None:
            return None
        block, place, copied = self._coming
        if not wait and not copied.done():
            return None
        self._coming = None
        return Landed(block, place, copied.result())

    def close(self) -> None:
        self._pool.shutdown()
        self._coming = None
