"""Program with a client, which a test kills: `python client_process.py SCHEDULER HOW`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[2] / "engines" / "multigpu")]

import rank_functions as ranks
from distributed import Client

from rapids_trav.distributed.session.gang import Gang

MUCH = 100_000_000  # bytes on each worker


def main(scheduler: str, how: str) -> None:
    client = Client(scheduler, set_as_default=False)
    gang = Gang.open(client)
    gang.call(ranks.fill, MUCH)
    kept = gang.call(ranks.keep_much, MUCH)
    print("ready", flush=True)
    if how == "searching":
        gang.call(ranks.endless)
    if how == "ending":  # exit without closing anything
        sys.exit(0)
    sys.stdin.read()
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
