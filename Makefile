# Every target creates the virtual environment when it is missing or older than pyproject.toml, so a
# fresh clone needs Python 3.11+, git and make, and nothing set up before.
#   make test ARGS="-k names -x"     arguments for pytest (-n 0: in one process, for a debugger)
#   make demo PYTHON=python3.13 VENV=.venv-3.13      another interpreter
# On Windows (make of MSYS2 or Git for Windows) a virtual environment has Scripts instead of bin.

PYTHON ?= python3
ARGS ?=
VENV ?= .venv
BIN ?= $(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(VENV)/$(BIN)/python
READY := $(VENV)/ready
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
PYTEST := -m pytest -n auto --maxprocesses 8 --dist worksteal
CONSTRAINTS ?=
GROUP ?= dev
EXTRAS ?=
BROWSER := .browser

# Without it each of the many processes of the tests would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-browser test-s3 screenshots test-thorough test-all test-lowest coverage check bench bench-full bench-docs docs fuzz wheel sbom shim clean

demo: $(READY)
	@$(PY) -m usp demo

test: $(READY)
	@$(PY) $(PYTEST) $(ARGS)

# What make test leaves out, since each takes more than a second: whole crawls, killed processes, costs.
test-slow: $(READY)
	@$(PY) $(PYTEST) -m "slow and not thorough" $(ARGS)

# The tests of reports and of the documentation site in a browser. Chromium is installed where
# apt-get may do so, axe-core where npm is there; what is missing is the reason for which a test is
# skipped.
test-browser: $(READY)
	@$(PY) $(PIP_INSTALL) --group browser
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
		|| { [ "$$(id -u)" = 0 ] && apt-get update >/dev/null && apt-get install --yes --no-install-recommends chromium >/dev/null; } \
		|| echo "there is no Chromium, and it can't be installed here"
	@[ -d $(BROWSER)/node_modules/axe-core ] || { mkdir -p $(BROWSER) \
		&& npm install --silent --no-audit --no-fund --no-package-lock --prefix $(BROWSER) 'axe-core@^4'; } \
		|| echo "there is no axe-core: npm can't install it here"
	@$(PY) -m pytest -n 2 tests/report/test_browser.py tests/tools/test_site_in_browser.py $(ARGS)

# Crawls into a bucket of a server that speaks S3, in an environment of their own.
test-s3:
	@$(MAKE) --no-print-directory test VENV=.venv-s3 GROUP=s3 EXTRAS='[scale]' \
		ARGS="-n 0 tests/bulk/test_remote.py $(ARGS)"

# The pictures of a report in the docs.
screenshots: $(READY)
	@$(PY) $(PIP_INSTALL) --group browser
	@$(PY) tools/screenshots.py

# All tests, also those that take minutes, with many new examples for each property. For a long run
# by hand: about an hour.
test-thorough: $(READY)
	@$(PY) $(PYTEST) -m "" --hypothesis-profile=thorough --timeout 3600 $(ARGS)

# The tests with every other Python from 3.11 on that the machine has, each in an environment of its
# own; properties draw fewer examples there.
test-all: $(READY)
	@$(PY) tools/pythons.py --except $(PY) | while read -r version python; do \
		echo "Python $$version"; \
		$(MAKE) --no-print-directory test PYTHON="$$python" VENV=".venv-$$version" \
			ARGS="--hypothesis-profile=quick $(ARGS)" || exit 1; \
	done

# The tests that reach into libraries, with the lowest versions that pyproject.toml allows.
test-lowest: $(READY)
	@$(PY) tools/lowest.py > $(VENV)/lowest.txt
	@$(MAKE) --no-print-directory test VENV=.venv-lowest CONSTRAINTS="--constraint $(VENV)/lowest.txt" \
		ARGS="--hypothesis-profile=quick tests/web_client tests/drive tests/compat tests/cli $(ARGS)"

# Branch coverage of the packages that must not do I/O; pyproject.toml has the least that is allowed.
coverage: $(READY)
	@$(PY) $(PYTEST) -m "not thorough" --hypothesis-profile=quick --cov --cov-report=term:skip-covered \
		tests/parse tests/crawl tests/documentation_1_8_1 tests/real_documents tests/compat tests/drive \
		tests/tables tests/check tests/sync $(ARGS)

check: $(READY)
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy

bench: $(READY)
	@$(PY) -m bench $(ARGS)

bench-full: $(READY)
	@$(PY) -m bench --full $(ARGS)

# Writes the figures of the last runs into docs/reference/benchmarks.md and README.md.
bench-docs: $(READY)
	@$(PY) -m bench.page

# The documentation site, in build/docs/html. Warnings are errors; nothing is loaded from elsewhere.
docs: $(READY)
	@$(PY) -m tools.site

# Without atheris, where there is no wheel of it, a plain mutator does the fuzzing.
fuzz: $(READY)
	@$(PY) $(PIP_INSTALL) --group fuzz || true
	@$(PY) -m fuzz $(ARGS)

wheel: $(READY)
	@rm -rf dist
	@$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist .
	@ls dist

# What the wheel is made of and depends on, as CycloneDX, beside it.
sbom: wheel
	@$(PY) -m tools.sbom dist/usp-*.whl

# The wheel of a distribution named ultimate-sitemap-parser that has no files and requires usp.
shim: $(READY)
	@$(PY) -m pip wheel --quiet --no-deps --wheel-dir dist ./shim
	@ls dist

clean:
	rm -rf .venv .venv-3.* .venv-lowest .venv-s3 $(BROWSER) build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests bench fuzz tools docs -name __pycache__ -type d -prune -exec rm -rf {} +

# pip reads dependency groups from 25.1 on, and the one that comes with Python may be older.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "usp needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PY) $(PIP_INSTALL) --upgrade 'pip>=25.1'
	@$(PY) $(PIP_INSTALL) $(CONSTRAINTS) --editable '.$(EXTRAS)' --group $(GROUP)
	@touch $@
