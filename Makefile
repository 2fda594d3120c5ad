# The commands of this project. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# What tests need beside Rust is kept here, outside the source tree's history.
SETUP := .setup
VENV := $(SETUP)/venv
PYTHON_REQUIREMENTS := crates/windlass-workflow/tests/requirements.txt

# Ten rounds of 300 runs, with three masters, three workers and a PostgreSQL server.
CLUSTER_CHAOS := --masters 3 --workers 3 --store postgres --runs 300 --rounds 10

.PHONY: help setup ui build demo test lint accept mutants fuzz bench peers docs clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/ready ## install what the tests need

$(VENV)/ready: $(PYTHON_REQUIREMENTS)
	scripts/ensure-packages
	python3 -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r $(PYTHON_REQUIREMENTS)
	touch $@

# npm leaves this file when what package-lock.json names is there. Not `npm ci`: it wants an entry for every system that a
# package could be built for, and not every registry has them all.
UI_PACKAGES := ui/node_modules/.package-lock.json
UI_SOURCES := $(shell find ui/src ui/scripts -type f 2>/dev/null) ui/index.html ui/vite.config.ts ui/tsconfig.json

$(UI_PACKAGES): ui/package-lock.json ui/package.json
	scripts/ensure-packages node
	cd ui && npm install --no-save --no-audit --no-fund --loglevel=error
	touch $@

ui/dist/index.html: $(UI_PACKAGES) $(UI_SOURCES) docs/reference/openapi.json
	cd ui && npm run --silent build

ui: ui/dist/index.html ## build the web UI, which the program then carries

build: ui ## build the program: target/release/windlass
	cargo build --release -p windlass

demo: build ## 1 master, 3 workers, 100 tasks; DEMO_SCALE=0.1 shortens them
	target/release/windlass demo

test: setup ui lint ## run every check, at a size that fits half an hour on two cores
	cargo test --workspace --all-targets
	cargo test --workspace --doc
	cd ui && npm test --silent
	cd ui && npm run --silent e2e
	cargo test -p windlass --features failpoints --test processes crash_points

lint: $(UI_PACKAGES) ## format, clippy with warnings as errors, licences and banned crates
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy -p windlass --all-targets --features failpoints -- -D warnings
	cargo test --quiet -p windlass-tests dependencies
	cd ui && npm run --silent check

accept: test build ## everything of `make test`, then the long runs: simulation, planted bugs, fuzzing and measurements
	cargo run --release -p windlass-sim -- --seeds 3000
	cargo run --release -p windlass-sim -- --mutants
	WINDLASS_TRIAL_SCALE=17 cargo test -p windlass --test processes nasty
	target/release/windlass chaos --seed 1 --rounds 10 --time 60s
	target/release/windlass chaos --rounds 10 --time 60s
	target/release/windlass chaos $(CLUSTER_CHAOS)
	target/release/windlass chaos $(CLUSTER_CHAOS) --freeze
	target/release/windlass chaos $(CLUSTER_CHAOS) --swallow 20
	target/release/windlass chaos $(CLUSTER_CHAOS) --outage 30s
	target/release/windlass chaos $(CLUSTER_CHAOS) --clocks 1h
	target/release/windlass chaos --masters 3 --store postgres --runs 300 --rounds 3 --network all
	WINDLASS_TRIAL_SCALE=10 cargo test -p windlass --test processes partitions
	WINDLASS_TRIAL_SCALE=50 cargo test -p windlass --test processes murder::a_master_that_wakes
	WINDLASS_TRIAL_SCALE=5 cargo test -p windlass --test processes murder::limits
	WINDLASS_TRIAL_SCALE=10 cargo test -p windlass --test processes murder::what_was_accepted
	WINDLASS_TRIAL_SCALE=10 cargo test -p windlass --test processes failover
	WINDLASS_TRIAL_SCALE=10 cargo test -p windlass --test processes outages
	WINDLASS_TRIAL_SCALE=20 cargo test -p windlass --test processes schedules::cluster
	cargo run --release -p windlass-sim -- --growth
	scripts/fuzz 120
	scripts/fuzz 300 frames
	WINDLASS_TRIAL_SCALE=20 cargo test -p windlass --test processes hostile
	scripts/schemathesis 600
	scripts/bench --check

mutants: ## plant bugs, one at a time, and say how the simulation caught each
	cargo run --quiet --release -p windlass-sim -- --mutants --write

fuzz: ## fuzz every target for ten seconds
	scripts/fuzz 10

bench: ## measure, and print what bench/RESULTS.md records
	scripts/bench

peers: ## measure other systems beside Windlass, in one run
	bench/peers/run

docs: ## rewrite the generated pages of docs/; review the difference
	UPDATE_DOCS=1 cargo test --workspace --all-targets

clean: ## remove everything that was built or installed here
	cargo clean
	rm -rf $(SETUP) fuzz/target ui/node_modules ui/screenshots
	cd ui/dist && rm -rf assets index.html
