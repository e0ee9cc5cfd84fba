"""Run the GPU suite step by step and record the results in ci/gpu-report.json.

    python ci/gpu_report.py [STEP ...] [--report FILE]
    python ci/gpu_report.py --check [--report FILE]

Steps are tests, multigpu (tests that need several GPUs), memcheck, racecheck and benchmark; all that this
machine's GPUs suffice for if none is named.  The record of a step that
is not run now is kept as long as it belongs to the same sources.  Exits with 1 if a step failed.  --check
needs no GPU and runs nothing: it exits with 1 and prints a sentence unless the record belongs to these exact
sources and all its steps passed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.provenance import digest  # noqa: E402

REPORT = ROOT / "ci" / "gpu-report.json"
SANITIZED = (
    "searches",
    "answers",
    "outside",
    "programs",
    "paged",
    "benchmark",
    "grid",
    "dealt",
)  # parts of ci/sanitize.py
# Searches by several threads, or by launches that wait for each other, which racecheck fails to track; it
# examines their kernels in "grid" and "dealt".
RANKS = ("ranks", "together")
SANITIZER_SECONDS = 420  # per part; a part that takes longer is considered hung
WORKER_BYTES = 5 << 30  # GPU memory for each process that runs tests


def run(command: list[str], environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a command in the repository; return the command, its exit status and its duration."""
    print(f"$ {shlex.join(command)}", flush=True)
    start = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=os.environ | (environment or {}), check=False)
    words = ["python" if word == sys.executable else word for word in command]
    return {
        "command": shlex.join(words),
        "returncode": done.returncode,
        "seconds": round(time.perf_counter() - start, 1),
    }


def run_tests(folder: Path) -> dict[str, Any]:
    """Run all tests that need one GPU, shared out among the GPUs; CI runs those that need none."""
    shared, threads = share_out(os.environ.get("PYTEST_ADDOPTS", ""))
    return run_marked("gpu and not multigpu", folder, shared, threads)


def run_multigpu(folder: Path) -> dict[str, Any]:
    """Run all tests that need several GPUs, one after another."""
    return run_marked("multigpu", folder, ["-n", "0"] if find_spec("xdist") else [], {})


def run_marked(marks: str, folder: Path, options: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Run tests with these marks; return counts, and the names of the failed tests."""
    junit = folder / "junit.xml"
    # Names of tests as they end, so that the output of a run that is cut short has them.
    shown = ["-v", "--tb=short", "-o", "junit_family=xunit1", f"--junitxml={junit}"]
    command = [sys.executable, "-m", "pytest", *shown]
    step = run([*command, "-m", marks, *options], environment)
    step["command"] = step["command"].replace(f"{folder}{os.sep}", "")
    return step | read_junit(junit)


def share_out(asked: str) -> tuple[list[str], dict[str, str]]:
    """Return options for pytest-xdist, if installed and `asked` does not choose a --dist, and variables.

    On a new machine most of the time goes to compiling kernels and programs, and neighbouring tests use the
    same ones: "worksteal" gives each worker a contiguous part of the suite, whereas "load" has all workers in
    one place, compiling the same code.  Of several GPUs each worker sees one; see tests/support/common.py.
    """
    if find_spec("xdist") is None or "--dist" in asked:
        return [], {}
    cores = len(os.sched_getaffinity(0))
    gpus = gpu_memory()
    workers = max(1, min([cores, *(len(gpus) * memory // WORKER_BYTES for memory in gpus)]))
    number = [] if re.search(r"(^|\s)(-n|--numprocesses)", asked) else ["-n", str(workers)]
    visible = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(map(str, range(len(gpus))))
    threads = str(max(2, cores // workers))
    return [*number, "--dist", "worksteal"], {"NUMBA_NUM_THREADS": threads, "CUDA_VISIBLE_DEVICES": visible}


def read_junit(path: Path) -> dict[str, Any]:
    """Return counts, the names of the failed tests, and what tests have measured with `record_property`."""
    if not path.exists():
        return {"tests": 0, "failures": 0, "errors": 0, "skipped": 0, "failed": []}
    suites = list(ET.parse(path).getroot().iter("testsuite"))
    counts = {
        name: sum(int(suite.get(name, 0)) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped")
    }
    cases = [
        (f"{case.get('classname')}::{case.get('name')}", case)
        for suite in suites
        for case in suite.iter("testcase")
    ]
    failed = [
        name for name, case in cases if case.find("failure") is not None or case.find("error") is not None
    ]
    measured = {
        name: {one.get("name"): one.get("value") for one in found}
        for name, case in cases
        if (found := list(case.iter("property")))
    }
    return counts | {"failed": failed} | ({"measured": measured} if measured else {})


def run_sanitizer(tool: str) -> Callable[[Path], dict[str, Any]]:
    """Return a step that runs the parts of ci/sanitize.py under a tool of compute-sanitizer, side by side."""

    parts = SANITIZED if tool == "racecheck" else (*SANITIZED, *RANKS)

    def step(folder: Path) -> dict[str, Any]:
        program = shutil.which("compute-sanitizer")
        # Kernels of CuPy and CUB are excluded: racecheck warns of one, and takes minutes for a sort.
        theirs = [f"kernel_substring={name}" for name in ("cupy_", "3cub", "6thrust")]  # as mangled
        ours = [word for name in theirs for word in ("--kernel-name-exclude", name)]
        options = ["--tool", tool, *ours, "--error-exitcode", "9", "--target-processes", "all"]
        if tool == "memcheck":
            # CuPy raises those that matter; that two GPUs already reach each other is no error.
            options += ["--report-api-errors", "no"]
        command = ["compute-sanitizer", *options, "python", "ci/sanitize.py"]
        if program is None:
            return {"command": shlex.join(command), "returncode": None, "seconds": 0.0}
        print(f"$ {shlex.join(command)}", flush=True)
        start = time.perf_counter()
        codes = run_together(
            {part: [program, *command[1:-2], sys.executable, command[-1], part] for part in parts},
            folder,
            SANITIZER_SECONDS,
        )
        return {
            "command": shlex.join(command),
            "returncode": max(map(abs, codes.values())),  # a crash has a negative code
            "seconds": round(time.perf_counter() - start, 1),
            "parts": list(codes),
            "failed": [part for part, code in codes.items() if code != 0],
        }

    return step


def run_together(commands: dict[str, list[str]], folder: Path, seconds: float) -> dict[str, int]:
    """Run commands side by side and print their output; one that takes too long counts as 124."""
    running: dict[str, subprocess.Popen[bytes]] = {}
    end = time.monotonic() + seconds
    codes = {}
    try:
        for name, command in commands.items():
            with (folder / f"{name}.log").open("wb") as log:
                running[name] = subprocess.Popen(
                    command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
                )
        for name, process in running.items():
            try:
                codes[name] = process.wait(max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                codes[name] = 124
            said = (folder / f"{name}.log").read_text(errors="replace")
            print(f"{name}: exit {codes[name]}\n{said}", flush=True)
    finally:
        for process in running.values():  # including the programs that the sanitizer started
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return codes


def run_benchmark(folder: Path) -> dict[str, Any]:
    """Run the benchmarks of the GPU; return their rows."""
    rows = folder / "rows.jsonl"
    options = shlex.split(os.environ.get("BENCH_OPTIONS", ""))
    step = run([sys.executable, "-m", "benchmarks", "gpu", *options, "--json", str(rows)])
    step["command"] = step["command"].replace(f"{folder}{os.sep}", "")
    lines = rows.read_text().splitlines() if rows.exists() else []
    return step | {"rows": [json.loads(line) for line in lines if line.strip()]}


STEPS = {
    "tests": run_tests,
    "multigpu": run_multigpu,
    "memcheck": run_sanitizer("memcheck"),
    "racecheck": run_sanitizer("racecheck"),
    "benchmark": run_benchmark,
}


def gpu_memory() -> list[int]:
    """Return the bytes of each GPU."""
    from rapids_trav.utilities.machine import find_driver

    return [gpu.memory_bytes for gpu in find_driver().gpus]


def count_gpus() -> int:
    return len(gpu_memory())


def describe_machine() -> dict[str, Any]:
    """Return cards, driver and versions."""
    from rapids_trav.doctor import examine

    report = examine().as_dict()
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        driver = None
    return {
        "gpus": report["driver"]["gpus"],
        "driver": driver,
        "cuda": report["driver"]["cuda"],
        "python": report["python"],
        "versions": report["packages"] | {"rapids-trav": report["version"]},
    }


def kept_steps(report: Path, sources: str) -> dict[str, Any]:
    """Return steps of an earlier run on the same sources."""
    if not report.exists():
        return {}
    earlier = json.loads(report.read_text())
    return earlier["steps"] if earlier["digest"] == sources else {}


def check(report: Path) -> int:
    """Report whether the record belongs to the current sources; return 0 if it does and nothing failed."""
    again = "run ci/test_gpu.sh on a machine with a GPU"
    if not report.exists():
        print(f"{report} is missing: {again}.", file=sys.stderr)
        return 1
    record = json.loads(report.read_text())
    if record["digest"] != digest():
        print(f"{report} is older than the sources: {again}.", file=sys.stderr)
        return 1
    if failed := [name for name, step in record["steps"].items() if step["returncode"] != 0]:
        print(f"{report} is of these sources, but {', '.join(failed)} failed: {again}.", file=sys.stderr)
        return 1
    print(f"{report} is of these sources: {', '.join(record['steps'])}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"{', '.join(STEPS)} (default: all)")
    parser.add_argument("--report", type=Path, default=REPORT)
    parser.add_argument("--check", action="store_true", help="say whether the record is of these sources")
    options = parser.parse_args()
    if options.check and options.steps:
        parser.error("--check runs no steps")
    if options.check:
        return check(options.report)
    if unknown := [name for name in options.steps if name not in STEPS]:
        parser.error(f"no step is called {unknown[0]}; there are {', '.join(STEPS)}")

    sys.path.insert(0, str(ROOT))
    if count_gpus() == 0:
        print("No GPU was found here; rapids-trav doctor tells more.", file=sys.stderr)
        return 1
    sources = digest()
    steps = kept_steps(options.report, sources)
    for name in options.steps or (name for name in STEPS if name != "multigpu" or count_gpus() > 1):
        with tempfile.TemporaryDirectory() as folder:
            steps[name] = STEPS[name](Path(folder)) | {
                "date": datetime.now(UTC).isoformat(timespec="seconds")
            }
        # Written after each step, so that an interrupted run keeps its results.
        record = {"digest": sources, "machine": describe_machine(), "steps": steps}
        options.report.write_text(json.dumps(record, indent=1) + "\n")
    failed = [name for name, step in steps.items() if step["returncode"] != 0]
    print(f"{options.report}: {', '.join(steps)}; failed: {', '.join(failed) or 'none'}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
