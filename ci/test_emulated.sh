#!/usr/bin/env bash
# Run the tests marked `gpu` without a GPU: the kernels compiled for the CPU, and a stand-in for CuPy.
#
#     ci/test_emulated.sh                           all that CI runs: where two values of parameters meet once
#     ci/test_emulated.sh ci --part 3 --always tests/gpu/test_stream_gpu.py   one part of ten, and some files
#     ci/test_emulated.sh all                       all combinations of parameters, and tests that take long
#     ci/test_emulated.sh only tests/gpu/test_stream_gpu.py -k pages   arguments of pytest; any number may pass
#     ci/test_emulated.sh record                    as the first, and write tests/emulated/suite.toml
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

export RAPIDS_TRAV_CACHE_DIR=/dev/null/none # nothing that a real GPU could load is kept
suite=tests/emulated/suite.toml
case "${1:-ci}" in
    ci) arguments=(--suite "$suite" tests/gpu tests/engines "${@:2}") ;;
    all) export FULL_PRODUCTS=1 && arguments=(--long --suite "$suite" tests/gpu tests/engines "${@:2}") ;;
    only) arguments=(--long "${@:2}") ;;
    record) arguments=(--record "$suite" tests/gpu tests/engines) ;;
    *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
PYTHONPATH="$PWD/tests/emulated/packages${PYTHONPATH:+:$PYTHONPATH}" "${PYTHON:-python}" -m pytest -q \
    -p emulated_gpu -m gpu -n auto --maxprocesses 4 --dist worksteal "${arguments[@]}"
