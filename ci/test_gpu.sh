#!/usr/bin/env bash
# Run the suite on this machine's GPU and write ci/gpu-report.json.
#
#     ci/test_gpu.sh                            all steps
#     ci/test_gpu.sh tests memcheck racecheck   some; the others stay in the report if the sources are the same
#
# Expects an environment with the test extra and the compare-cu12 or compare-cu13 extra; PYTHON names its
# interpreter.  With pytest-xdist the tests are shared out; PYTEST_ADDOPTS="-n 8" to so many processes.
# BENCH_OPTIONS goes to `python -m benchmarks gpu`, e.g. BENCH_OPTIONS="--roots 16".
set -euo pipefail
cd "$(dirname "$0")/.."

"${PYTHON:-python}" ci/gpu_report.py "$@"
