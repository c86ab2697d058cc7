# The doors of this repository. Each target prepares its own environment in $(VENV):
# nothing is needed beforehand but make and Python 3.11 or newer. `make` alone lists them.

VENV ?= .venv
PYTHON ?= $(shell for candidate in python3.13 python3.12 python3.11 python3.14 python3; do \
	if $$candidate -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
	2>/dev/null; then echo $$candidate; break; fi; done)
FUZZ_SECONDS ?= 600
# Another seed each day; what is found names it.
FUZZ_SEED ?= $(shell date +%Y%m%d)
# A night that was cut off goes on with what it has when it is started again on the same day.
NIGHT ?= $(VENV)/nightly-$(FUZZ_SEED)
# --scale 0.01 tries all of it in minutes; --help says more.
NIGHTLY_ARGS ?=
BENCH_ARGS ?=
SITE_ARGS ?=
# --base REF: another commit to compare with; -- and arguments of pytest.
FAST_ARGS ?=
PYTEST_ARGS ?=
VERIFY_ARGS ?=

BIN := $(VENV)/bin
RUNTIME := $(VENV)/.installed-runtime
DEV := $(VENV)/.installed-dev
INPUTS := .ci/environment.py pyproject.toml requirements.lock

# Some images set it; every process would then compile krafla and its tests anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help verify test test-fast check site nightly bench lock

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

# VERIFY_ARGS=--full asks everything, as CI does.
verify: $(RUNTIME) ## judge the models and the implementation: the first verdict
	$(BIN)/krafla verify $(VERIFY_ARGS)

# One process has all tests that need Spark: --dist loadgroup. A process that crashes ends the run:
# under loadgroup, pytest-xdist 3.8 may wait for ever for the tests of the one it starts instead.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup --max-worker-restart 0
# Where a test hangs, its process prints its stack and ends.
HANGS := -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true
test: $(DEV) ## run the tests, in random order, one process for each processor
	$(PYTEST) $(HANGS) $(PYTEST_ARGS)

test-fast: $(DEV) ## the tests that a change can break, by its imports, in 90 seconds
	$(BIN)/python -m tests.affected $(FAST_ARGS)

check: $(DEV) ## format, lint, types, import contracts, house rules
	$(BIN)/python .ci/check.py

# SITE_ARGS="--page docs/ci.md" runs the code blocks of one page only.
site: $(DEV) ## the documentation as a site, in build/site, with what its commands print
	PYTHONPATH=.ci$${PYTHONPATH:+:$$PYTHONPATH} $(BIN)/python -m handbook $(SITE_ARGS)

nightly: $(DEV) ## every model at its widest bounds, long fuzzing, 10,000 examples a property
	PYTHONPATH=.ci$${PYTHONPATH:+:$$PYTHONPATH} $(BIN)/python -m night --folder $(NIGHT) \
		--seed $(FUZZ_SEED) --fuzz-seconds $(FUZZ_SECONDS) $(NIGHTLY_ARGS)

bench: $(DEV) ## measure speed and memory, as ratios within one run
	$(BIN)/python bench/run.py $(BENCH_ARGS)

# The dev lock is resolved under the runtime lock, so that the two never disagree.
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate
lock: $(DEV) ## resolve the lock files again: for Linux and macOS, Python 3.11 and newer
	$(COMPILE) pyproject.toml --group build --output-file requirements.lock $(LOCK_ARGS)
	$(COMPILE) pyproject.toml --extra spark --group dev --constraints requirements.lock \
		--output-file requirements-dev.lock $(LOCK_ARGS)
# pip takes no pin without an extra for a package that is needed with it.
	$(COMPILE) pyproject.toml --all-extras --no-strip-extras --constraints requirements-dev.lock \
		--output-file requirements-extras.lock $(LOCK_ARGS)

define install
@python="$(PYTHON)"; if test -z "$$python"; then \
	echo "krafla needs Python 3.11 or newer, with its venv module; none of python3.13," >&2; \
	echo "python3.12, python3.11, python3.14, python3 is one. If it is installed elsewhere:" >&2; \
	echo "    make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; exit 2; fi; \
exec "$$python" .ci/environment.py "$(VENV)" $(1)
endef

$(RUNTIME): $(INPUTS)
	$(call install,runtime)

$(DEV): $(INPUTS) requirements-dev.lock
	$(call install,dev)
