#!/usr/bin/env bash
# Run the tests marked `gpu` without a GPU: the kernels compiled for the CPU, and a stand-in for CuPy.
#
#     ci/test_emulated.sh ci                        all but those that take long
#     ci/test_emulated.sh ci --part 3 --always tests/gpu/test_turns_gpu.py    one part of ten, and a file
#     ci/test_emulated.sh all                       all, with all combinations of their parameters
#     ci/test_emulated.sh record                    as `ci`, and write tests/emulated/suite.toml anew
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

suite=(tests/gpu tests/engines)
case "${1:-}" in
    ci) arguments=("${suite[@]}" "${@:2}") ;;
    all) arguments=(--long "${suite[@]}") && export FULL_PRODUCTS=1 ;;
    record) arguments=(--record "$(mktemp -d)" "${suite[@]}") ;;
    only) arguments=(--long "${@:2}") ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
PYTHONPATH="$PWD/tests/emulated/packages${PYTHONPATH:+:$PYTHONPATH}" "${PYTHON:-python}" -m pytest -q \
    -p emulated_gpu -m gpu -n auto --maxprocesses 4 --dist worksteal "${arguments[@]}"
