# Every target makes .venv when it is missing or older than pyproject.toml, so that a fresh
# clone needs Python 3.11+, git and make, and nothing set up before.
#   make test ARGS="-k names -x"     arguments for pytest (-n 0: in one process, for a debugger)
#   make demo PYTHON=python3.13      another interpreter (for a new .venv)

PYTHON ?= python3
ARGS ?=
PY := .venv/bin/python
READY := .venv/ready

.PHONY: demo test check bench bench-full bench-docs fuzz wheel shim clean

demo: $(READY)
	@.venv/bin/usp demo

test: $(READY)
	@$(PY) -m pytest -n auto --maxprocesses 8 $(ARGS)

check: $(READY)
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy

bench: $(READY)
	@$(PY) -m bench $(ARGS)

bench-full: $(READY)
	@$(PY) -m bench --full $(ARGS)

# The figures of the last runs into docs/benchmarks.md and README.md.
bench-docs: $(READY)
	@$(PY) -m bench.page

# Without atheris, where there is no wheel of it, a plain mutator does the fuzzing.
fuzz: $(READY)
	@$(PY) -m pip install --quiet --disable-pip-version-check --group fuzz || true
	@$(PY) -m fuzz $(ARGS)

wheel: $(READY)
	@rm -rf dist
	@$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist

# The wheel of a distribution named ultimate-sitemap-parser that has no files and requires usp.
shim: $(READY)
	@$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist ./shim
	@ls dist

clean:
	rm -rf .venv dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench fuzz -name __pycache__ -type d -prune -exec rm -rf {} +

# pip knows dependency groups from 25.1 on, and the one that comes with Python may be older.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "usp needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up .venv (once)"
	@$(PYTHON) -m venv --clear .venv
	@$(PY) -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(PY) -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@
