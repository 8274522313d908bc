# make demo            install, then search specs/attention.py
# make test            install, then run the tests
# make check           formatting, lint, types, import layers
# make test-triton36   the tests of printed text under the oldest supported Triton
# VENV=DIR is the environment to use. This checkout is installed into it, in place of any other.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
TRITON36 := $(CURDIR)/build/triton36
# Tests of one file stay in one process, so that a file's expensive fixtures are made once.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadfile
# Pass e.g. PYTEST_ARGS="-k text" to narrow the run.
PYTEST_ARGS ?=

.PHONY: install demo test check format test-triton36 clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("superopt needs Python 3.11 or newer; set PYTHON=python3.x" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[dev]'
	touch $@

demo: install
	$(BIN)/superopt search specs/attention.py

test: install
	$(PYTEST) $(PYTEST_ARGS)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# In front of the pinned one by PYTHONPATH, which the tests' own processes inherit.
$(TRITON36)/.installed: constraints.txt | install
	rm -rf $(TRITON36)
	$(PIP) --no-deps --target $(TRITON36) triton==3.6.0
	touch $@

test-triton36: export PYTHONPATH := $(TRITON36)
test-triton36: install $(TRITON36)/.installed
	$(PYTEST) -p tests.versions tests/emit tests/verify/run/test_stand_in.py $(PYTEST_ARGS)

clean:
	rm -rf build runs .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
