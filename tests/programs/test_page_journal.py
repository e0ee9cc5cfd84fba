"""The journal of pages: complete records count, and nothing from one on that is torn or damaged."""

from __future__ import annotations

import errno
import os
import zlib
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from rapids_trav.errors import TravError
from rapids_trav.programs.checkpoint import NAME, Writer, load
from rapids_trav.programs.page_journal import CHECKSUM, HEAD, SUFFIX, TOKEN, PageJournal, new_token
from rapids_trav.programs.run_state import RunState

RUN = {"graph": "g", "program": "p"}
N = 40


def state(dtype="int32"):
    active = np.zeros(N, bool)
    active[::9] = True
    return RunState(np.arange(100, 100 + N).astype(dtype), active, iteration=3)


def begun(folder, dtype="int32"):
    """Write a checkpoint, and return the journal that follows it."""
    token = new_token()
    Writer(folder, RUN).write(state(dtype), token)
    journal = PageJournal(folder / NAME)
    journal.follow(state(dtype).values, token)
    return journal


def journal_of(folder):
    return (folder / NAME).with_suffix(SUFFIX)


def pages(folder, dtype="int32"):
    """Record some pages; return the state, and the length of the journal, before the first and after each."""
    journal, now = begun(folder, dtype), state(dtype)
    states, lengths = [(now.values.copy(), now.active.copy())], [TOKEN]
    random = np.random.default_rng(5)
    for first, after in ((0, 13), (13, 14), (14, N), (0, 13), (0, N)):
        places = first + np.flatnonzero(random.random(after - first) < 0.6)
        places = places if len(places) else np.array([first])
        now.values[places] -= random.integers(1, 20, len(places)).astype(dtype)
        now.active[places] = True
        journal.record(first, now.values[first:after])
        states.append((now.values.copy(), now.active.copy()))
        lengths.append(journal_of(folder).stat().st_size)
    journal.close()
    return states, lengths


def same(found, wanted):
    values, active = wanted
    return (
        found.values.tobytes() == values.tobytes()
        and found.active.tolist() == active.tolist()
        and found.iteration == 3
    )


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_pages_come_back_with_the_checkpoint(tmp_path, dtype):
    states, lengths = pages(tmp_path, dtype)
    assert same(load(tmp_path, RUN), states[-1])
    assert all(one < other for one, other in pairwise(lengths))


def test_records_outlive_a_process_that_closes_no_journal(tmp_path):
    journal, values = begun(tmp_path), state().values
    values[7] = -1
    journal.record(5, values[5:9])
    found = load(tmp_path, RUN)
    journal.close()
    assert found.values[7] == -1 and found.active[7] and found.active.sum() == state().active.sum() + 1


def test_what_did_not_change_is_not_written(tmp_path):
    journal = begun(tmp_path, "float64")
    journal.record(0, state("float64").values)
    assert not journal_of(tmp_path).exists()
    values = state("float64").values
    values[[3, 5]] = np.nan
    journal.record(0, values)
    size = journal_of(tmp_path).stat().st_size
    assert size == TOKEN + HEAD.size + 1 + 2 * 8 + CHECKSUM  # the bits of rows 3 to 5, and two values
    journal.record(0, values)  # NaNs that stay
    journal.close()
    assert journal_of(tmp_path).stat().st_size == size


def test_every_cut_leaves_the_records_before(tmp_path):
    states, lengths = pages(tmp_path)
    content = journal_of(tmp_path).read_bytes()
    for length in range(len(content) + 1):
        journal_of(tmp_path).write_bytes(content[:length])
        complete = sum(end <= length for end in lengths[1:])
        assert same(load(tmp_path, RUN), states[complete]), length
    for more in (b"\0", b"\0" * 100, content[TOKEN:]):
        journal_of(tmp_path).write_bytes(content + more)
        assert same(load(tmp_path, RUN), states[-1])


def test_a_flipped_bit_anywhere_leaves_the_records_before(tmp_path):
    states, lengths = pages(tmp_path)
    content = journal_of(tmp_path).read_bytes()
    for position in range(len(content)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        journal_of(tmp_path).write_bytes(damaged)
        intact = sum(end <= position for end in lengths[1:])
        assert same(load(tmp_path, RUN), states[intact]), position


def test_records_in_another_order_are_left_out(tmp_path):
    states, lengths = pages(tmp_path)
    content = journal_of(tmp_path).read_bytes()
    records = [content[begin:end] for begin, end in pairwise(lengths)]
    journal_of(tmp_path).write_bytes(content[:TOKEN] + records[0] + records[2] + records[1])
    assert same(load(tmp_path, RUN), states[1])
    journal_of(tmp_path).write_bytes(content[:TOKEN] + b"".join(records[1:]))
    assert same(load(tmp_path, RUN), states[0])


def test_a_journal_of_another_checkpoint_is_not_used(tmp_path):
    states, _ = pages(tmp_path)
    left = journal_of(tmp_path).read_bytes()
    for token in (new_token(), ""):  # killed between the rename of a checkpoint and the end of the journal
        Writer(tmp_path, RUN).write(state(), token)
        assert not journal_of(tmp_path).exists()
        journal_of(tmp_path).write_bytes(left)
        assert same(load(tmp_path, RUN), states[0])


def sealed(token, first, n_rows, n_changed, rest):
    record = HEAD.pack(first, n_rows, n_changed) + rest
    return token + record + zlib.crc32(record, zlib.crc32(token)).to_bytes(CHECKSUM, "little")


@pytest.mark.parametrize(
    ("first", "n_rows", "n_changed", "rest"),
    [
        (N + 1, 0, 0, b""),
        (N - 1, 2, 1, b"\x80" + b"\0" * 4),  # a row too many
        (2**64 - 1, 2, 1, b"\x80" + b"\0" * 4),
        (0, 8, 9, b"\xff" + b"\0" * 36),
        (0, 8, 1, b"\xff" + b"\0" * 4),  # more bits than values
        (0, 8, 2, b"\x80" + b"\0" * 8),
        (0, 4, 1, b"\x08" + b"\0" * 4),  # a bit after the last row
    ],
)
def test_records_that_somebody_else_wrote(tmp_path, first, n_rows, n_changed, rest):
    begun(tmp_path).close()
    token = bytes.fromhex(load_token(tmp_path))
    journal_of(tmp_path).write_bytes(sealed(token, first, n_rows, n_changed, rest))
    assert same(load(tmp_path, RUN), (state().values, state().active))
    journal_of(tmp_path).write_bytes(sealed(token, N - 2, 2, 1, b"\x40" + b"\7\0\0\0"))
    assert load(tmp_path, RUN).values[N - 1] == 7  # as it should be


def load_token(folder):
    import json

    line, _, _ = (folder / NAME).read_bytes().partition(b"\n")
    return json.loads(line)["journal"]


def test_links_and_folders(tmp_path):
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    journal = begun(tmp_path)
    journal_of(tmp_path).symlink_to(outside)
    with pytest.raises(TravError, match=r"checkpoint\.pages cannot be read: Is a link; run without resume"):
        load(tmp_path, RUN)
    journal.record(0, np.zeros(4, np.int32))  # takes the place of the link
    journal.close()
    assert outside.read_bytes() == b"mine" and not journal_of(tmp_path).is_symlink()
    journal_of(tmp_path).unlink()
    journal_of(tmp_path).mkdir()
    with pytest.raises(TravError, match=r"checkpoint\.pages cannot be read: Is a directory"):
        load(tmp_path, RUN)
    with pytest.raises(TravError, match=r"checkpoint\.pages cannot be written: Is a directory; the pages"):
        begun(tmp_path).record(0, np.zeros(4, np.int32))


def test_a_full_disk_leaves_the_pages_before(tmp_path, monkeypatch):
    journal, values = begun(tmp_path), state().values
    values[1] = 0
    journal.record(0, values[:4])

    class Full:
        def write(self, record):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def close(self):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal, "_file", Full())
    with pytest.raises(
        TravError, match=r"No space left on device; the pages before are intact: free .* resume=True"
    ):
        journal.record(10, np.zeros(4, np.int32))
    journal.close()
    found = load(tmp_path, RUN)
    assert found.values[1] == 0 and found.values[10] == 110


def test_several_threads(tmp_path):
    journal = begun(tmp_path)

    def record(row):
        for value in range(20, 0, -1):
            journal.record(row, np.array([value], np.int32))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(record, range(N)))
    journal.close()
    assert load(tmp_path, RUN).values.tolist() == [1] * N


def test_policies_come_back(tmp_path):
    policy = {"cpu seconds": 0.1 + 0.2, "cpu edges": 1e12}
    Writer(tmp_path, RUN).write(RunState(np.zeros(2), np.zeros(2, bool), 1, policy=policy))
    assert load(tmp_path, RUN).policy == policy
