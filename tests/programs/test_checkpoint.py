"""Checkpoints: a state that was written is read back, and nothing else is ever accepted."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import zlib

import numpy as np
import pytest

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.errors import TravError
from rapids_trav.programs.checkpoint import NAME, Writer, graph_fingerprint, load
from rapids_trav.programs.run_state import RunState

RUN = {"graph": "9-15-directed-0a0b0c0d", "program": "abc", "parameters": (0.85, 1e-05), "weighted": False}


def state(dtype="float64", n=21, iteration=7):
    random = np.random.default_rng(iteration)
    values = (random.random(n) * 1000).astype(dtype)
    return RunState(values, random.random(n) < 0.4, iteration, total=0.1 * iteration)


def same(one, other):
    return (
        (one.iteration, one.total) == (other.iteration, other.total)
        and (one.values.dtype, one.active.dtype) == (other.values.dtype, np.dtype(bool))
        and one.values.tobytes() == other.values.tobytes()
        and one.active.tolist() == other.active.tolist()
    )


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("n", [0, 1, 8, 21])
def test_what_is_written_comes_back(tmp_path, dtype, n):
    Writer(tmp_path / "new" / "folder", RUN).write(state(dtype, n))
    found = load(tmp_path / "new" / "folder", RUN)
    assert same(found, state(dtype, n))
    found.values[:] = 0  # the arrays belong to the caller
    assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == [NAME]


def test_values_that_are_not_finite(tmp_path):
    values = np.array([np.inf, -np.inf, np.nan, -0.0])
    Writer(tmp_path, RUN).write(RunState(values, np.ones(4, bool), 1, float("inf")))
    found = load(tmp_path, RUN)
    assert found.values.tobytes() == values.tobytes() and found.total == float("inf")


def test_the_newest_counts(tmp_path):
    writer = Writer(tmp_path, RUN)
    for iteration in (1, 2, 3):
        writer.write(state(iteration=iteration))
    assert same(load(tmp_path, RUN), state(iteration=3))


def test_no_checkpoint(tmp_path):
    assert load(tmp_path, RUN) is None
    assert load(tmp_path / "missing", RUN) is None


@pytest.mark.parametrize("name", RUN)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, name):
    Writer(tmp_path, RUN | {name: "other"}).write(state())
    with pytest.raises(TravError, match=rf"is of another {name} \('other'; .*\) and is not used: run"):
        load(tmp_path, RUN)


def test_of_another_version(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("rapids_trav.programs.checkpoint.VERSION", 5)
        Writer(tmp_path, RUN).write(state())
    with pytest.raises(TravError, match="has format version 5, but this release reads 4"):
        load(tmp_path, RUN)


def test_every_flipped_bit_and_every_cut_is_noticed(tmp_path):
    Writer(tmp_path, RUN).write(state("int32", 9))
    path = tmp_path / NAME
    content = path.read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        with pytest.raises(TravError, match=r"checkpoint\.trav is damaged .* not used: run without resume"):
            load(tmp_path, RUN)
        path.write_bytes(content[:position])
        with pytest.raises(TravError, match="is damaged"):
            load(tmp_path, RUN)
    path.write_bytes(content + b"\0")
    with pytest.raises(TravError, match="is damaged"):
        load(tmp_path, RUN)


def test_a_full_disk_leaves_the_one_before(tmp_path, monkeypatch):
    writer = Writer(tmp_path, RUN)
    writer.write(state(iteration=1))

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        TravError, match=r"No space left on device; the one before is intact: free space there .* resume=True"
    ):
        writer.write(state(iteration=2))
    assert same(load(tmp_path, RUN), state(iteration=1))
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_full_disk_at_the_first_leaves_nothing(tmp_path, monkeypatch):
    writers = [Writer(folder, RUN) for folder in (tmp_path, tmp_path / "new" / "folder")]

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    for writer in writers:
        with pytest.raises(TravError, match=r"No space left on device; there is none before it: free space"):
            writer.write(state())
    assert tmp_path.is_dir() and not list(tmp_path.iterdir())


def test_a_limit_on_the_size_of_files(tmp_path):
    """A write fails half way, in a process that may not write files of this size."""
    import subprocess
    import sys

    script = """
import resource, sys
import numpy as np
from rapids_trav.programs.checkpoint import Writer, load
from rapids_trav.errors import TravError
from rapids_trav.programs.run_state import RunState
writer = Writer(sys.argv[1], {})
writer.write(RunState(np.arange(10), np.ones(10, bool), 1))
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    writer.write(RunState(np.arange(100_000), np.ones(100_000, bool), 2))
except TravError as error:
    assert "File too large; the one before" in str(error), error
    assert load(sys.argv[1], {}).iteration == 1
    print("refused")
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "refused\n"
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TravError, match=r"checkpoint=.*file.* cannot be made a folder"):
        Writer(tmp_path / "file", RUN)
    (tmp_path / NAME).mkdir()
    with pytest.raises(TravError, match="is a folder, not a file: remove it"):
        load(tmp_path, RUN)


def test_fingerprints_of_graphs():
    offsets, columns = np.array([0, 2, 3, 3]), np.array([1, 2, 0], dtype=np.int32)
    one = graph_fingerprint(Adjacency(offsets, columns), 3, True)
    assert one == graph_fingerprint(Adjacency(offsets.astype(np.int32), columns.copy()), 3, True)
    others = [
        graph_fingerprint(Adjacency(np.array([0, 1, 3, 3]), columns), 3, True),
        graph_fingerprint(Adjacency(offsets, columns[::-1]), 3, True),
        graph_fingerprint(Adjacency(offsets, columns), 2, False),
    ]
    assert len({one, *others}) == 4
    assert one == "3-3-directed-0643c888"  # stable across processes and machines


def test_a_state_is_all_that_a_run_needs():
    assert [field.name for field in dataclasses.fields(RunState)] == [
        "values", "active", "iteration", "total", "residual", "policy",
    ]  # fmt: skip


def header(**changed):
    kept = {
        "version": 4,
        "iteration": 3,
        "total": "0x0p+0",
        "residual": "nan",
        "vertices": 1,
        "dtype": "int32",
        "policy": {},
        "journal": "",
    }
    return json.dumps(kept | {"fingerprint": RUN} | changed)


@pytest.mark.parametrize(
    "line",
    ["[]", "3", "not JSON", "\xff", "{}", '{"version": 4}', "no end"]
    + [
        header(**{name: None})
        for name in (
            "iteration",
            "total",
            "residual",
            "vertices",
            "dtype",
            "fingerprint",
            "policy",
            "journal",
        )
    ]
    + [header(policy={"cpu": value}) for value in (1, "1", None, float("nan"), float("inf"))]
    + [header(journal=token) for token in ("0" * 31, "0" * 33, "../" * 11, "G" * 32, "0" * 32 + "\n")]
    + [header(total="one"), header(dtype="O"), header(dtype="what"), header(vertices=2), header(vertices=-1)],
)
def test_a_checkpoint_that_somebody_else_wrote(tmp_path, line):
    """The checksum is right, but the header is not."""
    body = line.encode("latin1") + (b"" if line == "no end" else b"\n") + b"\0" * 5
    (tmp_path / NAME).write_bytes(body + zlib.crc32(body).to_bytes(4, "little"))
    with pytest.raises(TravError, match=r"is damaged \(its .*\) and is not used: run without resume"):
        load(tmp_path, json.loads(json.dumps(RUN)))


def test_a_header_as_it_should_be(tmp_path):
    body = header().encode() + b"\n" + b"\0" * 5
    (tmp_path / NAME).write_bytes(body + zlib.crc32(body).to_bytes(4, "little"))
    assert load(tmp_path, RUN).iteration == 3


def test_a_null_character_is_in_no_path():
    with pytest.raises(TravError, match=r"'a.x00b' has a character that no file name can have"):
        Writer("a\0b", RUN)
