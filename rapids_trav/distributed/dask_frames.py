"""Dask frames and futures: partitions of the edges in, frames of answers out, and waiting for tasks."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rapids_trav.errors import TravError
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame, library_of

if TYPE_CHECKING:
    from distributed import Client

Futures = list[Any]  # futures of `distributed`, each of one frame


def partitions(frame: Frame, client: Client) -> Futures:
    """Start to compute the partitions of a Dask frame; return their futures, in order.

    Any worker may compute them.  Tasks that are bound to workers wait forever once all those workers are
    lost, and so does a later graph of the same frame, whose tasks have the same keys.
    """
    return client.compute(frame.to_delayed())


def portable(value: Any, client: Client) -> Any:
    """Return vertices that a caller passed in a form that can be sent to the workers of a client."""
    if hasattr(value, "__dask_graph__"):
        try:
            with client.as_current():
                value = value.compute()
        except CancelledError as error:
            raise TravError(
                "The data of a Dask collection that names vertices are lost, or belong to another cluster: "
                "make it again, or compute it with its own client and give the result."
            ) from error
    if isinstance(value, Iterator):
        return list(value)
    return proxies.opened(value, on_gpu=False)


def is_cudf(frame: Frame) -> bool:
    """Return whether the partitions of a Dask frame are cuDF frames."""
    return library_of(frame._meta) == "cudf"


def assembled(futures: Futures, lengths: Sequence[int], meta: Frame, name: str) -> Frame:
    """Return a Dask frame with these futures as partitions, whose index numbers the rows of all of them.

    Empty partitions are left out, so that the divisions ascend; if all are empty, one is kept.
    """
    kept = [i for i, rows in enumerate(lengths) if rows] or [0]
    firsts = [sum(lengths[:i]) for i in kept]
    last = max(sum(lengths) - 1, 0)
    return joined([futures[i] for i in kept], meta, name, (*firsts, last))


def joined(futures: Futures, meta: Frame, name: str, divisions: tuple | None = None) -> Frame:
    """Return a Dask frame with these futures as partitions; the frame keeps them alive."""
    import dask.dataframe

    key = f"trav-{name}-{uuid.uuid4().hex}"
    layer = {(key, i): future for i, future in enumerate(futures)}
    divisions = (None,) * (len(futures) + 1) if divisions is None else divisions
    return dask.dataframe.from_graph(layer, meta, divisions, list(layer), f"trav-{name}")


def without_rows(frame: Frame) -> Frame:
    """Return an empty frame with the columns of `frame`; runs on the worker that has it."""
    return frame.iloc[:0]


@contextmanager
def thread_for_others() -> Iterator[None]:
    """Let the worker run other tasks in this thread's place meanwhile, if a task runs the block.

    Dask's own `compute` does so, too.  Otherwise tasks that wait for others may occupy all threads.
    """
    from distributed import rejoin, secede

    try:
        secede()
    except (ValueError, KeyError):  # not in a task, or in one that has left already
        yield
        return
    try:
        yield
    finally:
        rejoin()
