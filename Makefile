# make lab     the environment, then JupyterLab on your own copies of the notebooks, in my-notebooks/
# make test    the environment, then every test
# make proof    the slow tests that rarely tell anything new; what came of them is kept in tests/proof.txt
# make grade   grade what lies in submitted/ (or CLASS=folder: a folder that holds a submitted/; GRADE_ARGS="--workers 4")
# make build   source/ -> release/ and notebooks/
# make lint    format, lint, types, stale builds
# make lock    renew requirements.lock from pyproject.toml

PYTHON ?= python3
CLASS  ?= .
BIN     = .venv/bin

.PHONY: lab test proof grade build lint lock clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# make/make/p' Makefile

# One stamp file stands for the whole environment: it is renewed when the lock or the project's metadata changes.
.venv/ready: requirements.lock pyproject.toml tools/environment.sh
	@PYTHON="$(PYTHON)" sh tools/environment.sh

lab: .venv/ready
	@$(BIN)/course update
	@$(BIN)/jupyter lab --ServerApp.root_dir="$(CURDIR)" $$(test "$$(id -u)" != 0 || echo --allow-root) \
		my-notebooks/00-contents.ipynb $(LAB_ARGS)

# Tests start hundreds of processes; compiling the course anew in each would take minutes.
test: .venv/ready
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest $(PYTEST_ARGS)

proof: .venv/ready
	@PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -m proof $(PYTEST_ARGS)

grade: .venv/ready
	@$(BIN)/course grade "$(CLASS)" $(GRADE_ARGS)

build: .venv/ready
	@$(BIN)/course build

lint: .venv/ready
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(BIN)/mypy
	@$(BIN)/course build --check

lock: .venv/ready
	@$(BIN)/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 \
		--extra course --extra cluster --extra postgresql --extra dev --no-strip-extras \
		--generate-hashes --no-emit-index-url --no-emit-find-links \
		--custom-compile-command "make lock" --output-file requirements.lock

clean:
	rm -rf .venv
