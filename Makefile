# make demo   set up what it needs, and watch a live tournament: service, dashboard and users
# make test   every check and every test
# make quick  the tests that take less than a second each
# make soak   the long tests: kills, mutated snapshots and models, generated requests, and ten million duels
# make bench  the benchmark table
# make coverage  every test, and which lines of Python they run; a part of them with TESTS=tests/live
# make check  lint, types, import contract, workflows, docs and their site
# make docs-site  the documentation as a site, in build/site

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNELS := $(shell find src -name '*.pyx' -o -name '*.pxd')
SITE := $(BIN)/sphinx-build -q -W --keep-going -E -a -b html -c docs -d build/doctrees . build/site  # warnings are errors
# Every .pyi is compared with the compiled module that it describes.
STUBS = $(sort $(subst /,.,$(patsubst src/%.pyi,%,$(shell find src -name '*.pyi'))))
STUBTEST = $(BIN)/stubtest --mypy-config-file pyproject.toml --concise --ignore-disjoint-bases \
	--allowlist tests/stubtest-allowlist.txt $(STUBS)
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: setup demo test quick soak coverage bench check format docs docs-site pictures clean postgresql chromium

setup: $(VENV)/.ready

# What the demo needs: it is ready sooner. A newer kernel, version or pin builds again; what is built stays. Kernels are
# built with what is in .venv, so that nothing is installed twice.
$(VENV)/.built: pyproject.toml setup.py constraints.txt $(KERNELS)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet setuptools Cython numpy
	$(BIN)/pip install --quiet --no-build-isolation --editable '.[server]' rich
	@touch $@

# All the rest. The package is there already: asked for by name, it is not built once more.
$(VENV)/.ready: $(VENV)/.built
	$(BIN)/pip install --quiet 'rankduel[dev]'
	@touch $@

demo: $(VENV)/.built
	$(BIN)/rankduel demo --out results/demo

# The tests start hundreds of processes: a module is compiled once for all of them.
test: export PYTHONDONTWRITEBYTECODE :=
test: check postgresql chromium
	$(BIN)/pytest -n 2 --dist worksteal

# The tests to run after each change: all that are not marked slow (tests/conftest.py).
quick: setup
	$(BIN)/pytest -q -n 2 --dist worksteal -m 'not slow' $(TESTS)

soak: setup postgresql
	RANKDUEL_KILLS=200 RANKDUEL_EXAMPLES=200 RANKDUEL_MUTATIONS=100000 \
	$(BIN)/pytest -n 2 --dist worksteal tests/attack tests/crash tests/postgres tests/service
	$(BIN)/python -m benchmarks --endurance 10000000

# The tests start a database server of their own; where there is none and none can be installed, they are skipped.
APT := DEBIAN_FRONTEND=noninteractive timeout 300 apt-get -q -y
postgresql:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) install postgresql; } \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) update && $(APT) install postgresql; } \
	|| echo 'no PostgreSQL server: tests that need one are skipped (Debian: apt-get install postgresql)'

# The tests of the dashboard drive a real browser; where there is none and none can be installed, they are skipped.
chromium:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) install chromium; } \
	|| { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && $(APT) update && $(APT) install chromium; } \
	|| echo 'no Chromium: tests of the dashboard are skipped (Debian: apt-get install chromium)'

# Of the Python parts; kernels are not measured. A part of the tests: make coverage TESTS=tests/live
coverage: TESTS ?=
coverage: setup postgresql chromium
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
