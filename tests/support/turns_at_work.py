"""Counter of the requests that the ranks of a worker serve at the same time."""

from __future__ import annotations

import threading
import time
from typing import Any

_LOCK = threading.Lock()
_serving: list[int] = []  # requests under way when each one began, itself included
_at_work: set[int] = set()


def watch() -> None:
    """Start counting in this process."""
    from rapids_trav.distributed.session.rank_actor import RankActor

    _serving.clear()
    perform = RankActor._perform

    def counted(actor: RankActor, *arguments: Any) -> Any:
        with _LOCK:
            _at_work.add(id(actor))
            _serving.append(len(_at_work))
        try:
            time.sleep(0.001)  # long enough for others to overlap
            return perform(actor, *arguments)
        finally:
            with _LOCK:
                _at_work.discard(id(actor))

    counted.before = perform  # type: ignore[attr-defined]
    RankActor._perform = counted  # type: ignore[method-assign]


def watched() -> tuple[int, int]:
    """Stop counting; return the number of requests and the largest number served at the same time."""
    from rapids_trav.distributed.session.rank_actor import RankActor

    RankActor._perform = RankActor._perform.before  # type: ignore[attr-defined, method-assign]
    return len(_serving), max(_serving, default=0)
