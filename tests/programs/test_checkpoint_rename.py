"""A checkpoint takes its place by one rename of a complete file that has reached the disk (X3)."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rapids_trav.programs.checkpoint import NAME, Writer, load
from rapids_trav.programs.run_state import RunState

RUN = {"graph": "g", "program": "p"}


def state(iteration):
    return RunState(np.full(1000, iteration), np.ones(1000, bool), iteration)


def test_what_was_opened_before_stays_as_it_was(tmp_path):
    """A new checkpoint is another file: nothing is written into the previous one."""
    writer = Writer(tmp_path, RUN)
    writer.write(state(1))
    before = (tmp_path / NAME).read_bytes()
    with (tmp_path / NAME).open("rb") as opened:
        writer.write(state(2))
        assert opened.read() == before
    assert load(tmp_path, RUN).iteration == 2


class Killed(BaseException):
    """Simulated end of the process: nothing after it runs."""


@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_beside_the_rename(tmp_path, monkeypatch, moment):
    """Until the rename, the name holds the complete previous checkpoint; after it, the complete new one."""
    writer = Writer(tmp_path, RUN)
    writer.write(state(1))
    synced, renamed = [], []
    fsync, replace = os.fsync, os.replace

    def note(handle):
        synced.append(os.fstat(handle).st_ino)
        fsync(handle)

    def killed(path, target):
        renamed.append((Path(path).stat().st_ino, Path(target)))
        assert load(tmp_path, RUN).iteration == 1
        if moment == "after":
            replace(path, target)
        raise Killed

    monkeypatch.setattr(os, "fsync", note)
    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(Killed):
        writer.write(state(2))
    monkeypatch.undo()
    assert len(renamed) == 1 and renamed[0][1] == tmp_path / NAME
    assert renamed[0][0] in synced  # the renamed file was on the disk first
    assert load(tmp_path, RUN).iteration == (1 if moment == "before" else 2)
    Writer(tmp_path, RUN).write(state(3))  # leftovers do not stand in the way
    assert load(tmp_path, RUN).iteration == 3
    assert [path.name for path in tmp_path.iterdir()] == [NAME]
