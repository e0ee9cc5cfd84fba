# `make demo` and `make test` set everything up by themselves, in .venv, given Python 3.11 or later.

# The first of these that exists and is new enough; `make PYTHON=...` chooses another.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal
NO_GPU := not gpu and not multigpu

.DEFAULT_GOAL := help
.PHONY: help demo quick test test-slow test-all test-emulated lint format docs links gpu-test bench-cpu bench-gpu clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.run ## search a real graph from one person and show the result
	$(BIN)/rapids-trav bfs facebook --source 0

quick: $(VENV)/.test ## run the tests of what changed since origin/main, in a minute
	$(PYTEST) -q -m "$(NO_GPU) and not slow and not release" $$($(BIN)/python ci/choose_tests.py quick)

test: $(VENV)/.test ## run the tests that need no GPU, each mechanism once
	$(PYTEST) -m "$(NO_GPU) and not slow and not release"

test-slow: $(VENV)/.test ## run those that CI runs as well
	$(PYTEST) -m "$(NO_GPU) and slow and not release"

test-all: $(VENV)/.test ## run all tests that need no GPU, with all combinations of their parameters
	FULL_PRODUCTS=1 $(PYTEST) -m "$(NO_GPU)"

test-emulated: $(VENV)/.test ## run the GPU tests on the CPU; needs g++
	PYTHON=$(BIN)/python ci/test_emulated.sh all

lint: $(VENV)/.dev ## lint, formatting and types
	PATH="$(CURDIR)/$(BIN):$$PATH" ci/lint.sh

format: $(VENV)/.dev ## format Python and CUDA sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i kernels/*.cu kernels/*.cuh tests/emulated/*.cu tests/emulated/cpp/*

docs: $(VENV)/.docs ## build the documentation site in build/site; warnings are errors
	$(BIN)/sphinx-build -q -W --keep-going -b html docs build/site

links: $(VENV)/.docs ## ask whether the addresses outside the site exist; needs the network
	$(BIN)/sphinx-build -q -b linkcheck docs build/links

gpu-test: ## run everything on this machine's GPU and write ci/gpu-report.json
	ci/test_gpu.sh

bench-cpu: $(VENV)/.bench ## compare the CPU engine with other libraries
	$(BIN)/python -m benchmarks cpu

bench-gpu: ## compare the CUDA engine with cuGraph, in the current environment
	python -m benchmarks gpu

clean: ## remove environments, caches and build outputs
	rm -rf $(VENV) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; make PYTHON=... names one." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# What each set of packages needs; reinstalled when pyproject.toml changes.
$(VENV)/.run: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test]"
	@touch $@

$(VENV)/.bench: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	@touch $@

$(VENV)/.docs: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

$(VENV)/.dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,dev,docs]"
	@touch $(VENV)/.run $(VENV)/.test $(VENV)/.docs $@
