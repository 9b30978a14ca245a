# Everything needs only Python >= 3.11 and make: the environment is made here, in .venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml README.md $(shell find mcls datasets configs -type f -not -name '*.pyc')
# Short BLAS calls with many threads are slower than with one; work is spread over processes instead.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test check bench verify stress reproduce-tables clean

help:  ## Show the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

run: .venv/run.stamp  ## Set up and run the main job on shipped data.
	$(BIN)/mcls run configs/iris.yaml -j $(JOBS)

test: .venv/dev.stamp  ## Set up and pass the tests.
	$(ONE_THREAD) $(BIN)/pytest -q -n $(JOBS) tests

check: .venv/dev.stamp  ## Lint, format check and types.
	$(BIN)/ruff check mcls tests benchmarks
	$(BIN)/ruff format --check mcls tests benchmarks
	$(BIN)/mypy

bench: .venv/dev.stamp  ## Measure against peers in one run; writes results/bench/.
	$(BIN)/python -m benchmarks

verify: .venv/dev.stamp  ## Every sweep against refitting at all 81 grid points on four data sets (minutes).
	$(ONE_THREAD) $(BIN)/pytest -q -n $(JOBS) -m full tests

stress: .venv/dev.stamp  ## Kills, mutated inputs, hard places, runs at once (minutes); writes results/stress/.
	$(ONE_THREAD) $(BIN)/python -m tests.stress -j $(JOBS) --write results/stress

reproduce-tables: .venv/run.stamp  ## Run what is missing and write the papers' tables beside the published ones.
	$(BIN)/mcls tables --all -j $(JOBS)

clean:  ## Remove the environment and what tools left behind; results stay.
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "mcls needs Python 3.11 or newer: make PYTHON=python3.12 ..." >&2; exit 1; }
	$(PYTHON) -m venv .venv

# The package is installed, not linked: what runs and what is tested is what a user would install.
.venv/requirements.stamp: .venv/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check .
	@touch $@

.venv/run.stamp: .venv/requirements.stamp $(SOURCES)
	$(BIN)/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps .
	@touch $@

.venv/dev-requirements.stamp: .venv/requirements.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check '.[dask,dev]'
	@touch $@

.venv/dev.stamp: .venv/dev-requirements.stamp .venv/run.stamp
	@touch $@
