#!/usr/bin/env bash
# What can be checked without a GPU and without its packages: the tests, slow ones as well, those of the GPU
# on an emulated one, lint, and the site.
set -euo pipefail
cd "$(dirname "$0")/.."

make test-all
PYTHON=.venv/bin/python ci/test_emulated.sh
make lint
make docs
