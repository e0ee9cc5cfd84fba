"""Run all that guards a landing, on a machine without a GPU, and say where the time went.

    python3 ci/run.py                  all steps, up to the first that fails
    python3 ci/run.py tests slow       some
    python3 ci/run.py --record         all, and keep the seconds of the test files in ci/seconds.toml

It begins with what is quick to tell.  The GPU packages are installed in the background meanwhile.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from choose_tests import FAST, PARTS, ROOT, SECONDS, TURN

OUTPUTS = ROOT / "build" / "ci"
STEPS = {
    "environment": "make .venv/.dev",
    "lint": "make lint",
    "site": "make docs",
    "tests": "make test",
    "slow": "make test-slow",
    "emulated": "PYTHON=.venv/bin/python ci/test_emulated.sh $(.venv/bin/python ci/choose_tests.py emulated)",
    "cu13": "ci/beside_cu13.sh",
}
INSTALL = "nice ci/beside_cu13.sh install"  # from the end of `environment` to the beginning of `cu13`
DEAREST = 10
MORE = 1.5  # times its entry in ci/seconds.toml from which a folder is named,
LEAST = 5.0  # if it takes as many seconds


@dataclass(frozen=True)
class Step:
    """Seconds that a step took, and the processor seconds of each of its tests."""

    name: str
    wall: float
    processor: float
    failed: bool
    tests: Counter[str]

    def files(self) -> Counter[str]:
        return _summed(self.tests, lambda test: test.partition("::")[0])


def _summed(seconds: dict[str, float], group) -> Counter[str]:
    total: Counter[str] = Counter()
    for name, value in seconds.items():
        total[group(name)] += value
    return total


def _folder(file: str) -> str:
    return str(PurePosixPath(file).parent)


def _processor() -> float:
    """Return the processor seconds of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(command: str, record: Path, **options) -> subprocess.Popen:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["TEST_SECONDS"] = str(record)
    return subprocess.Popen(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT, env=environment, **options)


def run(name: str, installation: subprocess.Popen | None) -> Step:
    print(f"\n==== {name}: {STEPS[name]}", flush=True)
    record = OUTPUTS / f"{name}.seconds"
    record.unlink(missing_ok=True)
    begin, before = time.monotonic(), _processor()
    if name == "cu13" and installation is not None:
        installation.wait()
    failed = start(STEPS[name], record).wait() != 0
    tests: Counter[str] = Counter()
    for line in record.read_text().splitlines() if record.exists() else []:
        seconds, _, test = line.partition(" ")
        tests[test] += float(seconds)
    return Step(name, time.monotonic() - begin, _processor() - before, failed, tests)


def show(steps: list[Step]) -> None:
    """Print the seconds by step and folder, the dearest tests, and what was not run."""
    print(f"\n==== summary\n{'step':14} {'wall s':>8} {'processor s':>12} {'tests':>6}")
    for step in steps:
        row = f"{step.name:14} {step.wall:8.0f} {step.processor:12.0f} {len(step.tests) or '':>6}"
        print(row + ("  FAILED" if step.failed else ""))
    print(f"{'all':14} {sum(step.wall for step in steps):8.0f} {sum(step.processor for step in steps):12.0f}")
    known = tomllib.loads(SECONDS.read_text()) if SECONDS.exists() else {}
    for step in steps:
        recorded = known.get(step.name, {})
        usual = _summed({file: recorded.get(file, FAST) for file in step.files()}, _folder)
        for folder, seconds in _summed(step.files(), _folder).most_common():
            if seconds >= LEAST:
                dear = step.name in known and step.name != "emulated" and seconds > MORE * usual[folder]
                note = f", over {MORE} times the {usual[folder]:.0f} s of ci/seconds.toml" if dear else ""
                print(f"  {step.name:12} {folder:32} {seconds:6.0f} s{note}")
    tests = Counter({(step.name, test): seconds for step in steps for test, seconds in step.tests.items()})
    print("the dearest tests:")
    for (name, test), seconds in tests.most_common(DEAREST):
        print(f"  {name:12} {seconds:6.1f} s  {test}")
    for line in not_run():
        print(line)


def not_run() -> list[str]:
    """Return what this run leaves out, and when it last ran."""
    log = ["git", "log", "-p", "--format=%cs", "--", str(TURN)]
    lines = subprocess.run(log, cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
    date, last = "", {}
    for line in lines:
        if line.startswith("+turn = "):
            last.setdefault(int(line.removeprefix("+turn = ")) % PARTS, date)
        elif line[:2] == "20":
            date = line
    parts = ", ".join(f"{part} ({last.get(part, 'not yet')})" for part in range(PARTS))
    return [
        "not run: tests marked `release`, and full products of parameters (`make test-all`)",
        f"not run unless changed: the other parts of the emulated suite; the last turns of all: {parts}",
    ]


def record(steps: list[Step]) -> None:
    """Keep the seconds of the files that ran; `emulated` keeps those of its other parts."""
    known = tomllib.loads(SECONDS.read_text()) if SECONDS.exists() else {}
    for step in steps:
        if step.tests:
            kept = known.get(step.name, {}) if step.name == "emulated" else {}
            slow = {file: round(seconds, 1) for file, seconds in step.files().items() if seconds >= 1}
            known[step.name] = kept | slow
    tables = (
        f"[{name}]\n" + "".join(f'"{file}" = {seconds}\n' for file, seconds in sorted(table.items()))
        for name, table in known.items()
    )
    text = "# Processor seconds of test files that take one or more, from `python3 ci/run.py --record`.\n\n"
    SECONDS.write_text(text + "\n".join(tables))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", nargs="*", choices=[[], *STEPS], help="by default all")
    parser.add_argument("--record", action="store_true", help="write ci/seconds.toml")
    arguments = parser.parse_args()
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    chosen = [name for name in STEPS if not arguments.steps or name in arguments.steps]
    done: list[Step] = []
    installation = None
    for name in chosen:
        done.append(run(name, installation))
        if done[-1].failed:
            break
        if name == "environment" and "cu13" in chosen:
            with (OUTPUTS / "installation.log").open("w") as log:
                installation = start(INSTALL, OUTPUTS / "none", stdout=log, stderr=log)
    if installation is not None and installation.poll() is None:
        installation.terminate()
    show(done)
    if arguments.record:
        record(done)
    return int(done[-1].failed)


if __name__ == "__main__":
    sys.exit(main())
