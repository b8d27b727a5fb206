# `make help` says what there is. Every target that needs something sets it up by itself, except `build` and `install`, which say what is missing.
#
# A folder under frameworks/, applications/ or bindings/ with a Makefile of its own takes part without being named here. Its Makefile
# has the targets `all` and `test`, and is given BUILD, the absolute path of the folder that everything built goes into:
#   frameworks/NAME   ->  $(BUILD)/NAME        applications/NAME  ->  $(BUILD)/NAME
#   bindings/NAME     ->  $(BUILD)/NAME        and has the target `lint` as well
# A file policies/NAME.sched or policies/NAME.hierarchy becomes $(BUILD)/policies/NAME.so.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory --silent
# Services and containers may have no HOME.
ifeq ($(HOME),)
export HOME := $(shell getent passwd "$$(id -u)" | cut -d : -f 6)
endif
export PATH := $(HOME)/.cargo/bin:$(PATH)

export BUILD := $(CURDIR)/build
CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
export CATAPULTS := $(BUILD)/bin/catapults

FRAMEWORKS   := $(patsubst %/Makefile,%,$(wildcard frameworks/*/Makefile))
APPLICATIONS := $(patsubst %/Makefile,%,$(wildcard applications/*/Makefile))
BINDINGS     := $(patsubst %/Makefile,%,$(wildcard bindings/*/Makefile))
POLICIES     := $(wildcard policies/*.sched)
HIERARCHIES  := $(wildcard policies/*.hierarchy)
C_SOURCES     = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
# Folders of policies, hierarchies, scenarios and framework descriptions.
FORMATTED    := policies examples bindings tests/run tests/instants frameworks bench/experiments bench/agreement
LOADERS      := $(wildcard frameworks/*/loader/Cargo.toml)
# Rust that is in no workspace of ours.
CRATES       := tests/fuzz/Cargo.toml $(wildcard bench/peers/*/Cargo.toml) $(LOADERS)
CLANG_FORMAT := clang-format-19
JOBS         := $(shell nproc)
SECONDS      ?= 60
SEED         ?=
# Where `make install` installs; DESTDIR stands for / while a package is made.
PREFIX  ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR
# Per cent of the transfers of all policies.
MOST_GUARDED := 10

# SETUP=no: somebody else has seen to it that all is there.
setup-%:
	@[[ "$(SETUP)" == no ]] || scripts/setup $(subst +, ,$*)

check-%:
	@[[ "$(SETUP)" == no ]] || scripts/setup --check $(subst +, ,$*)

# STARTED: when `make test` did, in seconds. It lists at its end what took how long: until the next phase began, or, for what runs
# beside others, until it was done.
say = printf '\033[1m== %s\033[0m%s\n' "$(1)" "$${STARTED:+, after $$((EPOCHSECONDS - STARTED)) s}"; \
    [[ -z "$${STARTED:-}" ]] || echo "$$EPOCHSECONDS began $(1)" >>$(PHASES)
done = [[ -z "$${STARTED:-}" ]] || echo "$$EPOCHSECONDS ended $(1)" >>$(PHASES)
PHASES := $(BUILD)/phases

.PHONY: help setup build install uninstall dist deb install-test test demo demo-full bench agreement examples experiments guards explore mutants faults admission wcet theory fuzz differential stress shares tsan test-busy pth-suite weather mariadb misses unmodified linux ltp cluster page-test lint format clean
.PHONY: command programs frameworks policies applications

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

setup: ## Install what is missing: Debian packages (scripts/packages.txt) and Rust
	@scripts/setup

build: check-build ## Build all programs: the compiler, the runtime, the policies, the web server -> build/
	@$(MAKE) programs frameworks policies applications
	@echo "build: done, see build/"

# What is not built yet is built first, but nothing that is missing is installed for that.
install: ## Install the command, frameworks, libraries, headers, policies, documents, manual pages and completions in PREFIX=/usr/local
	@[[ -e $(CATAPULTS) && -e $(BUILD)/native/shared/libcatapults.so && ( -e $(BUILD)/native/libcatapults_beneath.so || $$(uname -m) != x86_64 ) && -e $(BUILD)/pth/libcatapults_pth.so && -e $(BUILD)/linux/catapults-linux ]] || $(MAKE) build
	@scripts/install install

uninstall: ## Remove what was installed in PREFIX=/usr/local
	@scripts/install uninstall

dist: setup-build+package ## Make the source tarball with all crates, build/dist/catapults-VERSION.tar.gz: the same commit, the same bytes
	@scripts/dist $(BUILD)/dist

deb: setup-build+package ## Make packages of Debian from the source tarball -> build/deb
	@scripts/deb "$$(scripts/dist $(BUILD)/dist)" $(BUILD)/deb

# The command alone is what is installed.
command programs: PARTS := cli
programs: PARTS += bench
command programs:
	@$(call say,$@)
	@cargo build --release --quiet --locked $(PARTS:%=-p catapults-%)
	@mkdir -p $(BUILD)/bin
	@cp -u $(patsubst %-cli,%,$(PARTS:%=$(CARGO_TARGET_DIR)/release/catapults-%)) $(BUILD)/bin/

frameworks: $(FRAMEWORKS:%=%/all)
applications: $(APPLICATIONS:%=%/all)
policies:
	@$(MAKE) -j$(JOBS) $(POLICIES:policies/%.sched=$(BUILD)/policies/%.so) $(HIERARCHIES:policies/%.hierarchy=$(BUILD)/policies/%.so)

frameworks/%/all applications/%/all:
	@$(call say,$(@:%/all=%))
	@$(MAKE) -j$(JOBS) -C $(@:%/all=%) all

frameworks/%/test applications/%/test bindings/%/test:
	@$(call say,$(@:%/test=%): tests)
	@$(MAKE) -C $(@:%/test=%) test
	@$(call done,$(@:%/test=%): tests)

$(CATAPULTS): programs ;

# Translated code includes headers of its host.
$(BUILD)/policies/%.so: policies/%.sched $(wildcard policies/*/*.sched) $(CATAPULTS) $(wildcard frameworks/native/*.framework frameworks/native/include/* frameworks/shared/catapults/*)
	@mkdir -p $(@D)
	@$(CATAPULTS) build $< --output $(patsubst $(CURDIR)/%,%,$(@D))

$(BUILD)/policies/%.so: policies/%.hierarchy $(POLICIES) $(CATAPULTS) $(wildcard frameworks/native/*.framework frameworks/native/include/* frameworks/shared/catapults/*)
	@mkdir -p $(@D)
	@$(CATAPULTS) build $< --output $(patsubst $(CURDIR)/%,%,$(@D))

test: setup-build+demo+test+page ## Run every test, lint and sanitizer
	@mkdir -p $(BUILD) && rm -f $(PHASES)
	@export STARTED=$$EPOCHSECONDS; $(MAKE) test-all || \
	{ printf '\nmake test: FAILED after %d s; the first failure is above\n' $$((EPOCHSECONDS - STARTED)); exit 1; }; \
	echo "$$EPOCHSECONDS began end" >>$(PHASES) && echo && awk '{ at = $$1; what = $$2; $$1 = $$2 = ""; if (what == "ended") end[$$0] = at; else { time[++n] = at; phase[n] = $$0 } } \
	    END { for (i = 1; i < n; i++) printf "%5d s%s\n", (phase[i] in end ? end[phase[i]] : time[i + 1]) - time[i], phase[i] }' \
	    $(PHASES) && printf '\nmake test: all passed in %d s\n' $$((EPOCHSECONDS - STARTED))

.PHONY: test-all test-compiled test-rust test-bench test-policies test-native-compiled
# The lints share a folder with unit tests, which are compiled last: until then, either waits for single crates most of the time.
test-all:
	@STARTED= $(MAKE) lint-rust & lints=$$!; compiled=0; $(MAKE) test-compiled || compiled=$$?; wait $$lints && exit $$compiled
	@$(MAKE) programs
	@$(MAKE) lint-policies
	@$(MAKE) frameworks policies applications
	@$(MAKE) lint-bindings
	@$(MAKE) test-policies test-native-compiled
	@$(MAKE) -j$(JOBS) -Oline test-rust frameworks/native/test $(filter-out frameworks/native/test,$(FRAMEWORKS:%=%/test) $(APPLICATIONS:%=%/test) $(BINDINGS:%=%/test)) test-examples test-page test-install test-bench

UNITS := --profile units --workspace --exclude catapults-tests --tests --locked
test-compiled:
	@$(call say,compiler and command line: tests are compiled)
	@cargo build --release --workspace --locked --quiet --bins
	@cargo build --release -p catapults-tests --locked --quiet --tests
	@cargo test $(UNITS) --no-run --quiet

test-rust:
	@$(call say,compiler and command line: tests)
	@CATAPULTS_TESTED=$(CATAPULTS) MAKEFLAGS= timeout --kill-after=10 2400 sh -c 'cargo test $(UNITS) --no-fail-fast -- --quiet; units=$$?; \
	    cargo test --release -p catapults-tests --locked --no-fail-fast -- --quiet && exit $$units'
	@$(call done,compiler and command line: tests)

# Before tests run that share parts of it.
test-native-compiled:
	@$(call say,frameworks/native: tests are compiled)
	@$(MAKE) -C frameworks/native test-compiled

test-bench:
	@$(call say,measurements: every loop once, in short)
	@$(MAKE) -C bench/native test
	@$(MAKE) -C bench/experiments all
	@$(BUILD)/bin/catapults-bench experiments --short
	@$(MAKE) -C bench/agreement all
	@$(BUILD)/bin/catapults-bench agreement --short
	@$(BUILD)/bin/catapults-bench misses --short
	@$(call say,the distribution's programs under policies)
	@$(BUILD)/bin/catapults-bench unmodified --short

.PHONY: test-page test-install
test-page:
	@$(call say,pages in a browser)
	@PYTHONDONTWRITEBYTECODE=1 $$(scripts/playwright) tests/page/page.py $(CATAPULTS)
	@$(call done,pages in a browser)

# What needs neither packages nor roots of Debian.
test-install:
	@$(call say,make install)
	@MAKEFLAGS= tests/install/run $(BUILD) $(patsubst tests/install/%.sh,%,$(filter-out %/tarball.sh %/cargo.sh,$(wildcard tests/install/host/*.sh)))
	@$(call done,make install)

test-policies:
	@$(call say,policies: check)
	@$(CATAPULTS) check --most-guarded $(MOST_GUARDED) $(POLICIES) $(HIERARCHIES)
	@$(CATAPULTS) test policies | tail -1

guards: setup-build ## Say which transfers of the policies are guarded at run time, and why; 10 % may be
	@$(MAKE) programs
	@$(CATAPULTS) check --explain-guards --most-guarded $(MOST_GUARDED) $(POLICIES)

explore: setup-build ## Try every order of events on every policy, 3 threads; starvation must be stated (status 3 of the command: within bounds)
	@$(MAKE) programs
	@$(CATAPULTS) explore --fair --threads 3 --states 30000 --seconds 5 $(POLICIES) || [[ $$? == 3 ]]

mutants: setup-build ## Break the policies in every way: what the compiler accepts must keep every promise
	@cargo run --release --quiet --locked -p catapults-tests --bin mutants

differential: setup-build+test ## Compare what compiled policies decide on every framework with the interpreter, 1000 random ones each
	@cargo run --release --quiet --locked -p catapults-tests --bin differential

faults: setup-build+test ## Break a line of either dispatcher, a hundred times: comparing the two must find each
	@cargo run --release --quiet --locked -p catapults-tests --bin faults

admission: setup-build ## Ask the policies' admission about 10000 random sets: the admitted miss nothing, the refused could
	@cargo run --release --quiet --locked -p catapults-tests --bin admission

wcet: setup-build+rabbit ## Compare bounds in clocks with what calls take on the simulated Rabbit, ten times as much as `make test` does (8 minutes)
	@CATAPULTS_WCET=10 cargo test --release --quiet --locked -p catapults-tests --test clocks -- --nocapture >$(BUILD)/wcet.log || { cat $(BUILD)/wcet.log; exit 1; }
	@grep -v '^test \|^running \|^\.*$$' $(BUILD)/wcet.log

theory: setup-build ## Compare simulations of 6000 random sets of tasks with response-time and demand analysis, and with schedules by force
	@cargo run --release --quiet --locked -p catapults-tests --bin theory

fuzz: setup-build ## Try every reader of the compiler with libFuzzer, for SECONDS=60 in all
	@cargo run --release --quiet --locked -p catapults-tests --bin fuzz -- $(SECONDS)

stress: setup-build+test ## Random programs on the native runtime with random faults and preemption, for SECONDS=60; SEED=n: one of them again
	@$(MAKE) -C frameworks/native stress SECONDS=$(SECONDS) SEED=$(SEED)

shares: setup-build+test ## What threads that compute get under every policy that shares by time, on 2 and 4 processors (8 minutes)
	@$(MAKE) -C frameworks/native shares

# The packages are built where there is no network: all that it takes is in the tarball.
install-test: setup-build+test+package ## Try what is installed, where nothing of this clone is: clean roots of Debian 12 and 13; last line: install: N of N
	@$(MAKE) programs frameworks
	@unshare --net scripts/deb "$$(scripts/dist $(BUILD)/dist)" $(BUILD)/deb
	@tests/install/run $(BUILD) $(ONLY)

test-busy: setup-build+demo+test+page ## The same three times beside hogs of all processors (stress-ng), which no test may mind
	@scripts/test-busy 3 $(MAKE) test SETUP=no

tsan: setup-build+test ## The tests of the native runtime under ThreadSanitizer
	@$(MAKE) -C frameworks/native test-tsan

pth-suite: setup-build+test ## Run GNU Pth's own test programs under our FIFO
	@$(MAKE) programs
	@$(MAKE) -C frameworks/pth suite

page-test: setup-build+page ## Try the pages of `sim --html` and `trace html` in Chromium; last line: page: N of N
	@$(MAKE) programs
	@$(MAKE) test-page

lint: setup-build+test ## Check formatting and lints
	@$(MAKE) lint-all
	@echo "lint: all clean"

.PHONY: lint-all lint-rust lint-policies lint-bindings
lint-all: lint-rust
	@$(MAKE) programs
	@$(MAKE) lint-policies
	@$(MAKE) frameworks/native/all lint-bindings

# The crate links the native runtime.
lint-bindings:
	@$(call say,bindings: lints)
	@for binding in $(BINDINGS); do $(MAKE) -C $$binding lint; done

lint-policies:
	@$(CATAPULTS) fmt --check $(FORMATTED)

lint-rust:
	@$(call say,formatting)
	@cargo fmt --all --check
	@for crate in $(CRATES); do cargo fmt --manifest-path $$crate --check; done
	@$(CLANG_FORMAT) --dry-run -Werror $(C_SOURCES)
	@$(call say,lints)
	@cargo clippy --profile units --workspace --all-targets --quiet --locked -- -D warnings
	@for loader in $(LOADERS); do cargo clippy --manifest-path $$loader --all-targets --quiet --locked -- -D warnings; done

format: setup-build+test ## Format all sources
	@cargo fmt --all
	@for crate in $(CRATES); do cargo fmt --manifest-path $$crate; done
	@for binding in $(BINDINGS); do $(MAKE) -C $$binding format; done
	@$(CLANG_FORMAT) -i $(C_SOURCES)
	@$(MAKE) programs
	@$(CATAPULTS) fmt $(FORMATTED)

demo: setup-build+demo ## Serve files under a generic scheduler and two policies, compare them in one table, write a page that shows who ran when, and why
	@$(MAKE) demo-built
	@$(BUILD)/bin/catapults-bench demo

demo-full: setup-build+demo ## The same with more kinds of files and numbers of handlers
	@$(MAKE) demo-built
	@$(BUILD)/bin/catapults-bench demo --full

# No more than it takes.
.PHONY: demo-built
demo-built:
	@$(MAKE) programs
	@$(MAKE) frameworks/native/all frameworks/pth/all applications/cow/all $(BUILD)/policies/fifo.so $(BUILD)/policies/cow.so $(BUILD)/policies/cow_fair.so
	@$(MAKE) -C bench/experiments pth

bench: setup-build+demo+bench+freertos+test ## Measure beside peers, write bench/results/*.json
	@$(MAKE) programs frameworks policies applications
	@$(MAKE) -j$(JOBS) -C bench/native all
	@$(MAKE) -C bench/peers all
	@$(BUILD)/bin/catapults-bench bench

agreement: setup-build+demo ## Compare what is simulated with what the native runtime then does: programs, and the web server; last line: the worst difference
	@$(MAKE) programs frameworks policies applications
	@$(MAKE) -C bench/agreement all
	@$(BUILD)/bin/catapults-bench agreement

experiments: setup-build+demo ## Repeat experiments of papers: a table, a check and a plot of each, in bench/results/experiments
	@$(MAKE) programs frameworks policies applications
	@$(MAKE) -C bench/experiments all
	@$(BUILD)/bin/catapults-bench experiments

examples: setup-build+test ## Build and run each folder of examples/, and compare with what its page shows
	@$(MAKE) programs frameworks
	@examples/run

.PHONY: tutorial
tutorial: setup-build ## Do each step of docs/tutorial.md, and compare with what the page shows; last line: tutorial: N of N steps
	@$(MAKE) programs frameworks
	@CATAPULTS_TESTED=$(CATAPULTS) cargo run --release --quiet --locked -p catapults-tests --bin tutorial

.PHONY: test-examples
test-examples:
	@$(call say,examples)
	@examples/run
	@$(call done,examples)

weather: setup-build+demo+rabbit+freertos ## The weather station on every host: Table 3 of the 2005 paper, and the comparison with a scheduler by hand
	@$(MAKE) programs frameworks applications
	@$(BUILD)/bin/catapults-bench weather

mariadb: setup-build+demo+mariadb ## MariaDB as Debian has it, under the kernel's scheduler and under policies; last line: mariadb: reached N of M
	@$(MAKE) programs frameworks
	@$(BUILD)/bin/catapults-bench mariadb

misses: setup-build+demo+freertos ## Jobs of a control workload that miss their deadlines, beside SCHED_DEADLINE (who is root) and FreeRTOS's priorities; last line: misses: reached N of M
	@$(MAKE) misses-built
	@$(BUILD)/bin/catapults-bench misses

# No more than it takes.
.PHONY: misses-built
misses-built:
	@$(MAKE) programs
	@$(MAKE) frameworks/native/all $(BUILD)/policies/edf.so $(BUILD)/policies/rm.so $(BUILD)/policies/cbs.so
	@$(MAKE) -C bench/native $(BUILD)/bench/misses-loaded

unmodified: setup-build+demo+bench+mariadb+unmodified ## The distribution's programs under policies, each with load for SECONDS=5, must do what they do under NPTL; last line: unmodified: N of N
	@$(MAKE) programs frameworks
	@$(BUILD)/bin/catapults-bench unmodified --seconds $(if $(filter file,$(origin SECONDS)),5,$(SECONDS))

linux: setup-build+linux ## Boot kernels of Debian in QEMU, where each policy schedules the machine in turn; last line: linux: N policies accepted on N kernels, differences N of N, lost N
	@$(MAKE) programs
	@cargo build --release --quiet --locked -p catapults-tests --bin orders
	@$(MAKE) -C frameworks/linux accept ORDERS=$(CARGO_TARGET_DIR)/release/orders

.PHONY: linux-full
linux-full: setup-build+linux ## The same for longer and with more processors, and guests that have to fail
	@$(MAKE) programs
	@cargo build --release --quiet --locked -p catapults-tests --bin orders
	@$(MAKE) -C frameworks/linux full ORDERS=$(CARGO_TARGET_DIR)/release/orders

.PHONY: linux-guest
linux-guest: setup-build+linux ## A shell on such a kernel, with the policies and what loads them
	@$(MAKE) programs
	@$(MAKE) -C frameworks/linux guest

REPEAT ?= 1
ltp: setup-build ## Ask clauses of POSIX under NPTL and under policies, REPEAT=1 times; last line: posix: N differences of N verdicts
	@$(MAKE) programs frameworks/native/all $(BUILD)/policies/fifo.so $(BUILD)/policies/round_robin.so $(BUILD)/policies/edf.so
	@CATAPULTS_TESTED=$(CATAPULTS) cargo run --release --quiet --locked -p catapults-tests --bin ltp -- --repeat $(REPEAT)

cluster: setup-build+dask ## Let workers of a cluster of Dask be killed, stopped and cut off while they compute; SEED=n: at the same instants; last line: cluster: tasks N, kills K, lost 0, wrong 0
	@$(MAKE) programs
	@$(MAKE) -C frameworks/dask cluster SEED=$(SEED)

clean: ## Remove all that was built
	@rm -rf $(BUILD) $(CARGO_TARGET_DIR)
	@echo "clean: done"
