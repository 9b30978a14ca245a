# Everything needs only Python >= 3.11 and make: the environment is made here, in .venv.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml README.md $(shell find mcls datasets configs -type f -not -name '*.pyc')
# Short BLAS calls with many threads are slower than with one; work is spread over processes instead.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help run test coverage check bench verify stress docs test-oldest release-check reproduce-tables clean

help:  ## Show the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

run: .venv/run.stamp  ## Set up and run the main job on shipped data.
	$(BIN)/mcls run configs/iris.yaml -j $(JOBS)

test: .venv/dev.stamp  ## Set up and pass the tests.
	$(ONE_THREAD) $(BIN)/pytest -q -n $(JOBS) tests

coverage: .venv/dev.stamp  ## The same with coverage of mcls, which has a floor (slower: lines are traced).
	$(ONE_THREAD) $(BIN)/pytest -q -n $(JOBS) --cov --cov-report=term:skip-covered tests

check: .venv/dev.stamp  ## Lint, format check and types.
	$(BIN)/ruff check mcls tests benchmarks docs .ci
	$(BIN)/ruff format --check mcls tests benchmarks docs .ci
	$(BIN)/mypy

bench: .venv/dev.stamp  ## Measure against peers in one run; writes results/bench/.
	$(BIN)/python -m benchmarks

verify: .venv/dev.stamp  ## Every sweep against refitting at all 81 grid points on four data sets (minutes).
	$(ONE_THREAD) $(BIN)/pytest -q -n $(JOBS) -m full tests

stress: .venv/dev.stamp  ## Kills, mutated inputs, hard places, runs at once (minutes); writes results/stress/.
	$(ONE_THREAD) $(BIN)/python -m tests.stress -j $(JOBS) --write results/stress --show SECURITY.md

docs: .venv/docs.stamp  ## The documentation site with its gallery, into docs/_build/html, and its check.
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	$(BIN)/pytest -q -m site tests/test_site.py

test-oldest:  ## The tests with the lowest versions that pyproject.toml allows, in an environment of their own.
	rm -rf .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	$(PYTHON) .ci/oldest.py dask test > .venv-oldest/constraints.txt
	.venv-oldest/bin/pip install --quiet --disable-pip-version-check -c .venv-oldest/constraints.txt '.[dask,test]'
	$(ONE_THREAD) .venv-oldest/bin/pytest -q -n $(JOBS) tests

release-check:  ## Wheel and sdist, each installed in an empty environment, and the tour.
	PYTHON=$(PYTHON) .ci/release-check

reproduce-tables: .venv/run.stamp  ## Run what is missing and write the papers' tables beside the published ones.
	$(BIN)/mcls tables --all -j $(JOBS)

clean:  ## Remove the environment and what tools left behind; results stay.
	rm -rf .venv .venv-oldest build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
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

.venv/docs-requirements.stamp: .venv/dev-requirements.stamp
	$(BIN)/pip install --quiet --disable-pip-version-check '.[docs]'
	@touch $@

.venv/docs.stamp: .venv/docs-requirements.stamp .venv/run.stamp
	@touch $@

.venv/dev.stamp: .venv/dev-requirements.stamp .venv/run.stamp
	@touch $@
