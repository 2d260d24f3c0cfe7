# The commands of a working copy. The first one makes .venv with pinned versions; after that they start at once.
#   make demo                     place the pending pods of examples/shop, and print the fix for one that stays pending
#   make test                     unit, golden, property, docs and examples tests; needs only Python
#   make pages                    runs the commands that the documentation shows, and compares what they print
#   make integration              tests with a real API server, which Go builds at the first run
#   make lint                     ruff, mypy, and the rules for documentation
#   make wheel-test               build the wheel and try it in an empty environment
#   make check                    these five: what has to pass before a change is merged
#   make release-check            build the packages of a release, and try each of them as a user gets it
#   make test-debian SUITE=sid PYTHON=python3.14    make test with the Python of a Debian release; needs mmdebstrap
#   make bench [NAME=load] ARGS="..."      one program of benchmarks/, or all
#   make campaign NAME=oracle ARGS="..."   long runs by hand, or `make campaign e2e`; options go into ARGS
# Another Python: make test PYTHON=python3.14 VENV=.venv-3.14

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
# Processes of pytest: 3 for `make test` and `make integration`, where some wait for a server; 2 for `make pages`.
WORKERS ?=
BIN := $(VENV)/bin
SUITE ?= sid
DEBIAN_OPTIONS ?=
SHOP := examples/shop
PAGES := tests/docs/test_pages.py
BENCHMARKS := $(patsubst benchmarks/%.py,%,$(filter-out %/__init__.py,$(wildcard benchmarks/*.py)))
CAMPAIGNS := $(patsubst campaigns/%/campaign.py,%,$(wildcard campaigns/*/campaign.py))
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

# Otherwise each worker and each process of a test compiles all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test pages test-debian integration lint format wheel-test release-check check bench campaign clean

help:
	@sed -n 's/^#   //p' Makefile

$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "make: no Python found under the name \"$(PYTHON)\"; name one: make PYTHON=/path/to/python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: kubesched needs Python 3.11 or newer; \"$(PYTHON)\" is $$($(PYTHON) --version 2>&1 | tail -n 1); name another: make PYTHON=python3.12" >&2; exit 1; }
	@echo "make: a new environment in $(VENV)"; $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "make: $(PYTHON) cannot make a virtual environment; on Debian and Ubuntu install python3-venv" >&2; exit 1; }

# The stamps say what is installed; an install is repeated when the pins or the package's needs change. The build
# backend comes first, pinned like the rest, so that no isolated build environment fetches another one.
$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) hatchling hatch-fancy-pypi-readme
	$(PIP_INSTALL) --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP_INSTALL) hatchling hatch-fancy-pypi-readme
	$(PIP_INSTALL) --no-build-isolation --editable '.[dev]'
	@touch $@ $(VENV)/.installed

demo: $(VENV)/.installed
	$(BIN)/kubesched simulate $(SHOP)/cluster.json.gz --config $(SHOP)/scheduler.yaml
	$(BIN)/kubesched explain $(SHOP)/cluster.json.gz --config $(SHOP)/scheduler.yaml --pod dev/preview-1439-gpx8gjnrw-9rplq -o patch

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(or $(WORKERS),3) --ignore=tests/integration --ignore=$(PAGES) $(ARGS)

pages: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n $(or $(WORKERS),2) $(PAGES) $(ARGS)

# Integration tests start a real API server for each worker. It is built with Go unless KUBESCHED_CONTROLPLANE names one.
integration: $(VENV)/.installed-dev
	@if [ -n "$$KUBESCHED_CONTROLPLANE" ] || command -v go >/dev/null; then \
	$(BIN)/python -m tests.integration.build >/dev/null && \
	$(BIN)/python -m pytest -n $(or $(WORKERS),3) --dist loadfile --no-loadscope-reorder -m integration tests/integration tests/benchmarks $(ARGS); \
	else echo "######## integration tests LEFT OUT: no Go on this machine ########"; fi

# The tests of the last commit, in a root directory that mmdebstrap makes from Debian's packages and removes afterwards.
# Works for root and for users with unprivileged user namespaces. DEBIAN_OPTIONS are more options of mmdebstrap.
test-debian:
	@command -v mmdebstrap >/dev/null || { echo "make: test-debian needs mmdebstrap; on Debian and Ubuntu install it with apt" >&2; exit 1; }
	@set -eu; room=$$(mktemp -d); trap 'rm -rf "$$room"' EXIT; git archive --prefix=kubesched/ HEAD >"$$room/source.tar"; \
	mmdebstrap --variant=essential --include=ca-certificates,git,libstdc++6,make,$(PYTHON)-venv $(DEBIAN_OPTIONS) \
	  --customize-hook="tar-in $$room/source.tar /" \
	  --customize-hook='chroot "$$1" make -C /kubesched test PYTHON=$(PYTHON) WORKERS=$(WORKERS)' $(SUITE) /dev/null

lint: $(VENV)/.installed-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m tests.docs.lint

format: $(VENV)/.installed-dev
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

wheel-test: $(VENV)/.installed-dev
	@set -eu; room=$$(mktemp -d); trap 'rm -rf "$$room"' EXIT; \
	echo "wheel-test: build"; \
	$(BIN)/python -m build --wheel --no-isolation --outdir "$$room" . >"$$room/build.log" 2>&1 || { cat "$$room/build.log" >&2; exit 1; }; \
	echo "wheel-test: install in an empty environment"; \
	$(BIN)/python -m venv "$$room/venv"; \
	"$$room/venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$room"/*.whl; \
	echo "wheel-test: run"; \
	$(BIN)/python -m packages.smoke "$$room/venv/bin/kubesched"; \
	PATH="$$room/venv/bin:$$PATH" kubectl-sched explain --help | grep -F 'Usage: kubectl sched explain'; \
	echo "wheel-test: passed"

release-check: $(VENV)/.installed-dev
	$(BIN)/python -m packages.check

check:
	@.ci/run

bench: $(VENV)/.installed-dev
	@if [ -n "$(NAME)" ] && [ -z "$(filter $(NAME),$(BENCHMARKS))" ]; then \
	  echo "make: no benchmark named \"$(NAME)\"; make bench NAME=... takes one of: $(BENCHMARKS)" >&2; exit 2; fi
	@set -e; for name in $(or $(NAME),$(BENCHMARKS)); do echo "bench: $$name"; $(BIN)/python benchmarks/$$name.py $(ARGS); done

campaign: NAME := $(or $(NAME),$(filter $(CAMPAIGNS),$(MAKECMDGOALS)))
campaign: $(VENV)/.installed-dev
	@if [ -z "$(filter $(NAME),$(CAMPAIGNS))" ]; then \
	  echo "make: no campaign named \"$(NAME)\"; make campaign NAME=... takes one of: $(CAMPAIGNS)" >&2; exit 2; fi
	$(BIN)/python -m campaigns.$(NAME).campaign $(ARGS)

# The name of a campaign may stand behind `campaign`, and is nothing by itself.
.PHONY: $(CAMPAIGNS)
$(CAMPAIGNS): campaign
	@:

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage htmlcov
