# SPDX-License-Identifier: MIT
# The few commands to remember. Each only calls what can be called by hand as well.
.DEFAULT_GOAL := help
.PHONY: help setup build single test prove nightly bench install watchdog clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 16

setup: ## install what is missing (Debian packages, .venv)
	@scripts/setup

build: ## build the release preset: libraries, examples, benchmark drivers
	@scripts/setup build bench
	cmake --preset release
	cmake --build --preset release

single: ## make the library as two files, build/single/pawl.h and pawl.c
	@scripts/single

test: ## gcc, sanitizers, 32 bits, models, other systems, installed package, Python
	@scripts/test

prove: ## deeper models, more builds, coverage, fuzzing (long)
	@scripts/test --prove

nightly: ## every stress test for a minute, plain and with sanitizers
	@scripts/test nightly

bench: build ## measure the published LRU job on real text; ends by naming the report
	@scripts/bench

install: build ## install the release build below PREFIX (default /usr/local)
	cmake --install build/release $(if $(PREFIX),--prefix $(abspath $(PREFIX)))

watchdog: ## build the images of the reset device (watchdog/README.md)
	@scripts/setup watchdog
	$(MAKE) -C watchdog images

clean: ## remove build/ (keeps .venv and .deps)
	rm -rf build
