"""The choice of tests by what changed, the turns of CI, and the summary of a run."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

CI = Path(__file__).parents[2] / "ci"
sys.path.insert(0, str(CI))
import choose_tests  # noqa: E402
import run  # noqa: E402


@pytest.mark.parametrize(
    ("file", "test"),
    [
        ("rapids_trav/ids/maps.py", "tests/ids/test_ids.py"),  # by tests/modules.toml
        ("rapids_trav/csr/packed.py", "tests/csr/test_packed.py"),  # by name
        ("rapids_trav/generators.py", "tests/test_generator_arguments.py"),  # by import
        ("tests/support/memory_cases.py", "tests/storage/test_memory_measured.py"),
        ("tests/io/test_io.py", "tests/io/test_io.py"),
        ("docs/guide.md", "tests/docs/test_pages.py"),
        ("ci/mutate.py", "tests/ci/test_mutations.py"),
    ],
)
def test_files_that_guard_a_change(file, test):
    guards = choose_tests.guards(file)
    assert test in guards and len(guards) < len(choose_tests.test_files()) / 2


def test_a_test_file_that_was_removed_guards_nothing():
    assert choose_tests.guards("tests/io/test_removed.py") == []


@pytest.mark.parametrize(
    ("file", "kernels"),
    [
        ("kernels/bfs_edge.cu", {"bfs_edge.cu"}),
        ("kernels/fused_pull.cuh", {"bfs_fused.cu"}),  # by include
        ("rapids_trav/engines/cuda/bfs/fused.py", {"bfs_fused.cu"}),
        ("rapids_trav/engines/cuda/stream/transfers.py", {"pages.cu"}),  # through modules over it
        ("rapids_trav/engines/cuda/executor.py", {"gas_rows.cu", "gas_push.cu"}),  # through modules below
        ("rapids_trav/storage/room.py", set()),
    ],
)
def test_kernels_that_a_change_touches(file, kernels):
    found = choose_tests._kernels_over(file)
    assert kernels <= found and bool(kernels) == bool(found)
    assert len(found) < len(list((CI.parent / "kernels").glob("*.cu")))


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Repository with two commits on its branch and one on another, and functions to state a turn in it."""

    def git(*words):
        name = ["-c", "user.name=a", "-c", "user.email=a@b"]
        done = subprocess.run(
            ["git", *name, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    git("init", "--quiet", "--initial-branch", "main")
    git("commit", "--quiet", "--allow-empty", "--message", "first")
    git("switch", "--quiet", "--create", "other")
    git("commit", "--quiet", "--allow-empty", "--message", "other")
    git("switch", "--quiet", "main")
    (tmp_path / "committed").touch()
    git("add", "committed")
    git("commit", "--quiet", "--message", "second")
    monkeypatch.setattr(choose_tests, "ROOT", tmp_path)
    monkeypatch.setattr(choose_tests, "TURN", tmp_path / "turn.toml")
    return git


def state(turn, since):
    choose_tests.TURN.write_text(f'turn = {turn}\nsince = "{since}"\n')


def test_a_turn_counts_changes_from_its_commit(checkout, tmp_path):
    state(3, checkout("rev-parse", "HEAD~1"))
    (tmp_path / "untracked").touch()
    turn = choose_tests.Turn.read()
    assert turn.turn == 3
    assert choose_tests.changed_files(turn.since) == ["committed", "turn.toml", "untracked"]


@pytest.mark.parametrize("reason", ["missing", "another branch", "unknown", "old"])
def test_without_a_usable_turn_everything_runs(checkout, monkeypatch, capsys, reason):
    commits = {"another branch": "other", "old": "HEAD~1"}
    if reason != "missing":
        state(3, checkout("rev-parse", commits[reason]) if reason in commits else 40 * "0")
    monkeypatch.setattr(choose_tests, "OLDEST", 0 if reason == "old" else 9)
    assert choose_tests.emulated() == ["ci"]
    assert "everything" in capsys.readouterr().err


def test_the_next_change_takes_the_next_turn(checkout):
    state(3, checkout("rev-parse", "HEAD~1"))
    choose_tests.advance()
    turn = choose_tests.Turn.read()
    assert (turn.turn, turn.since) == (4, checkout("rev-parse", "HEAD"))


def test_quick_runs_the_fastest_files_within_its_time(checkout, tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    for name, seconds in (("a", 50), ("b", 1), ("c", 40)):
        (tmp_path / "tests" / f"test_{name}.py").touch()
        with (tmp_path / "seconds.toml").open("a") as file:
            file.write(("[tests]\n" if name == "a" else "") + f'"tests/test_{name}.py" = {seconds}\n')
    monkeypatch.setattr(choose_tests, "SECONDS", tmp_path / "seconds.toml")
    monkeypatch.setattr(choose_tests, "QUICK", 80.0)
    assert choose_tests.quick() == ["tests/test_b.py", "tests/test_c.py"]  # no origin/main here
    checkout("update-ref", "refs/remotes/origin/main", "HEAD")
    assert choose_tests.quick() == ["tests/test_b.py", "tests/test_c.py"]  # all are new
    checkout("add", ".")
    checkout("commit", "--quiet", "--message", "third")
    checkout("update-ref", "refs/remotes/origin/main", "HEAD")
    (tmp_path / "tests" / "test_a.py").write_text("# changed\n")
    assert choose_tests.quick() == ["tests/test_a.py"]


def test_the_summary_names_folders_that_take_longer(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "SECONDS", tmp_path / "seconds.toml")
    usual = run.Step(
        "tests", 5, 9, False, Counter({"tests/a/test_b.py::test_c": 6.0, "tests/d/test_e.py::t": 6.0})
    )
    run.record([usual])
    tests = Counter(
        {"tests/a/test_b.py::test_c": 9.5, "tests/d/test_e.py::t[1]": 3.0, "tests/d/test_e.py::t[2]": 4}
    )
    run.show([run.Step("tests", 5, 9, True, tests)])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if "over 1.5 times the 6 s" in line and "tests/a " in line]
    assert not [line for line in lines if "over" in line and "tests/d " in line]
    assert [line for line in lines if "FAILED" in line]
    assert "9.5 s  tests/a/test_b.py::test_c" in "\n".join(lines)


def test_parts_that_are_not_run_are_told():
    assert [line for line in run.not_run() if f"{choose_tests.PARTS - 1} (" in line]
