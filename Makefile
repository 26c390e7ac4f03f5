# All that is needed on a machine with python3 (3.11 or later), pip and make.
# Another Python: make PYTHON=python3.12 test.

PYTHON ?= python3
# Tests start hundreds of processes, each of which would compile all of unveil anew if none might keep what it compiled.
export PYTHONDONTWRITEBYTECODE :=
# From Python 3.12 on coverage is told of each line once, which costs next to nothing; before, all Python is slower.
ifndef COVERAGE_CORE
export COVERAGE_CORE := $(shell $(PYTHON) -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")')
endif
BIN := .venv/bin
REPORT := unveil-report.html
SBOM := unveil-sbom.json
# A part of the suite: make test TESTS="tests/guesses -q". Floor and coverage are of the whole.
TESTS ?=
PYTEST = $(BIN)/pytest --numprocesses 2 --dist worksteal $(if $(TESTS),$(TESTS),--cov --cov-report term --enforce-floor --durations=40)

.PHONY: help setup demo serve study docs test check fuzz fresh format bench calibrate lock sbom clean

help:
	@echo "make setup   make .venv with unveil in it (done once, and again when the requirements change)"
	@echo "make demo    run unveil on data inside the package and write $(REPORT)"
	@echo "make serve   open the local page in a browser; Ctrl-C ends it"
	@echo "make study   run studies/quick.toml into unveil-study, or go on with it, and write unveil-study.html"
	@echo "make docs    build the documentation site into site/; it needs no network to be read"
	@echo "make test    lint, types, tests and coverage"
	@echo "make check   the same without browser, whole commands, examples and coverage: for daily work"
	@echo "make fuzz    the same as make check with other random examples"
	@echo "make fresh   run make demo and make test on a bare Debian, built in a folder as root (options: ARGS='...')"
	@echo "make format  let ruff format the code and repair what it can"
	@echo "make bench   measure unveil beside its peers, in .venv-bench (options: ARGS='...')"
	@echo "make calibrate  count how often harmless releases are accused, or go on with it (options: ARGS='--table adult')"
	@echo "make lock    write constraints.txt: versions and hashes of every package (options: ARGS='--renew NAME')"
	@echo "make sbom    write $(SBOM): every package with version, licence and hashes, as CycloneDX"
	@echo "make clean   remove the environments, the caches and the report"

# Loops are compiled once for each environment, so that no first audit waits for the compiler.
setup:
	@$(PYTHON) tools/environment.py .venv
	@test .venv/unveil-warm -nt .venv/unveil-ready.json || { \
	  echo "Compiling the loops of unveil (only the first time) ..."; $(BIN)/unveil warm-up --quiet && touch .venv/unveil-warm; }

demo: setup
	@$(BIN)/unveil audit --html $(REPORT) </dev/null

serve:
	@$(PYTHON) tools/environment.py .venv --extra web
	@$(BIN)/unveil serve

study: setup
	@$(BIN)/unveil study run studies/quick.toml --out unveil-study --resume </dev/null
	@$(BIN)/unveil study report unveil-study --html unveil-study.html

docs:
	@$(PYTHON) tools/environment.py .venv --group docs --extra plot
	@MPLBACKEND=Agg $(BIN)/python tools/site.py

# Standard input is never asked for anything, and may be closed. mypy takes one core for half a minute, so it runs
# beside the tests; either can fail, and both are heard to the end.
test:
	@$(PYTHON) tools/environment.py .venv --group test
	@$(BIN)/python tools/chromium.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p .mypy_cache; $(BIN)/mypy >.mypy_cache/said 2>&1 & types=$$!; \
	echo "$(BIN)/mypy &"; echo "$(PYTEST)"; $(PYTEST) </dev/null; tests=$$?; \
	wait $$types; typed=$$?; echo "$(BIN)/mypy"; cat .mypy_cache/said; \
	test $$tests -eq 0 && test $$typed -eq 0

check:
	@$(MAKE) --no-print-directory test \
	  TESTS="-q -m 'not browser' --ignore=tests/end_to_end --ignore=tests/examples --ignore=tests/fuzz"

# The suite draws the same random examples everywhere; this run draws others.
fuzz:
	@UNVEIL_OTHER_EXAMPLES=1 $(MAKE) --no-print-directory check

# Variants: ARGS="--plain-user", "--without-apt", "--read-only-home", "--tests tests/guesses".
fresh:
	@$(PYTHON) tools/fresh.py $(ARGS)

format:
	@$(PYTHON) tools/environment.py .venv --group test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# anonymeter needs an older numpy than unveil and SDMetrics an older pandas, so each gets an environment of its own.
bench:
	@$(PYTHON) tools/environment.py .venv-bench --group bench
	@test -e .venv-bench-anonymeter/ready || { \
	  $(PYTHON) -m venv --without-pip .venv-bench-anonymeter && \
	  $(PYTHON) -m pip --python .venv-bench-anonymeter/bin/python install --quiet anonymeter==1.1.0 && \
	  touch .venv-bench-anonymeter/ready; }
	@test -e .venv-bench-sdmetrics/ready || { \
	  $(PYTHON) -m venv --without-pip .venv-bench-sdmetrics && \
	  $(PYTHON) -m pip --python .venv-bench-sdmetrics/bin/python install --quiet sdmetrics==0.32.0 && \
	  touch .venv-bench-sdmetrics/ready; }
	.venv-bench/bin/python -m benchmarks.run $(ARGS)

# Each audit is a line of unveil-calibration.jsonl: stop it at any time, and call it again to go on.
calibrate: setup
	@$(BIN)/python -m benchmarks.calibrate $(ARGS)

# Under the oldest Python that unveil runs on and the later ones, because some packages are needed under some only.
LOCK_FOR ?= python3.11 python3.12 python3.13
lock:
	@$(PYTHON) tools/environment.py .venv --group test
	@$(BIN)/python tools/lock.py $(foreach python,$(LOCK_FOR),--python $(python)) $(ARGS)

sbom:
	@$(PYTHON) tools/environment.py .venv --group test
	@$(BIN)/python tools/sbom.py $(SBOM)

clean:
	rm -rf .venv .venv-bench .venv-bench-anonymeter .venv-bench-domias .venv-bench-sdmetrics .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.* dist build site $(REPORT) unveil-study unveil-study.html unveil-calibration*.jsonl $(SBOM)
	find src tests tools benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
