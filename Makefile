# The commands of the project. `make demo` and `make test` need Python 3.11 or later and nothing else.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test check format pages picture tables test-editor bench fuzz clean

help: ## Show the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(READY) ## Compile the example suites and run them over HTTP against the demo agent
	@$(BIN)/python scripts/demo.py

test: $(READY) check ## Everything that CI runs: format, lint, types, import contracts, tests
	$(BIN)/python -m pytest -n auto

check: $(READY) ## Format, lint, types and import contracts, without the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Put the code into its form
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

pages: $(READY) ## Write what is generated anew: the page of diagnostics, the JSON Schemas
	$(BIN)/python scripts/write_diagnostics_page.py
	$(BIN)/evalc schema -o specs/schema

picture: $(READY) ## Draw the pictures of the README anew
	$(BIN)/python scripts/terminal_picture.py
	$(BIN)/python scripts/ask_editor.py --picture

test-editor: $(READY) ## Ask a real YAML language server for completions (needs Node and npm)
	$(BIN)/python scripts/ask_editor.py

tables: $(READY) ## Build the saved tables of the grammars anew
	$(BIN)/python -m evalc.grammar.build_tables

bench: $(READY) ## Measure `evalc check` against its peers; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks.check

fuzz: ## Fuzz the readers, FUZZ_SECONDS (600) each, in an environment of its own
	@test -x .venv-fuzz/bin/python || $(PYTHON) -m venv .venv-fuzz
	@.venv-fuzz/bin/python -m pip install --quiet --disable-pip-version-check --editable . atheris
	@for target in yaml json template check rule; do \
		.venv-fuzz/bin/python -m tests.fuzz.drive $$target $${FUZZ_SECONDS:-600} || exit 1; done

clean: ## Remove what the other commands made
	rm -rf $(VENV) .venv-fuzz .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist evals/build evals/results

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "evalc needs Python 3.11 or later; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $(READY)
