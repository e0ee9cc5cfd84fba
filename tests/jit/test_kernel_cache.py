"""Numba's cache on disk, damaged in several ways, and Numba with compilation disabled."""

import logging
import os
import pickle
import subprocess
import sys

import numba
import pytest

from rapids_trav.jit import kernel_cache
from rapids_trav.jit.kernels import kernel

DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-1]),
    "text": lambda file: file.write_text("not a pickle\n"),
    "another value": lambda file: file.write_bytes(pickle.dumps(numba.__version__) + pickle.dumps([1, 2, 3])),
    "folder": lambda file: (file.unlink(), file.mkdir()),
}


def twice(number):
    return 2 * number


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_count_as_none(tmp_path, monkeypatch, ending, damage):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert kernel(twice)(3) == 6
    (file,) = tmp_path.rglob(f"*.{ending}")
    DAMAGES[damage](file)
    assert kernel(twice)(3) == 6
    if damage != "folder":  # a folder in the file's place stays there
        mended = kernel(twice)
        assert mended(3) == 6 and sum(mended.stats.cache_hits.values()) == 1


def test_files_that_are_whole_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert kernel(twice)(3) == 6
    again = kernel(twice)
    assert again(3) == 6 and sum(again.stats.cache_hits.values()) == 1


OUTER = "from rapids_trav.folder import (\n    middle,\n)\nfrom rapids_trav.folder.other import n\n"
SOURCES = {
    "outer.py": OUTER,
    "folder/middle.py": "from rapids_trav import lowest\nfrom rapids_trav.lower import n\n",
    "folder/other.py": "n = 1\n",
    "lower.py": "from rapids_trav.outer import n\n",  # a circle ends
    "beside.py": "n = 1\n",
}


def digest(checkout, monkeypatch, changed=""):
    for name, text in SOURCES.items():
        file = checkout / "rapids_trav" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}n = 2\n" if name == changed else text)
    monkeypatch.setattr(kernel_cache, "PACKAGE", checkout / "rapids_trav")
    return kernel_cache.source_digest(checkout / "rapids_trav" / "outer.py")


@pytest.mark.parametrize("changed", SOURCES)
def test_a_digest_is_of_a_file_and_its_imports_in_any_checkout(tmp_path, monkeypatch, changed):
    first = digest(tmp_path / "first", monkeypatch)
    assert digest(tmp_path / "second", monkeypatch) == first
    assert (digest(tmp_path / "changed", monkeypatch, changed) == first) == (changed == "beside.py")


def test_functions_of_two_versions_of_a_file_are_kept_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert kernel(twice)(3) == 6
    monkeypatch.setattr(kernel_cache._StampedByImports, "get_source_stamp", lambda locator: "other sources")
    other = kernel(twice)
    assert other(3) == 6 and not other.stats.cache_hits
    assert len(list(tmp_path.rglob("*.nbc"))) == 2


QUESTIONS = """
import pandas as pd, rapids_trav
for question in ("bfs(0)", "components()", "pagerank()"):
    try:
        eval("pd.DataFrame({'src': [0, 1], 'dst': [1, 2]}).trav." + question)
    except rapids_trav.TravError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("words", "times"),
    [
        (["-c", QUESTIONS], 3),
        (["-c", "from rapids_trav.cli import main; main()", "bfs", "facebook", "-s", "0"], 1),
    ],
)
def test_numba_that_may_not_compile_is_told(words, times):
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, *words], env=environment, capture_output=True, text=True, check=False
    )
    said = (done.stdout + done.stderr).splitlines()
    assert len(said) == times
    assert all(line.endswith("NUMBA_DISABLE_JIT forbids it: unset it.") for line in said)


def test_numba_that_cannot_be_imported_is_told():
    environment = {**os.environ, "NUMBA_NUM_THREADS": "0"}
    done = subprocess.run(
        [sys.executable, "-c", QUESTIONS], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("Numba cannot be imported (Number of threads specified must be > 0)")


def test_compilation_adds_nothing_to_a_program_log(caplog):
    def added(one, other):
        return one + other

    with caplog.at_level(logging.DEBUG):
        assert kernel(added)(1, 2) == 3
    assert not [record for record in caplog.records if record.name.startswith("numba")]
