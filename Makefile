# The commands of this project; the work itself is in CMakePresets.json and scripts/.
.DEFAULT_GOAL := help

# For `make fuzz`: seconds in all.
SECONDS := 60
JOBS ?= $(shell nproc)
# The acceptance runner; one that stands beside the checkout is found by itself. ACCEPTANCE= (empty) goes without.
ACCEPTANCE ?= $(wildcard ../shared/acceptance/run.py)
PREFIX ?= /usr/local

title = @printf '\n== %s\n' '$(1)'

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' Makefile

.PHONY: demo
demo: ## build and show it at work: a scripted provider, Penstock, a client; no key and no network needed
	$(call title,what the build needs)
	@scripts/setup --build-only
	@$(MAKE) --no-print-directory build
	$(call title,demo)
	@build/release/penstock demo

.PHONY: build
build: ## build/release/penstock
	$(call title,release build)
	@cmake --preset release -Wno-dev >/dev/null
	@cmake --build --preset release -j $(JOBS)

.PHONY: debug
debug: ## build/debug/: tests, AddressSanitizer, UndefinedBehaviorSanitizer
	$(call title,debug build with sanitizers)
	@cmake --preset debug -Wno-dev >/dev/null
	@cmake --build --preset debug -j $(JOBS)

.PHONY: test
test: ## everything that decides whether a change is good (under 15 minutes on two cores)
	$(call title,what tests need)
	@scripts/setup
	@$(MAKE) --no-print-directory check
	@$(MAKE) --no-print-directory test-unit
	@$(MAKE) --no-print-directory test-e2e
	@$(MAKE) --no-print-directory acceptance

.PHONY: test-unit
test-unit: debug ## unit and replay tests, kept fuzzing findings
	$(call title,unit and replay tests)
	@ctest --test-dir build/debug -j $(JOBS) --output-on-failure --no-tests=error --timeout 300

.PHONY: test-clang
test-clang: ## the same with clang
	$(call title,debug build with clang)
	@cmake --preset debug-clang -Wno-dev >/dev/null
	@cmake --build --preset debug-clang -j $(JOBS)
	@ctest --test-dir build/debug-clang -j $(JOBS) --output-on-failure --no-tests=error --timeout 300

.PHONY: test-tsan
test-tsan: build ## unit tests, and some with the program, under ThreadSanitizer
	$(call title,build with ThreadSanitizer)
	@cmake --preset tsan -Wno-dev >/dev/null
	@cmake --build --preset tsan -j $(JOBS)
	@export TSAN_OPTIONS=suppressions=$(CURDIR)/tests/tsan.supp; \
	ctest --test-dir build/tsan -j $(JOBS) -E '^(attack|isolation|fuzz)' --output-on-failure --timeout 300 && cd tests/e2e && \
	PENSTOCK=../../build/tsan/penstock PENSTOCK_WORKER=$(CURDIR)/build/release/penstock-worker \
	  node --test --test-reporter=spec render.test.js attachments.test.js openai.test.js kill.test.js drain.test.js

.PHONY: test-e2e
test-e2e: debug ## unmodified SDKs against the running program
	$(call title,SDK tests)
	@cd tests/e2e && npm test --silent

.PHONY: acceptance
acceptance: build ## the acceptance cases, where they stand beside the checkout (ACCEPTANCE=…/run.py)
	$(call title,acceptance cases)
ifeq ($(ACCEPTANCE),)
	@echo "none beside this checkout: left out"
else
	@scripts/acceptance $(ACCEPTANCE) --binary build/release/penstock
endif

.PHONY: check
check: ## the gates: format, lengths, include directions, headers, banned functions
	$(call title,gates)
	@scripts/check

.PHONY: fuzz
fuzz: ## fuzz for SECONDS=60 in all (SEED=N: the same mutations again)
	$(call title,fuzzing)
	@SEED=$(SEED) scripts/fuzz $(SECONDS)

.PHONY: attack
attack: ## hostile sources and 10,000 mutants for each renderer, under sanitizers (about ten minutes)
	$(call title,attack)
	@cmake --preset debug -Wno-dev >/dev/null
	@nice cmake --build --preset debug -j $(JOBS) --target attack
	@for renderer in docx pdf pptx xlsx chart csv; do \
	  nice build/debug/attack $$renderer --mutants 10000 --write build/debug tests/fuzz/corpus/codecs_$$(echo $$renderer | sed s/csv/xlsx/) || exit 1; \
	done

.PHONY: check-docker
check-docker: ## build the container image with buildah on a bare Debian, and run it (root)
	$(call title,container image)
	@scripts/check-docker

.PHONY: format
format: ## clang-format over all C files
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format-14 -i

.PHONY: install
install: build ## into PREFIX=/usr/local (DESTDIR respected)
	@cmake --install build/release --prefix $(PREFIX) --strip

.PHONY: clean
clean: ## remove build/
	@rm -rf build
