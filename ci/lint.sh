#!/usr/bin/env bash
# Lint, formatting and types; expects the `dev` extra in the environment.
set -euo pipefail
cd "$(dirname "$0")/.."

ruff check .
ruff format --check .
mypy
clang-format --dry-run --Werror kernels/*.cu kernels/*.cuh
