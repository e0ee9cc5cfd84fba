"""Run every kernel over small graphs, for compute-sanitizer.

    compute-sanitizer --tool memcheck --error-exitcode 1 python ci/sanitize.py
    compute-sanitizer --tool racecheck --error-exitcode 1 python ci/sanitize.py searches outside

Needs CuPy, NumPy and SciPy, and for programs their compilers (the cu12 or cu13 extra).  Each array is a
separate allocation, so that memcheck detects every out-of-bounds access.  Racecheck examines shared memory
only: it does not report threads that race in global memory, as those of an asynchronous program do.  Prints
OK at the end; a wrong result raises an AssertionError.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import cupy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.extend([f"{sys.path[0]}/tests", f"{sys.path[0]}/tests/support"])

from sanitized import answers, benchmark, dealt, grid, outside, paged, programs, searches

PARTS = {
    "searches": searches.run,
    "answers": answers.run,
    "outside": outside.run,
    "programs": programs.run,
    "paged": paged.run,
    "benchmark": benchmark.run,
    "grid": grid.run,
    "ranks": grid.run_ranks,
    "dealt": dealt.run,
    "together": dealt.run_together,
}


def main() -> None:
    cupy.cuda.set_allocator(None)
    for name in sys.argv[1:] or PARTS:
        start = time.perf_counter()
        PARTS[name]()
        cupy.cuda.runtime.deviceSynchronize()
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    print("OK")


if __name__ == "__main__":
    main()
