# SPDX-License-Identifier: MIT
# The few commands to remember. Each only calls what can be called by hand as well.
.DEFAULT_GOAL := help
.PHONY: help setup build test prove bench install clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 16

setup: ## install what is missing (Debian packages, .venv)
	@scripts/setup

build: ## build the release preset: libraries, examples, benchmark drivers
	@scripts/setup build bench
	cmake --preset release
	cmake --build --preset release

test: ## gcc, sanitizers, 32 bits, other systems, installed package, Python
	@scripts/test

prove: ## model-check all primitives (needs Rust 1.82 or later), and run what make test leaves out
	@command -v cargo >/dev/null || { echo "prove: cargo is missing; install Rust 1.82 or later." >&2; exit 2; }
	cd tests/model && cargo run --release --locked --bin prove -- --quick
	@scripts/setup build test bench tool
	@scripts/test clang asan tsan-clang package

bench: build ## measure the published LRU job on real text; ends by naming the report
	@scripts/bench

install: build ## install the release build below PREFIX (default /usr/local)
	cmake --install build/release $(if $(PREFIX),--prefix $(abspath $(PREFIX)))

clean: ## remove build/ (keeps .venv and .deps)
	rm -rf build
