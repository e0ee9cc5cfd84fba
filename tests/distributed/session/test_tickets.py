"""Turns at workers are granted in the order of the requests, which is the same at every worker."""

from __future__ import annotations

import asyncio
import random

import pytest

from rapids_trav.distributed.session.conductor import Tickets


def test_no_two_at_one_worker_and_no_overtaking():
    async def scenario():
        tickets, order, busy = Tickets(), {k: [] for k in "abcde"}, set()
        rng = random.Random(1)

        async def work(number, workers):
            async with tickets.turn(workers):
                assert busy.isdisjoint(workers)
                busy.update(workers)
                for worker in workers:
                    order[worker].append(number)
                await asyncio.sleep(rng.random() / 1000)
                busy.difference_update(workers)

        sets = [rng.sample("abcde", rng.randint(1, 4)) for _ in range(300)]
        await asyncio.wait_for(asyncio.gather(*(work(k, workers) for k, workers in enumerate(sets))), 60)
        for worker, seen in order.items():
            assert seen == [k for k, workers in enumerate(sets) if worker in workers]
        assert tickets.waiting() == {}

    asyncio.run(scenario())


def test_a_small_request_does_not_pass_a_waiting_large_one():
    async def scenario():
        tickets, entered = Tickets(), []
        end = asyncio.Event()

        async def work(name, workers):
            async with tickets.turn(workers):
                entered.append(name)
                await end.wait()

        tasks = [
            asyncio.create_task(work(*each)) for each in [("x", "a"), ("both", "ab"), ("y", "b"), ("z", "c")]
        ]
        await asyncio.sleep(0.05)
        assert entered == ["x", "z"]  # b is free, but "both" asked for it before "y"
        assert tickets.waiting() == {"a": 2, "b": 2, "c": 1}
        end.set()
        await asyncio.gather(*tasks)
        assert entered[2:] == ["both", "y"]

    asyncio.run(scenario())


@pytest.mark.parametrize("how", ["cancelled while waiting", "cancelled at work", "raises"])
def test_turns_end_with_those_who_hold_them(how):
    async def scenario():
        tickets = Tickets()
        at_work = asyncio.Event()

        async def work():
            async with tickets.turn("ab"):
                at_work.set()
                if how == "raises":
                    raise ZeroDivisionError
                await asyncio.sleep(60)

        if how == "cancelled while waiting":
            async with tickets.turn("b"):
                task = asyncio.create_task(work())
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait({task})
        else:
            task = asyncio.create_task(work())
            await at_work.wait()
            task.cancel()
            await asyncio.wait({task})
        async with asyncio.timeout(10), tickets.turn("ab"):
            pass
        assert tickets.waiting() == {}

    asyncio.run(scenario())
