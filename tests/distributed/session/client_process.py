"""A process with a client and a gang, which a test kills."""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

import rank_functions as ranks
from distributed import Client

from rapids_trav.distributed.session.gang import Gang

MUCH = 100_000_000  # bytes on each worker


def client_with_gang(test: Connection, scheduler: str, how: str) -> None:
    client = Client(scheduler, set_as_default=False)
    gang = Gang.open(client)
    gang.call(ranks.fill, MUCH)
    kept = gang.call(ranks.keep_much, MUCH)
    test.send("ready")
    if how == "searching":
        gang.call(ranks.endless)
    if how == "ending":  # exit without closing anything
        sys.exit(0)
    test.recv()  # never comes
    del kept
