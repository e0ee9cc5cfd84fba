#!/usr/bin/env bash
# What can be checked without a GPU and without its packages: the tests, slow ones as well, lint, and the site.
set -euo pipefail
cd "$(dirname "$0")/.."

make test-all
make lint
make docs
