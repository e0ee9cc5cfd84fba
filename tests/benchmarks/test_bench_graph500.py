"""The Graph500 reference code beside ours, with stand-ins that print what its programs print."""

import stat
import subprocess
import sys

import pytest

from benchmarks.cpu import graph500

STAND_IN = """#!{python}
import os, sys

assert sys.argv[1:] == ["-s", "6", "-e", "16"]
print("nbfs: 61")
print("construction_time: 1.26502802999999997e-01")
print("median_time: 2.00000000000000000e-03")
print("max_time: " + str(float(os.environ["OMP_NUM_THREADS"])))
print("max_nedge: 1.02400000000000000e+03")
print("harmonic_mean_TEPS: 4.00000000000000000e+06")
sys.exit({status})
"""


@pytest.fixture
def folder(tmp_path):
    """Return a function that makes a checkout of stand-ins, which `make` only has to find."""

    def make(status=0):
        for program in graph500.PROGRAMS:
            file = tmp_path / program
            file.parent.mkdir()
            file.write_text(STAND_IN.format(python=sys.executable, status=status))
            file.chmod(file.stat().st_mode | stat.S_IXUSR)
        (tmp_path / "Makefile").write_text("include make.inc\nomp-csr/omp-csr seq-csr/seq-csr:\n")
        return tmp_path

    return make


def test_rates_are_compared(folder, monkeypatch):
    monkeypatch.setattr(graph500.os, "sched_getaffinity", lambda _: {0, 1, 2})
    checkout = folder()
    graph500.build(checkout)
    ours, omp, sequential = graph500.compare(checkout, [6])
    assert (ours["name"], omp["name"], sequential["name"]) == ("rapids_trav", "omp-csr", "seq-csr")
    assert ours["roots"] > 0 < ours["gteps_harmonic_mean"]
    assert (omp["roots"], omp["construction_ms"], omp["median_ms"]) == (61, 126.5, 2)
    assert (omp["max_ms"], sequential["max_ms"]) == (3000, 1000)  # threads
    assert omp["gteps_harmonic_mean"] == 0.004
    assert omp["ours_over_theirs"] == pytest.approx(ours["gteps_harmonic_mean"] / 0.004, rel=1e-3)


def test_a_wrong_tree_is_an_error(folder):
    with pytest.raises(subprocess.CalledProcessError):
        list(graph500.compare(folder(status=1), [6]))
