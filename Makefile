# All commands to type; `make help` lists them. Needs Python 3.11 or newer and make.

PYTHON ?= python3
CORES ?= 2
EXTRAS ?=
BIN := .venv/bin
# Extras, once chosen, are kept.
CHOSEN := $(sort $(EXTRAS) $(shell cat .venv/extras 2> /dev/null))
LOCKS := requirements.lock $(CHOSEN:%=requirements-%.lock)
VERSION := -c 'import sys; print("%d.%d" % sys.version_info[:2])'
CONFIG ?=
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)
OVERLAY := $(if $(CONFIG),--configfile $(CONFIG))

.DEFAULT_GOAL := help
.PHONY: help setup figures field users time scaling report verify test quick-test check bench \
	bench-data bench-pipeline numbers site crate gallery gallery-field lock tidy clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv from the lock; skipped when nothing has changed (EXTRAS="slurm extras": see pyproject.toml)
	@case "$(CURDIR)" in *\ *) echo "$(CURDIR) contains a space, which Snakemake cannot handle:" \
		"move the project to a path without spaces."; exit 1;; esac
	@for lock in $(LOCKS); do test -f $$lock || { echo "There is no $$lock: EXTRAS may hold" \
		$(patsubst requirements-%.lock,%,$(wildcard requirements-*.lock))"."; exit 1; }; done
ifneq ($(filter command% environment%,$(origin PYTHON)),)
	@test ! -x $(BIN)/python || test "$$($(PYTHON) $(VERSION))" = "$$($(BIN)/python $(VERSION))" || \
		{ echo "$(PYTHON) is Python $$($(PYTHON) $(VERSION)), but .venv has Python" \
		"$$($(BIN)/python $(VERSION)): delete .venv and run this again."; exit 1; }
endif
	@test -x $(BIN)/python && cat $(LOCKS) | cmp -s - .venv/installed.lock || \
		$(MAKE) --no-print-directory .venv

# Installs over the old packages: pip removes one only once its successor is downloaded.
.PHONY: .venv
.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old: set PYTHON to a Python 3.11 or newer."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes \
		$(LOCKS:%=--requirement %)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --editable .
	@echo $(CHOSEN) > .venv/extras
	@cat $(LOCKS) > .venv/installed.lock

.PHONY: config-file
config-file: setup
	@$(BIN)/python -m workflow.scripts.config.reading $(CONFIG)

figures: config-file ## make all results and figures (CONFIG=mine.yaml: with your config)
	$(SNAKEMAKE) $(OVERLAY)

field: config-file ## compare all mechanisms at six epsilons, in field/ (CONFIG=mine.yaml: on your data)
	$(SNAKEMAKE) --directory field --configfile workflow/field.yaml $(CONFIG)

users: setup ## measure the cost of limiting a user's items, on the original of Games (downloads it)
	$(SNAKEMAKE) --config data=download -- data/raw/games/verified/steam-video-games.zip
	$(BIN)/python -m tools.users

time: config-file ## time the mechanisms again and redraw figure 3
	$(SNAKEMAKE) --forcerun timing $(OVERLAY)

scaling: setup ## time the samplers against d and k and draw the figure (a minute)
	$(SNAKEMAKE) -- scaling

report: figures ## make report.html, one page with all figures, tables and claims
	$(BIN)/snakemake --report report.html $(OVERLAY)

verify: figures ## compare this machine's error files with the published digests
	$(BIN)/python -m workflow.scripts.results.verify

test: setup ## run all tests
	$(BIN)/python -m pytest --numprocesses $(CORES)

quick-test: setup ## run the tests that take less than a few seconds each
	$(BIN)/python -m pytest --numprocesses $(CORES) -m "not slow"

check: setup ## check style, types and formatting (ruff, mypy, snakefmt, snakemake --lint)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

bench: setup ## time the samplers (beside NumPy) and exact releases
	$(BIN)/python -m benchmarks.mechanisms
	$(BIN)/python -m benchmarks.release

bench-pipeline: setup ## measure the pipeline's overhead and a sweep of 7,200 cells (10 minutes)
	$(BIN)/python -m benchmarks.pipeline

bench-data: setup ## compare counting 20 million rows with DuckDB's bare query: seconds and memory
	$(BIN)/python -m benchmarks.counting

numbers: setup ## measure again and update the tables in the pages (ONLY=release: those with this word in their command)
	$(BIN)/python -m tools.numbers $(ONLY)

site: ## build site/ from the pages and a run (CONFIG=mine.yaml: with your config)
	@$(MAKE) --no-print-directory figures EXTRAS="$(EXTRAS) site"
	$(BIN)/python -m tools.site

crate: figures ## pack the last run as an RO-Crate: config, tables, figures and checksums
	$(BIN)/python -m tools.crate

gallery: figures scaling ## make the small pictures and the verdicts in docs/
	$(BIN)/python -m tools.gallery figures docs/gallery
	cp results/claims.md docs/claims.md

gallery-field: field ## make the small pictures that docs/choosing.md shows
	$(BIN)/python -m tools.gallery field/figures docs/gallery field- \
		rivals winners epsilon-needed contributions joint-and-pair no-list no-list-small-epsilon

LOCK := .venv-lock/bin/uv pip compile --quiet --upgrade --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --universal --python-version 3.11 pyproject.toml

lock: ## pin all packages at their newest versions, with hashes
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/pip install --quiet --disable-pip-version-check uv
	$(LOCK) --extra pipeline --extra dev --output-file requirements.lock
	for extra in slurm extras site; do $(LOCK) --extra $$extra --constraint requirements.lock \
		--output-file requirements-$$extra.lock || exit 1; done
	rm -rf .venv-lock

tidy: setup ## show and delete the figures and results that the last run did not make
	@$(BIN)/python -m workflow.scripts.results.manifest

clean: ## delete everything that was made, except the environment and the originals in data/raw
	rm -rf .snakemake data/raw/*/verified data/counts results figures field logs report.html site crate.zip
