# Every target below works on a fresh checkout: each one makes .venv first when it is missing.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Most tests wait for servers, not for a core: three at a time suit two cores. 0 runs them one after another.
WORKERS ?= 3

# Each test starts programs; without their bytecode kept, every one of them compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test check bench lock clean
.DEFAULT_GOAL := help

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*?## ' $(MAKEFILE_LIST) | awk 'BEGIN {FS = ":.*?## "} {printf "  make %-8s %s\n", $$1, $$2}'

$(VENV)/.ready: requirements.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup: $(VENV)/.ready ## Make .venv from the hash-pinned lock

demo: setup ## Start everything in a temporary folder and land two agents' work
	@$(BIN)/gitring demo

test: setup ## Run the whole test suite on real servers
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup --inline-snapshot=disable

check: setup ## Lint, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell .

bench: setup ## Run the benchmarks and print their table
	$(BIN)/python -m benchmarks

lock: ## Resolve requirements.txt again from pyproject.toml
	$(BIN)/uv pip compile --quiet --no-header --no-annotate --no-emit-index-url --generate-hashes --universal --python-version 3.11 --all-extras -o requirements.txt pyproject.toml

clean: ## Remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
