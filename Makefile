# make demo    install, then search specs/attention.py
# make test    install, then run the tests
# make check   formatting, lint, types, import layers
VENV ?= .venv
BIN := $(VENV)/bin
# Pass e.g. PYTEST_ARGS="-k text" to narrow the run.
PYTEST_ARGS ?=

.PHONY: install demo test check format test-triton36 clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: install
	$(BIN)/superopt search specs/attention.py

test: install
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The oldest supported Triton, put in front of the pinned one for the tests of printed text.
build/triton36: constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target $@ triton==3.6.0
	touch $@

test-triton36: install build/triton36
	PYTHONPATH=build/triton36 $(BIN)/python -m pytest tests/emit $(PYTEST_ARGS)

clean:
	rm -rf build runs .pytest_cache .mypy_cache .ruff_cache
