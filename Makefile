# Everything a person types; `make help` lists it. Needs Python 3.11 or newer and make.

PYTHON ?= python3
CORES ?= 2
EXTRAS ?=
BIN := .venv/bin
LOCKS := requirements.lock $(EXTRAS:%=requirements-%.lock)
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) --scheduler greedy

.DEFAULT_GOAL := help
.PHONY: help setup figures scaling report verify test quick-test check bench bench-data gallery lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv from the lock; skipped when the lock has not changed (EXTRAS=slurm: cluster)
	@cat $(LOCKS) | cmp -s - .venv/installed.lock || $(MAKE) --no-print-directory .venv

.PHONY: .venv
.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: set PYTHON to a Python 3.11 or newer."; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		$(LOCKS:%=--requirement %)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --editable .
	@cat $(LOCKS) > .venv/installed.lock

figures: setup ## make all results and figures
	$(SNAKEMAKE) --quiet rules

scaling: setup ## time the samplers against d and k, and draw the figure (a minute)
	$(SNAKEMAKE) --quiet rules -- scaling

report: figures ## make report.html, one page with all figures, tables and claims
	$(SNAKEMAKE) --report report.html

verify: figures ## compare this machine's error files with the published digests
	$(BIN)/python -m workflow.scripts.verify

test: setup ## run all tests
	$(BIN)/python -m pytest --numprocesses $(CORES)

quick-test: setup ## run the tests that take less than a few seconds each
	$(BIN)/python -m pytest --numprocesses $(CORES) -m "not slow"

check: setup ## check style and form: ruff, snakefmt, snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

bench: setup ## time the samplers against the plain way
	$(BIN)/python -m tests.bench_mechanisms

bench-data: setup ## count a MovieLens of 25 million generated ratings: seconds and memory
	$(BIN)/python -m tests.bench_movielens

gallery: figures scaling ## make the small pictures and the verdicts that the README shows
	$(BIN)/python -m workflow.scripts.contact_sheet figures docs/gallery
	cp results/claims.md docs/claims.md

lock: ## pin the newest versions of all packages, with hashes
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/pip install --quiet --disable-pip-version-check pip-tools
	.venv-lock/bin/pip-compile $(PIP_COMPILE) --extra dev --output-file requirements.lock \
		pyproject.toml
	.venv-lock/bin/pip-compile $(PIP_COMPILE) --extra slurm --constraint requirements.lock \
		--output-file requirements-slurm.lock pyproject.toml
	rm -rf .venv-lock

PIP_COMPILE := --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-header \
	--no-annotate --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

clean: ## delete everything made, but not the environment
	rm -rf .snakemake data/raw data/counts results figures logs report.html
