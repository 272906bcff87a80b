# SPDX-License-Identifier: MIT
# The few commands to remember. Each only calls what can be called by hand as well.
.DEFAULT_GOAL := help
.PHONY: help setup build single site quick test check prove nightly bench install uninstall \
	watchdog clean

# All builds are parallel, and ask ccache first where it is there.
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell nproc)
export CMAKE_C_COMPILER_LAUNCHER ?= $(shell command -v ccache)
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(CMAKE_C_COMPILER_LAUNCHER)

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile | expand -t 16

setup: ## install what is missing (Debian packages, .venv)
	@scripts/setup

# Neither of these installs anything for itself: it says what is missing, and goes on without it.
build: ## build with your compiler: libraries, command, examples, benchmark drivers
	@scripts/setup --check build bench || true
	cmake --preset release
	cmake --build --preset release

single: ## make the library as two files in build/single; PARTS="lock rcu": these alone
	@scripts/single $(if $(PARTS),--parts "$(PARTS)")

site: ## make the site of the documentation, build/site/index.html
	@scripts/setup tool
	@scripts/site

build/quick/build.ninja: CMakePresets.json
	@scripts/setup --check build || true
	cmake --preset quick >/dev/null

quick: build/quick/build.ninja ## the tests of one primitive, make quick T=lock, or of all: seconds
	cmake --build --preset quick $(T:%=--target tests-%)
	ctest --preset quick -j $(CMAKE_BUILD_PARALLEL_LEVEL) --progress \
		$(T:%=-R '^%[.]')

test: ## what a user wants to see pass: gcc, sanitizers, 32 bits, models, package (12 minutes)
	@scripts/test --test

check: ## the rest: drivers, simulator, debuggers, fuzzing, other systems (25 minutes)
	@scripts/test --check

prove: ## deeper models, more builds, coverage, fuzzing (hours; goes on where it was stopped)
	@scripts/test --prove

nightly: ## every stress test for a minute, plain and with sanitizers
	@scripts/test nightly

bench: ## measure the published LRU job on real text; ends by naming the report
	@scripts/setup build bench
	cmake --preset release
	cmake --build --preset release --target pawl-bench-lru
	@scripts/bench

# A prefix may hold blanks, begin with ~, or be relative; DESTDIR is read by CMake itself. Root builds
# nothing in a tree of another user, whose later builds would fail.
install: $(shell [ "$$(id -u)" -eq 0 ] && [ ! -O . ] || echo build)
install: ## install the release build below PREFIX (default /usr/local)
	@[ -f build/release/cmake_install.cmake ] || { \
		echo "Nothing is built here, and root does not build: run make build as yourself." >&2; \
		exit 2; }
	@prefix=$$PREFIX; \
	case $$prefix in \
	"" | /*) ;; \
	"~/"*) prefix=$$HOME/$${prefix#??} ;; \
	*) prefix=$$(pwd)/$$prefix ;; \
	esac; \
	(set -x; cmake --install build/release $${prefix:+--prefix "$$prefix"}) || exit; \
	lib=$$(sed -n '/libpawl\.so\./s,/[^/]*$$,,p' build/release/install_manifest.txt | head -n 1); \
	if [ -z "$$lib" ] || [ "$$DESTDIR" ]; then :; \
	elif PATH=$$PATH:/sbin ldconfig -N -v 2>/dev/null | grep -q "^$$lib:"; then \
		echo "Programs find libpawl.so in $$lib after: sudo ldconfig"; \
	else \
		echo "The loader does not search $$lib: link with -Wl,-rpath,$$lib"; \
	fi

uninstall: ## remove what make install put there last
	@[ -d build/release ] || { \
		echo "Nothing was built in build/release, so nothing was installed from there." >&2; \
		exit 2; }
	cmake --build build/release --target uninstall

watchdog: ## build the images of the reset device (hardware/watchdog/README.md)
	@scripts/setup watchdog
	$(MAKE) -C hardware/watchdog images

clean: ## remove build/ (keeps .venv and .deps)
	rm -rf build
