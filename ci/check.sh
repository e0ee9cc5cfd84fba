#!/usr/bin/env bash
# What can be checked without a GPU and without its packages: the README's test command, then lint.
set -euo pipefail
cd "$(dirname "$0")/.."

make test
make lint
