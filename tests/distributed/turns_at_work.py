"""Count, on a worker, how many requests its ranks serve at once."""

from __future__ import annotations

import threading
import time
from typing import Any

_LOCK = threading.Lock()
_serving: list[int] = []  # how many were served when each request began, this one included
_at_work: set[int] = set()


def watch() -> None:
    """Count from now on, in this process."""
    from rapids_trav.distributed.session.rank_actor import RankActor

    _serving.clear()
    perform = RankActor._perform

    def counted(actor: RankActor, *arguments: Any) -> Any:
        with _LOCK:
            _at_work.add(id(actor))
            _serving.append(len(_at_work))
        try:
            time.sleep(0.001)  # long enough to be seen by another
            return perform(actor, *arguments)
        finally:
            with _LOCK:
                _at_work.discard(id(actor))

    counted.before = perform  # type: ignore[attr-defined]
    RankActor._perform = counted  # type: ignore[method-assign]


def watched() -> tuple[int, int]:
    """Stop; return the number of requests, and the most that were served at once."""
    from rapids_trav.distributed.session.rank_actor import RankActor

    RankActor._perform = RankActor._perform.before  # type: ignore[attr-defined, method-assign]
    return len(_serving), max(_serving, default=0)
