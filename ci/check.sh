#!/usr/bin/env bash
# What can be checked without a GPU and without its packages: the tests, slow ones as well, then lint.
set -euo pipefail
cd "$(dirname "$0")/.."

make test-all
make lint
