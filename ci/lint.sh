#!/usr/bin/env bash
# Lint, formatting, types and layers; expects the `dev` extra in the environment.
set -euo pipefail
cd "$(dirname "$0")/.."

python ci/write_stubs.py
ruff check .
ruff format --check .
mypy
# What the parts of the package know of each other is typed throughout, one file after another.
mypy --strict --disallow-any-explicit --follow-imports=silent \
    rapids_trav/csr/adjacency.py rapids_trav/engines/interface.py rapids_trav/algorithms/interface.py
python ci/count_any.py --most 120 > /dev/null
lint-imports --no-cache
clang-format --dry-run --Werror kernels/*.cu kernels/*.cuh tests/emulated/*.cu tests/emulated/cpp/*
