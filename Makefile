# Two commands: `make demo` and `make test`. Each creates .venv if it is missing and installs the
# packages that its lock pins; later calls start at once. `make help` lists the rest.

PYTHON ?= python3
BIN := .venv/bin
DEMO := .venv/.demo
READY := .venv/.installed
BENCH := .venv/.bench
DISTRIBUTED := .venv-petsc/.installed
# Processes that run the tests; 0 runs all tests in one.
PYTEST_WORKERS ?= 2
# From Python 3.12 on, lines are counted with sys.monitoring, which is faster than tracing.
COVERAGE_CORE = $$($(BIN)/python -c 'import sys; print(["ctrace", "sysmon"][sys.version_info >= (3, 12)])')
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input

.DEFAULT_GOAL := help
.PHONY: help demo test test-distributed examples check coverage lint types slow docs bench picture format lock lowest clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(DEMO) ## label a small data set by simulation and write out/demo/index.html
	@$(BIN)/poise demo

test: lint types check ## lint, types and every test that is not slow

check: $(READY) $(BENCH) ## the tests alone, and the share of lines of src that they run
	COVERAGE_CORE=$(COVERAGE_CORE) \
	  $(BIN)/python -m pytest -n $(PYTEST_WORKERS) --dist loadgroup --no-loadscope-reorder \
	  --cov --cov-report=
	@echo "Line coverage of src: $$($(BIN)/coverage report --format=total)%"

coverage: ## the lines that the last `make check` did not run, in out/coverage/index.html
	$(BIN)/coverage html -q -d out/coverage

test-distributed: $(DISTRIBUTED) ## the tests on Dask and PETSc, with two processes
	POISE_REQUIRE_DISTRIBUTED=1 .venv-petsc/bin/python -m pytest tests/distributed

examples: $(READY) ## run the example of every bridge to another tool
	@for example in examples/bridges/*.py; do \
	  echo "$$example"; $(BIN)/python "$$example" || exit 1; \
	done

lint: $(READY) ## style, likely mistakes and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(READY) ## static types
	$(BIN)/mypy

slow: $(READY) $(BENCH) ## the tests that take too long for every change
	$(BIN)/python -m pytest -m slow

docs: $(READY) ## build the documentation into site/ and run its gallery; warnings are errors
	$(BIN)/sphinx-build -q -W -n --keep-going docs site
	@echo "site/index.html is ready"

bench: $(BENCH) ## the engine against graphlearning, side by side
	$(BIN)/poise bench engine

picture: $(READY) ## the pictures of the README (needs chromium) and of the documentation
	$(BIN)/python docs/images/acquisitions.py
	$(BIN)/poise theory -o out/theory
	mkdir -p docs/images/theory && cp out/theory/*.svg docs/images/theory/
	$(BIN)/poise demo
	$(BIN)/python docs/images/picture.py
	$(BIN)/python docs/images/studio.py
	$(BIN)/python docs/images/notebook.py
	$(BIN)/python docs/images/animation.py

# The page's JavaScript. Without Node these say so and pass.
.PHONY: lint-front test-front format-front clean-front
lint: lint-front
check: test-front
format: format-front
clean: clean-front

lint-front: ## style and likely mistakes of the page's JavaScript
	@.ci/front lint

test-front: ## unit tests of the page's JavaScript
	@.ci/front test

format-front:
	@.ci/front format

clean-front:
	rm -rf node_modules

format: $(READY) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A lock lists the hashes of all files of a version, so it serves all platforms and Python versions,
# and it names no index, so a mirror works too. Everything is resolved together first: the locks are
# parts of one solution, and each can be installed on top of another.
COMPILE = $(BIN)/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-emit-package poise
ALL := .venv/all.lock
# `make lock UPGRADE=` keeps the pinned versions and only adds and removes packages.
UPGRADE ?= --upgrade

lock: $(READY) ## pin the newest versions of everything
	cat requirements-demo.lock requirements-dev.lock requirements-bench.lock requirements-distributed.lock | \
	  sed -n '/^[a-z0-9].*==/s/ *\\$$//p' | sort -u > $(ALL)
	$(COMPILE) $(UPGRADE) --no-header --extra dev --extra bench --extra distributed -o $(ALL) pyproject.toml
	for part in demo dev bench distributed container; do \
	  extras="--extra $$part"; \
	  if [ $$part = container ]; then extras="--extra app --extra demo --extra parquet"; fi; \
	  $(COMPILE) $(UPGRADE) --generate-hashes --custom-compile-command "make lock" --constraints $(ALL) \
	    --no-annotate $$extras -o .venv/$$part.lock pyproject.toml || exit 1; \
	done
	for part in demo dev bench distributed container; do mv .venv/$$part.lock requirements-$$part.lock; done

# Only what poise itself imports is held to its lower bounds; the tools may be new.
lowest: $(READY) ## the tests with the oldest versions that pyproject.toml allows
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --python-version 3.11 --no-header \
	  -o .venv/lowest.txt pyproject.toml
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
	  -r .venv/lowest.txt graphlearning hypothesis playwright pytest -e .
	.venv-lowest/bin/python -m pytest

clean: ## remove everything that make created
	rm -rf .venv .venv-lowest .venv-petsc out site docs/gallery dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# If a stamp is older than its lock, the installation is updated. Only wheels are installed, so that
# no compiler is needed.
$(DEMO): pyproject.toml requirements-demo.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "poise needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo missing):" \
	    "try make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv || { \
	  echo "poise needs Python's venv module: on Debian and Ubuntu, apt install python3-venv" >&2; exit 1; }
	@echo "Installing poise into .venv (a minute or two the first time)"
	@$(PIP) install --require-hashes --only-binary :all: -r requirements-demo.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(READY): $(DEMO) requirements-dev.lock
	@echo "Installing the development tools into .venv (a minute or two the first time)"
	@$(PIP) install --require-hashes --only-binary :all: -r requirements-dev.lock
	@touch $@

# The exception is graphlearning, which is built from source. Without a compiler the tests that need
# it are skipped, and no stamp is written, so that it is installed once there is a compiler.
$(BENCH): $(READY) requirements-bench.lock
	@if ! { command -v c++ || command -v g++ || command -v clang++; } >/dev/null; then \
	  echo "There is no C++ compiler: graphlearning is not installed, and tests against it are skipped"; \
	elif $(PIP) install --require-hashes -r requirements-bench.lock; then \
	  touch $@; \
	else \
	  echo "graphlearning could not be built (see above): tests against it are skipped"; \
	fi

# A separate environment with an MPI and PETSc compiled for it: ten minutes on two cores the first
# time; pip keeps the wheels. docs/decisions/petsc-build.md says what each option saves.
$(DISTRIBUTED): pyproject.toml requirements-distributed.lock requirements-petsc.lock
	@PYTHON=$(PYTHON) .ci/petsc-environment
	@touch $@
