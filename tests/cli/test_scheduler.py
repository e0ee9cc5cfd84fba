"""Command line with `--scheduler`, which uses the workers of a Dask cluster."""

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from rapids_trav.cli import run
from rapids_trav.engines import gpu_is_there

distributed = pytest.importorskip("distributed")

from distributed_cases import edges_of  # noqa: E402
from fake_group import install  # noqa: E402


@pytest.fixture(scope="module")
def scheduler():
    """Yield the scheduler address of a cluster whose only worker is in this process."""
    with distributed.LocalCluster(
        processes=False, protocol="tcp", n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def groups(monkeypatch):
    return install(monkeypatch)


@pytest.fixture(params=["edges.parquet", "edges.csv", "edges.csv.gz", "edges.tsv"])
def path(request, tmp_path):
    edges = edges_of("str").drop(columns="kind")
    path = tmp_path / request.param
    if path.suffix == ".parquet":
        edges.to_parquet(path)
    else:
        edges.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize(
    "question",
    [
        ["bfs", "-s", "v000", "-s", "v007", "--mode", "each", "--deterministic"],
        ["bfs", "-s", "v000", "--where", "open", "--depth-limit", "3", "--reached-only"],
        ["paths", "-s", "v000", "-t", "v005", "--deterministic"],
        ["khop", "-s", "v000", "-k", "2"],
    ],
)
def test_answers_are_those_of_one_process(scheduler, groups, path, tmp_path, capsys, question):
    name, *options = question
    here, there = tmp_path / "here.parquet", tmp_path / "there.parquet"
    assert run([name, str(path), *options, "--engine", "cpu", "-o", str(here)]) == 0
    wanted = capsys.readouterr().out
    assert run([name, str(path), *options, "-o", str(there), "--scheduler", scheduler]) == 0
    found = capsys.readouterr().out
    assert_frame_equal(pd.read_parquet(there), pd.read_parquet(here))
    assert found.splitlines()[1:] == wanted.splitlines()[1:]
    assert "56 vertices, 90 edges, undirected; cpu engine" in found
    assert len(groups) == 1 and groups[0].closed


def test_a_text_of_several_blocks(scheduler, groups, tmp_path, monkeypatch, capsys):
    from rapids_trav.cli import clusters

    monkeypatch.setattr(clusters, "BLOCK", 100)
    path, out = tmp_path / "edges.csv", tmp_path / "out.csv"
    edges = edges_of("int").drop(columns="kind")
    path.write_text("# a comment is no header\n" if False else edges.to_csv(index=False))
    assert (
        run(["bfs", str(path), "-s", "0", "--deterministic", "-o", str(out), "--scheduler", scheduler]) == 0
    )
    assert len(groups[0].numbered or []) == 0  # the graph was closed
    wanted = edges.trav.bfs(0, deterministic=True)
    assert_frame_equal(pd.read_csv(out), wanted, check_dtype=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("src,dst\n1,2\n" + "3,4\n" * 40 + "x,5\n", "holds ids of several kinds: add --string-ids"),
        ("src,dst\n1,2\n" + "3,4\n" * 40 + "3,4,5\n", "is malformed"),
        ("src,dst\n1,2\n" + "3,4\n" * 40 + "3,\n", "src and dst must not be empty"),
    ],
)
def test_a_malformed_text_is_refused(scheduler, groups, tmp_path, monkeypatch, capsys, text, message):
    from rapids_trav.cli import clusters

    monkeypatch.setattr(clusters, "BLOCK", 100)
    monkeypatch.setattr(clusters, "SAMPLE", 20)
    monkeypatch.setattr("rapids_trav.io.sniff.SAMPLE_LINES", 10)
    path = tmp_path / "edges.csv"
    path.write_text(text)
    assert run(["bfs", str(path), "-s", "1", "--scheduler", scheduler]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "is not a file or folder of edges"),
        (["facebook", "--memory-limit", "1GB"], "--memory-limit is for a graph in this process"),
        (["facebook", "--variant", "push"], "--variant is for a graph in this process"),
        pytest.param(
            ["facebook", "--engine", "cuda"],
            "--engine cuda needs a GPU with cuDF and CuPy on every worker, and 0 of 1 have one",
            marks=pytest.mark.skipif(gpu_is_there(), reason="the worker has a GPU"),
        ),
    ],
)
def test_what_a_cluster_does_not_take(scheduler, groups, capsys, arguments, message):
    assert run(["bfs", *arguments, "-s", "0", "--scheduler", scheduler]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--weight", "km"], ["--weighted"]])
def test_paths_by_weight_are_not_for_a_cluster(scheduler, groups, capsys, option):
    words = ["paths", "facebook", "-s", "0", "-t", "1", *option, "--scheduler", scheduler]
    assert run(words) == 2
    assert f"{option[0]} is for a graph in this process" in capsys.readouterr().err
    assert groups == []  # refused before anything was built


def test_a_shipped_graph(scheduler, groups, capsys):
    assert run(["bfs", "facebook", "-s", "0", "--scheduler", scheduler]) == 0
    assert "1,742" in capsys.readouterr().out


def test_a_scheduler_that_does_not_answer(groups, capsys, monkeypatch):
    from rapids_trav.cli import clusters

    monkeypatch.setattr(clusters, "WAIT", 0.2)
    assert run(["bfs", "facebook", "-s", "0", "--scheduler", "tcp://127.0.0.1:9"]) == 1
    assert "--scheduler tcp://127.0.0.1:9 cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["nonsense", "''", "none://127.0.0.1:9"])
def test_no_client_is_made_of_what_is_no_address(groups, capsys, monkeypatch, address):
    """A client would hold up the process for 20 seconds and print its own traceback."""
    from rapids_trav.cli import clusters

    made = []
    monkeypatch.setattr(clusters, "Client", lambda *args, **options: made.append(args))
    assert run(["bfs", "facebook", "-s", "0", "--scheduler", address.strip("'")]) == 1
    assert f"--scheduler {address} cannot be reached" in capsys.readouterr().err
    assert not made
