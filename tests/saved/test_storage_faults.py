"""Storage faults: full disks; folders that are cut, altered or lost; too little memory."""

from __future__ import annotations

import datetime
import decimal
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rapids_trav import Graph, TravError, TravMemoryError
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.memory.budget import Budget
from rapids_trav.saved import folder as saved_folder
from rapids_trav.saved import write
from rapids_trav.storage.mapped_arrays import Scratch, open_array, place_of
from rapids_trav.storage.spilled_build import SpilledBuild
from rapids_trav.utilities import machine
from rapids_trav.utilities.atomic_files import folder_in_the_making

EDGES = pd.DataFrame({"src": [3, 1, 1, 90], "dst": [1, 2, 90, 2], "cost": [1.0, 2.0, 3.0, 4.0]})


@pytest.fixture
def saved(tmp_path):
    EDGES.trav.graph(weight="cost", degree_sort=True).save(tmp_path / "graph")
    return tmp_path / "graph"


@pytest.fixture
def with_paths(tmp_path):
    """A graph with the layouts of its paths, strict ones and relaxed ones."""
    graph = EDGES.trav.graph(weight="cost", degree_sort=True)
    graph.path_layout(4)
    graph.path_layout()
    graph.save(tmp_path / "graph")
    return tmp_path / "graph"


LAYOUTS = [f"paths_{relaxed}_{part}.npy" for relaxed in (0, 4) for part in ("vertices", "starts", "weights")]


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_a_saved_graph_is(saved):
    names = ["column_indices.npy", "graph.json", "ids.parquet", "order.npy", "row_offsets.npy", "weights.npy"]
    assert left_in(saved) == names and left_in(saved.parent) == ["graph"]
    head = json.loads((saved / "graph.json").read_text())
    assert (head["n_vertices"], head["n_edges"], head["directed"]) == (4, 4, False)
    assert head["columns"] == {"src": ["src"], "dst": ["dst"], "weight": "cost"}
    assert np.load(saved / "row_offsets.npy")[-1] == len(np.load(saved / "column_indices.npy")) == 8
    assert pd.read_parquet(saved / "ids.parquet")["vertex_0"].tolist() == [1, 2, 3, 90]


def test_an_empty_folder_is_filled_and_others_are_not(saved, tmp_path):
    graph = EDGES.trav.graph()
    (tmp_path / "empty").mkdir()
    graph.save(tmp_path / "empty")
    assert Graph.open(tmp_path / "empty", engine="cpu").n_edges == 4
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    with pytest.raises(TravError, match=r"graph exists already: remove it first, or name another folder"):
        graph.save(saved)
    (tmp_path / "file").touch()
    with pytest.raises(TravError, match="exists already"):
        graph.save(tmp_path / "file")
    with pytest.raises(TravError, match="cannot be created: No such file or directory"):
        graph.save(tmp_path / "no" / "such" / "folder")
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before
    assert left_in(tmp_path) == ["empty", "file", "graph"]


@pytest.mark.parametrize("file", ["row_offsets.npy", "column_indices.npy", "weights.npy", "order.npy",
                                  "ids.parquet", "graph.json", *LAYOUTS])  # fmt: skip
def test_every_file_that_is_cut_altered_or_missing_is_noticed(with_paths, file):
    path = with_paths / file
    content = path.read_bytes()
    for length in {0, 1, len(content) // 2, len(content) - 1}:
        path.write_bytes(content[:length])
        with pytest.raises(TravError, match=rf"{file} .*: restore it from a copy, or save the graph again"):
            Graph.open(with_paths, engine="cpu", verify=False)  # sizes are compared even so
    for position in range(0, len(content), max(len(content) // 40, 1)):
        damaged = bytearray(content)
        damaged[position] ^= 1 << position % 8
        path.write_bytes(damaged)
        with pytest.raises(TravError, match=rf"{file} is (not what was saved|no longer what was saved)"):
            Graph.open(with_paths, engine="cpu")
    path.unlink()
    with pytest.raises(TravError, match=r"is missing: restore it|there is no graph\.json in it"):
        Graph.open(with_paths, engine="cpu")


@pytest.mark.parametrize("file", ["weights.npy", "paths_4_weights.npy"])
def test_large_graphs_are_verified_when_asked(with_paths, monkeypatch, file):
    monkeypatch.setattr(saved_folder, "CHEAP", 100)
    path = with_paths / file
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    Graph.open(with_paths, engine="cpu")
    with pytest.raises(TravError, match=rf"{file} is not what was saved"):
        Graph.open(with_paths, engine="cpu", verify=True)


@pytest.mark.parametrize("n_damages", [1, 30])
def test_what_is_not_verified_cannot_bring_down_a_search(tmp_path, n_damages):
    """Edges with changed bits are either refused or still lead to vertices of the graph."""
    random = np.random.default_rng(n_damages)
    edges = pd.DataFrame(random.integers(0, 300, (2000, 2)), columns=["src", "dst"])
    edges.trav.graph(degree_sort=True, directed=True).save(tmp_path / "graph")
    path = tmp_path / "graph" / "column_indices.npy"
    content = path.read_bytes()
    refused = 0
    for _ in range(40):
        damaged = bytearray(content)
        for position in random.integers(128, len(content), n_damages):
            damaged[position] = random.integers(256)
        path.write_bytes(damaged)
        try:
            graph = Graph.open(tmp_path / "graph", engine="cpu", verify=False)
        except TravError as error:
            assert "column_indices.npy holds edges to none of the " in str(error)
            assert str(error).endswith(": restore it from a copy, or save the graph again.")
            refused += 1
        else:
            assert graph.bfs(0, direction="in").shape[0] == graph.n_vertices
            graph.components()
    assert 0 < refused < 40 or n_damages > 1
    for value in (-1, 2**31 - 1, -(2**31), graph.n_vertices if refused < 40 else 300):
        np.frombuffer(damaged, np.int32, offset=len(damaged) - 4)[:] = value
        path.write_bytes(damaged)
        with pytest.raises(TravError, match="holds edges to none of the"):
            Graph.open(tmp_path / "graph", engine="cpu", verify=False)


@pytest.mark.parametrize("file", ["row_offsets.npy", "order.npy", "ids.parquet"])
def test_what_is_read_whole_is_always_verified(saved, file):
    content = bytearray((saved / file).read_bytes())
    content[-1] ^= 1
    (saved / file).write_bytes(content)
    with pytest.raises(TravError, match=rf"{file} is not what was saved"):
        Graph.open(saved, engine="cpu", verify=False)


@pytest.mark.parametrize("file", ["column_indices.npy", "weights.npy"])
def test_headers_of_arrays_that_are_not_verified(saved, file):
    """Header bytes are changed one by one: each change is refused with a message or has no effect."""
    path = saved / file
    content = path.read_bytes()
    wanted = Graph.open(saved, engine="cpu").sssp(1)
    refused = 0
    for position in range(content.index(b"\n") + 1):
        for byte in (b"'", b"\0", b"(", b"9", b"\xff", b" "):
            path.write_bytes(content[:position] + byte + content[position + 1 :])
            try:
                found = Graph.open(saved, engine="cpu", verify=False).sssp(1)
            except TravError as error:
                assert type(error) is TravError and "\n" not in str(error) and "\\x" not in str(error)
                refused += 1
            else:
                pd.testing.assert_frame_equal(found, wanted)
    assert refused > 200


@pytest.mark.parametrize(
    ("file", "was", "other"),
    [
        ("weights.npy", b"<f8", b">f8"),
        ("weights.npy", b"<f8", b"<i8"),
        ("column_indices.npy", b"<i4", b"<u4"),
    ],
)
def test_arrays_of_another_type_than_was_saved(saved, file, was, other):
    path = saved / file
    path.write_bytes(path.read_bytes().replace(was, other, 1))
    with pytest.raises(TravError, match=f"{file} holds {other.decode()}, but was saved as {was.decode()}: "):
        Graph.open(saved, engine="cpu", verify=False)


@pytest.mark.parametrize("offsets", [[0, 3, 2, 6, 8], [0, 9, 9, 9, 8], [1, 2, 3, 6, 8]])
def test_offsets_that_do_not_ascend(saved, offsets):
    """No graph has such offsets, although the file fits its checksum."""
    head = json.loads((saved / "graph.json").read_text())
    entry = write._write_array(saved / "row_offsets.npy", np.array(offsets, np.int64))
    head["files"]["row_offsets.npy"] = entry
    del head["crc32"], head["format"], head["version"]
    write._write_head(saved / "graph.json", head)
    with pytest.raises(TravError, match="holds arrays that do not fit together"):
        Graph.open(saved, engine="cpu")


def test_heads_that_are_no_heads(saved):
    head = saved / "graph.json"
    for content in ("[]", "{}", '{"crc32": "0"}', "\0", "3"):
        head.write_text(content)
        with pytest.raises(TravError, match=r"graph\.json is no longer what was saved"):
            Graph.open(saved, engine="cpu")
    head.unlink()
    with pytest.raises(TravError, match=r"since there is no graph\.json in it: name the folder "):
        Graph.open(saved, engine="cpu")
    with pytest.raises(TravError, match=r"^Folder .*nowhere does not exist: check the path\.$"):
        Graph.open(saved / "nowhere", engine="cpu")


def test_a_graph_of_another_version(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(write, "VERSION", 3)
        EDGES.trav.graph().save(tmp_path / "graph")
    with pytest.raises(TravError, match="has format version 3, but this release reads 1 and 2"):
        Graph.open(tmp_path / "graph", engine="cpu")


def test_arrays_that_do_not_fit_together(tmp_path):
    """The files are intact, but belong to different graphs."""
    EDGES.trav.graph().save(tmp_path / "one")
    EDGES.head(2).trav.graph().save(tmp_path / "two")
    head = json.loads((tmp_path / "one" / "graph.json").read_text())
    other = json.loads((tmp_path / "two" / "graph.json").read_text())
    (tmp_path / "two" / "column_indices.npy").rename(tmp_path / "one" / "column_indices.npy")
    head["files"]["column_indices.npy"] = other["files"]["column_indices.npy"]
    del head["crc32"], head["format"], head["version"]
    write._write_head(tmp_path / "one" / "graph.json", head)
    with pytest.raises(TravError, match="holds arrays that do not fit together"):
        Graph.open(tmp_path / "one", engine="cpu")


def test_opened_arrays_do_not_reach_the_files(saved):
    array = open_array(saved / "column_indices.npy")
    assert place_of(array) == place_of(array[1:].view(np.uint32)) == "disk"
    before = (saved / "column_indices.npy").read_bytes()
    array[:] = 0
    assert (saved / "column_indices.npy").read_bytes() == before
    assert place_of(np.arange(3)) == "host"


@pytest.mark.parametrize("after", range(9))
def test_a_disk_that_fills_up_while_saving(tmp_path, monkeypatch, after):
    """Any one of the writes may find the disk full."""
    graph = EDGES.trav.graph(weight="cost", degree_sort=True)
    calls = 0

    def full(handle, *rest, real=os.fsync):
        nonlocal calls
        calls += 1
        if calls > after:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(handle, *rest)

    monkeypatch.setattr(os, "fsync", full)
    if after < 8:
        with pytest.raises(TravError, match=r"graph cannot be written: No space left on device; it needs"):
            graph.save(tmp_path / "graph")
        # After the last write but one the graph has its name, which may not have reached the disk.
        assert left_in(tmp_path) == ([] if after < 7 else ["graph"])
    else:
        graph.save(tmp_path / "graph")
        assert Graph.open(tmp_path / "graph", engine="cpu").n_edges == 4


def test_a_disk_without_room_from_the_start(tmp_path, monkeypatch):
    graph = EDGES.trav.graph()
    usage = type("Usage", (), {"free": 50})
    monkeypatch.setattr(write.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(TravError, match=r"graph needs \d+ B, but .* has 50 B left: free space there"):
        graph.save(tmp_path / "graph")
    assert left_in(tmp_path) == []


LIMITED = """
import resource, sys
import numpy as np, pandas as pd
import rapids_trav
from rapids_trav import TravError
edges = pd.DataFrame(np.random.default_rng(0).integers(0, 5000, (50_000, 2)), columns=["src", "dst"])
graph = edges.trav.graph()
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    {action}
except (TravError, MemoryError) as error:
    print(error)
"""


def limited(action, folder):
    """Return the output of an action in a process that may write no file larger than 100 kB."""
    script = LIMITED.replace("{action}", action)
    done = subprocess.run([sys.executable, "-c", script, str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_limit_on_the_size_of_files(tmp_path):
    """The system really refuses a write half way through: nothing is left, and the process survives."""
    message = limited("graph.save(sys.argv[1] + '/graph')", tmp_path)
    assert (
        "graph cannot be written: File too large; it needs" in message and "nothing is left of it" in message
    )
    assert left_in(tmp_path) == []


def test_a_limit_on_the_size_of_files_while_building(tmp_path):
    message = limited("edges.trav.graph(memory_limit=100_000, spill=sys.argv[1])", tmp_path)
    assert "400 kB for column indices cannot be reserved in" in message and "(File too large)" in message
    assert "name another folder with spill=" in message
    assert left_in(tmp_path) == []


def test_a_save_that_is_killed_leaves_no_graph(tmp_path):
    script = """
import os, signal, sys
import pandas as pd
import rapids_trav
from rapids_trav.saved import write as files
files._write_head = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
pd.DataFrame({"src": [1], "dst": [2]}).trav.graph().save(sys.argv[1] + "/graph")
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True)
    assert done.returncode == -9
    assert not (tmp_path / "graph").exists()
    assert [name.endswith(".partial") for name in left_in(tmp_path)] == [True]
    (tmp_path / ".other.abcdefgh.partial").mkdir()
    (tmp_path / ".graph.notes.txt.partial").mkdir()
    with folder_in_the_making(tmp_path / "graph") as of_another:  # another save that is still going on
        EDGES.trav.graph().save(tmp_path / "graph")
        assert of_another.is_dir()
        of_another.rmdir()
    assert left_in(tmp_path) == [".graph.notes.txt.partial", ".other.abcdefgh.partial", "graph"]
    assert Graph.open(tmp_path / "graph", engine="cpu").n_edges == 4


def test_a_missing_folder_of_spilled_files_is_named(tmp_path):
    missing = tmp_path / "gone"
    with pytest.raises(TravError, match=rf"^The folder {missing} for \w+ does not exist: create it, or name"):
        Scratch(missing).on_disk(5, np.int64, "neighbours")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="has no /proc")
def test_a_folder_that_takes_no_files_is_named():
    with pytest.raises(TravMemoryError, match=r"cannot be reserved in /proc .*name another folder"):
        Scratch("/proc").on_disk(5, np.int64, "neighbours")


def test_spilled_files_have_no_name(tmp_path):
    graph = EDGES.trav.graph(memory_limit=100, spill=tmp_path)
    assert graph.bfs(1)["distance"].tolist() == [0, 1, 1, 1]
    assert left_in(tmp_path) == []
    assert "disk" in set(graph.memory()["place"])


@pytest.mark.parametrize(
    "ids",
    [
        ["b", "a", "c", ""],
        pd.array(["b", "a", "c", "d"], dtype="string"),
        pd.array([3, 1, 2, 9], dtype="Int16"),
        pd.array([3, 1, 2, 9], dtype="int64[pyarrow]"),
        np.array([2.0, 5.0, -1.0, 3.0], dtype="float32"),
        np.array([2**63, 1, 2**64 - 1, 5], dtype="uint64"),
        pd.to_datetime(["2020-01-02", "2020-01-01", "1999-05-05", "2030-01-01"]),
        pd.to_datetime(["2020-01-02", "2020-01-01", "1999-05-05", "2030-01-01"]).tz_localize("Europe/Paris"),
        pd.to_timedelta([5, 1, 3, 2], unit="s"),
        [
            datetime.date(2020, 1, 2),
            datetime.date(2020, 1, 1),
            datetime.date(1999, 1, 1),
            datetime.date(2, 2, 2),
        ],
        [decimal.Decimal("1.50"), decimal.Decimal("0.25"), decimal.Decimal("9.75"), decimal.Decimal("2.00")],
        [b"x", b"\xff", b"", b"zz"],
        pd.Categorical(["b", "a", "c", "b2"], categories=["unused", "c", "b2", "b", "a"], ordered=True),
    ],
    ids=lambda ids: str(getattr(ids, "dtype", type(ids[0]).__name__)),
)
def test_every_kind_of_id_comes_back(tmp_path, ids):
    edges = pd.DataFrame({"src": pd.Series(ids), "dst": pd.Series(ids)[[1, 2, 3, 0]].reset_index(drop=True)})
    graph = edges.trav.graph(directed=True)
    graph.save(tmp_path / "graph")
    other = Graph.open(tmp_path / "graph", engine="cpu")
    for source in (edges["src"][0], edges["src"][2]):
        pd.testing.assert_frame_equal(other.bfs(source), graph.bfs(source))


def test_ids_that_parquet_does_not_hold(tmp_path):
    class Name(str):
        pass

    edges = pd.DataFrame({"src": [(1, 2), (3, 4)], "dst": [(3, "x"), (1, 2)]})
    edges = edges.map(lambda pair: pd.Period(year=pair[0], freq="Y"))
    graph = edges.trav.graph()
    try:
        graph.save(tmp_path / "graph")
    except TravError as error:
        assert "cannot be saved as Parquet" in str(error)
    else:
        pd.testing.assert_frame_equal(
            Graph.open(tmp_path / "graph", engine="cpu").bfs(edges["src"][0]), graph.bfs(edges["src"][0])
        )


def test_ids_with_lone_surrogates_are_not_saved(tmp_path):
    edges = {"src": ["a", "\ud800"], "dst": ["\ud800", "a"]}
    graph = pd.DataFrame(edges, dtype=object).trav.graph()
    with pytest.raises(TravError, match=r"no lone surrogates \('\\ud800'\): replace"):
        graph.save(tmp_path / "graph")
    assert list(tmp_path.iterdir()) == []


class PinnedEngine(CpuEngine):
    """CPU engine in a GPU's place: its edges belong in host memory."""

    name = "cuda"
    place = "device"

    def empty_pinned(self, n, dtype):
        return np.empty(n, dtype)


@pytest.mark.parametrize(("available", "place"), [(10**12, "host"), (machine.RESERVE + 399, "disk")])
def test_edges_of_a_gpu_are_in_files_where_host_memory_is_short(monkeypatch, available, place):
    monkeypatch.setattr(machine, "available_bytes", lambda: available)
    outside = SpilledBuild(PinnedEngine(), Budget("1MB"))
    assert place_of(outside.allocate(100, np.int32, "column indices")) == place
    adjacency = Adjacency(np.array([0, 100]), Scratch().on_disk(100, np.int32, "columns"))
    assert place_of(outside.take_over(adjacency).column_indices) == place


def test_host_memory_that_cannot_be_pinned(monkeypatch):
    engine = PinnedEngine()
    monkeypatch.setattr(
        engine, "empty_pinned", lambda n, dtype: (_ for _ in ()).throw(MemoryError()), raising=False
    )
    assert place_of(SpilledBuild(engine, Budget("1MB")).allocate(100, np.int32, "column indices")) == "disk"


def test_available_memory(tmp_path, monkeypatch):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2000000 kB\n")
    monkeypatch.setattr(machine, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "CGROUP", tmp_path)
    assert machine.available_bytes() == 2_048_000_000
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("900000\n")
    assert machine.available_bytes() == 2_048_000_000
    (tmp_path / "memory.max").write_text("1000000\n")
    assert machine.available_bytes() == 100_000
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 50000\nactive_file 1\n")
    assert machine.available_bytes() == 150_001
    monkeypatch.setattr(machine, "MEMINFO", Path("/nowhere"))
    assert machine.available_bytes() == 150_001
    monkeypatch.undo()
    assert 0 < machine.available_bytes() < 1 << 50
