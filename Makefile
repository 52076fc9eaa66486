# make demo       install the requirements of the demo and run a live tournament: service, dashboard and users
# make test       run every check and every test
# make quick      run the tests that take less than a second each
# make soak       run the long tests: kills, mutated snapshots and models, generated requests, ten million duels
# make bench      print the benchmark table
# make coverage   run every test and report line coverage of the Python code; select tests with TESTS=tests/live
# make check      check lint, types, import layers, spelling, workflows, docs and the documentation site
# make docs-site  build the documentation site in build/site

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src -name '*.pyx' -o -name '*.pxd')
SITE := $(BIN)/sphinx-build -q -W --keep-going -E -a -b html -c docs -d build/doctrees . build/site  # warnings are errors
# stubtest compares every .pyi file with the compiled module that it describes.
STUBS = $(sort $(subst /,.,$(patsubst src/%.pyi,%,$(shell find src -name '*.pyi'))))
STUBTEST = $(BIN)/stubtest --mypy-config-file pyproject.toml --concise --ignore-disjoint-bases \
	--allowlist tests/stubtest-allowlist.txt $(STUBS)
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup demo test quick soak coverage bench check format docs docs-site pictures clean postgresql chromium nginx

setup: $(VENV)/.ready

# Install only the requirements of the demo, so that it starts sooner. A changed kernel, version or pin triggers a new
# build. Kernels are built with the packages in .venv, so that nothing is installed twice.
$(VENV)/.built: pyproject.toml setup.py constraints.txt $(KERNELS)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet setuptools Cython numpy
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[server]' rich
	@touch $@

# Install everything else. The package is already installed, so pip does not build it again when named like this.
$(VENV)/.ready: $(VENV)/.built
	$(BIN)/pip install --quiet 'rankduel[dev]'
	@touch $@

demo: $(VENV)/.built
	$(BIN)/rankduel demo --out results/demo

# The tests start hundreds of processes. Write bytecode, so that each module is compiled once for all of them.
test: export PYTHONDONTWRITEBYTECODE :=
test: check postgresql chromium nginx
	$(BIN)/pytest -n 2 --dist worksteal

# Run these after each change: all tests that are not marked slow (tests/conftest.py).
quick: setup
	$(BIN)/pytest -q -n 2 --dist worksteal -m 'not slow' $(TESTS)

soak: setup postgresql nginx
	RANKDUEL_KILLS=200 RANKDUEL_EXAMPLES=200 RANKDUEL_MUTATIONS=100000 \
	$(BIN)/pytest -n 2 --dist worksteal --timeout 7200 tests/attack tests/crash tests/postgres tests/service
	$(BIN)/python -m benchmarks --endurance 10000000

# The tests start their own database server. They are skipped if none is installed and none can be installed.
APT := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -q -y
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) install postgresql; } \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) update && $(APT) install postgresql; } \
	|| echo 'no PostgreSQL server: tests that need one are skipped (Debian: apt-get install postgresql)'

# The dashboard tests drive a real browser. They are skipped if none is installed and none can be installed.
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) install chromium; } \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) update && $(APT) install chromium; } \
	|| echo 'no Chromium: tests of the dashboard are skipped (Debian: apt-get install chromium)'

# Tests run the configuration of docs/operations.md in a real nginx. They are skipped if none is installed and none can
# be installed.
nginx:
	@command -v nginx >/dev/null || test -x /usr/sbin/nginx \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) install nginx-light; } \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) update && $(APT) install nginx-light; } \
	|| echo 'no nginx: tests behind a proxy are skipped (Debian: apt-get install nginx-light)'

# Coverage of the Python code, without the kernels. Select tests with: make coverage TESTS=tests/live
coverage: TESTS ?=
coverage: setup postgresql chromium nginx
	$(BIN)/pytest -n 2 --dist worksteal --cov --cov-report=term:skip-covered --cov-report=html:build/coverage $(TESTS)
	@echo "build/coverage/index.html"

bench: setup
	$(BIN)/python -m benchmarks

check: setup
	$(BIN)/ruff check src tests benchmarks docs examples setup.py
	$(BIN)/ruff format --check src tests benchmarks docs examples setup.py
	$(BIN)/mypy
	$(STUBTEST)
	$(BIN)/lint-imports
	$(BIN)/codespell $(wildcard *.md) .github .pre-commit-config.yaml Makefile benchmarks docs examples pyproject.toml \
		src tests
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(wildcard .github/workflows/*.yml)
	$(BIN)/python docs/generate.py --check
	$(SITE)

format: setup
	$(BIN)/ruff check --fix src tests benchmarks docs examples setup.py
	$(BIN)/ruff format src tests benchmarks docs examples setup.py

docs: setup
	$(BIN)/python docs/generate.py

docs-site: docs
	$(SITE)
	@echo "build/site/index.html"

pictures: setup
	$(BIN)/python docs/draw.py
	$(BIN)/python docs/draw_layers.py

clean:
	rm -rf $(VENV) build dist src/*.egg-info
	find src -name '*.so' -delete -o -name '*.c' -delete
