"""The loader that copies blocks on a helper thread."""

from __future__ import annotations

import threading

import pytest

from rapids_trav.engines.blocks.residency import Landed
from rapids_trav.engines.cpu.programs.blocks.executor import Loader


def test_a_block_lands_when_it_has_been_copied():
    goes_on = threading.Event()

    def copy(block, place):
        assert goes_on.wait(60) and threading.current_thread() is not threading.main_thread()
        return 100 * block + place

    loader = Loader(copy)
    assert not loader.n_coming and loader.landed(wait=True) is None
    loader.begin(3, 1)
    assert loader.n_coming and loader.landed() is None and loader.n_coming
    goes_on.set()
    assert loader.landed(wait=True) == Landed(3, 1, 301)
    assert not loader.n_coming and loader.landed() is None
    loader.close()


def test_what_fails_on_the_helper_thread_is_raised():
    def copy(block, place):
        raise OSError("the disk has gone")

    loader = Loader(copy)
    loader.begin(0, 0)
    with pytest.raises(OSError, match="has gone"):
        loader.landed(wait=True)
    loader.close()


def test_where_no_thread_can_be_started_the_caller_copies(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    loader = Loader(lambda block, place: 7)
    monkeypatch.setattr(threading.Thread, "start", start)
    loader.begin(2, 0)
    assert loader.landed() == Landed(2, 0, 7)
    loader.close()
