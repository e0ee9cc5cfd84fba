#!/usr/bin/env bash
# Run the tests marked `gpu` without a GPU: the kernels compiled for the CPU, and a stand-in for CuPy.
#
#     ci/test_emulated.sh                           what CI runs
#     ci/test_emulated.sh all                       those that take long as well
#     ci/test_emulated.sh only tests/gpu/test_stream_gpu.py -k pages   arguments of pytest; any number may pass
#
# Expects an environment with the test extra, whose interpreter PYTHON names.  EMULATED_CACHE names the folder of
# compiled kernels, and EMULATED_SEED another order of threads and streams.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v g++ > /dev/null; then
    echo "The emulated GPU tests need a C++ compiler: install g++." >&2
    exit 1
fi

if ! "${PYTHON:-python}" -c "import pytest, xdist" 2> /dev/null; then
    echo "The emulated GPU tests need the test extra: pip install -e '.[test]'; PYTHON names the interpreter." >&2
    exit 1
fi

# More would pass than these floors; a run in which most tests are skipped is an error.
FEWEST_IN_CI=1200
FEWEST=1300
case "${1:-ci}" in
    ci) arguments=(--fewest "$FEWEST_IN_CI" tests/gpu tests/engines) ;;
    all) arguments=(--long --fewest "$FEWEST" tests/gpu tests/engines) ;;
    only) arguments=(--long "${@:2}") ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
PYTHONPATH="$PWD/tests/emulated/packages${PYTHONPATH:+:$PYTHONPATH}" "${PYTHON:-python}" -m pytest -q \
    -p emulated_gpu -m gpu -n auto --maxprocesses 4 --dist worksteal "${arguments[@]}"
