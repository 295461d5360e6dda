# Requires Go 1.26 and, for the tests of plugins, Python 3.9 or later. The tests
# of gRPC plugins create a venv with grpcio from PyPI once.

GO          ?= go
T           ?= 5s
TAGS        := urfave_cli_no_docs,grpcnotrace,nethttpomithttp2
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS     := -s -w -X github.com/pyplug/pyplug/commands.Version=$(VERSION)
# Without inlining, gRPC, TOML, the command line and the search for a Python take 0.6 MiB less, and a call no longer.
SMALL       := $(foreach from,google.golang.org github.com/bufbuild github.com/pelletier github.com/hashicorp github.com/urfave github.com/pyplug/pyplug/interp,-gcflags=$(from)/...=-l)
BUILD       := CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) $(SMALL) -ldflags "$(LDFLAGS)"

# The race detector needs a C compiler; without one, Go disables cgo.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

.PHONY: help build machine test test-all lint cross bench fuzz attack clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/pyplug
	$(BUILD) -o bin/pyplug .

# -C, because go test prints a test's output only for the current directory.
machine: ## print what the tests find here and what they skip
	@$(GO) test -C runner/runnertest $(RACE) -tags $(TAGS) -count=1 -run '^TestMachine$$'

# The scripts run the program as users do: with the race detector it takes five
# times as long to start. `go test -race ./commands` alone runs them with it.
# A test program with the race detector would sleep for a second before it exits.
# Most tests wait for processes more than they compute, so three packages run at once.
test: machine ## run every test, with the race detector if there is a C compiler
	@test -n "$(RACE)" || echo "no C compiler found: the tests run without the race detector"
	$(GO) build -tags $(TAGS) -o bin/test/pyplug .
	GORACE=atexit_sleep_ms=0 TEST_PROGRAM=$(CURDIR)/bin/test/pyplug $(GO) test $(RACE) -p 3 -timeout 30m -tags $(TAGS) ./...

test-all: test ## run every test, and those that take minutes
	$(GO) test $(RACE) -count=1 -tags $(TAGS) -run '^TestCheckDies$$' ./commands -moments 60

lint: ## check formatting, go.mod, vet and staticcheck
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "not formatted by gofmt:" $$files; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet -tags $(TAGS) ./...
	$(GO) run $(STATICCHECK) -tags $(TAGS) ./...

# vet also compiles the tests. With the flags of the build, both share the cache.
cross: ## build for macOS and Windows, and compile the tests for them
	@set -e; for target in darwin/amd64 darwin/arm64 windows/amd64; do \
		export GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0; \
		exe=; test $$GOOS != windows || exe=.exe; \
		echo "$$target"; \
		$(BUILD) -o bin/pyplug-$$GOOS-$$GOARCH$$exe .; \
		test $$target = darwin/amd64 || $(GO) vet -trimpath -tags $(TAGS) $(SMALL) ./...; \
	done

bench: ## run every benchmark
	$(GO) test -run '^$$' -bench . -benchmem -tags $(TAGS) ./...

# Retry a target once, because the fuzzer sometimes reports its own deadline as a
# failure. A real failure repeats at once: the fuzzer has stored the input.
fuzz: ## fuzz every target for T each (T=5s)
	@grep -ro '^func Fuzz[A-Za-z0-9_]*' --include='*_test.go' . | sed 's|/[^/]*:func | |' | sort | \
	while read -r package target; do \
		set -- -tags $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(T) $$package; \
		$(GO) test "$$@" || $(GO) test "$$@" || exit 1; \
	done

attack: T = 60s
attack: ## call, kill and edit kept plugins for T under the race detector (T=60s)
	$(GO) test $(RACE) -count=1 -timeout 30m -tags $(TAGS) -run '^TestAttack$$' -v ./commands -attack $(T)

clean: ## remove the output of the other targets
	rm -rf bin dist coverage.* testdata/.venv
	find . -name __pycache__ -prune -exec rm -rf {} +
