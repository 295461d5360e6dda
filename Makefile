# Needs Go 1.26 and, for the tests of plugins, Python 3.8 or later. The tests of
# gRPC plugins make themselves a venv with grpcio, once, from PyPI.

GO          ?= go
T           ?= 5s
TAGS        := urfave_cli_no_docs,grpcnotrace
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS     := -s -w -X github.com/pyplug/pyplug/commands.Version=$(VERSION) \
               -X github.com/pyplug/pyplug/runner/wire.Release=$(filter-out devel %-dirty,$(VERSION))
BUILD       := CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) -ldflags "$(LDFLAGS)"

# The race detector needs a C compiler; without one Go turns cgo off by itself.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

.PHONY: help build machine test lint cross bench fuzz clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/pyplug
	$(BUILD) -o bin/pyplug .

# In its own directory, because only there does go test show what a test prints.
machine: ## say what the tests have here and what they skip for want of it
	@$(GO) test -C runner/runnertest $(RACE) -tags $(TAGS) -count=1 -run '^TestMachine$$'

test: machine ## run every test, with the race detector where there is a C compiler
	@test -n "$(RACE)" || echo "no C compiler found: the tests run without the race detector"
	$(GO) test $(RACE) -timeout 30m -tags $(TAGS) ./...

lint: ## check format, go.mod, vet for every system, staticcheck and the Python sources
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "not formatted by gofmt:" $$files; exit 1; }
	$(GO) mod tidy -diff
	GOOS=linux $(GO) vet -tags $(TAGS) ./...
	GOOS=darwin $(GO) vet -tags $(TAGS) ./...
	GOOS=windows $(GO) vet -tags $(TAGS) ./...
	$(GO) run $(STATICCHECK) -tags $(TAGS) ./...
	$(GO) test -count=1 -run '^TestPython' ./commands

# vet also compiles the tests, which build does not.
cross: ## build for macOS and Windows, and compile the tests for them
	@set -e; for target in darwin/amd64 darwin/arm64 windows/amd64; do \
		export GOOS=$${target%/*} GOARCH=$${target#*/}; \
		exe=; test $$GOOS != windows || exe=.exe; \
		echo "$$target"; \
		CGO_ENABLED=0 $(GO) build -tags $(TAGS) ./...; \
		$(BUILD) -o bin/pyplug-$$GOOS-$$GOARCH$$exe .; \
		CGO_ENABLED=0 $(GO) vet -tags $(TAGS) ./...; \
	done

bench: ## run every benchmark
	$(GO) test -run '^$$' -bench . -benchmem -tags $(TAGS) ./...

# A target is given a second chance because the fuzzer sometimes reports its own
# deadline as a failure. A real one fails again at once: its input was kept.
fuzz: ## fuzz every target for T each (T=5s)
	@list=$$($(GO) test -tags $(TAGS) -list '^Fuzz' ./...) || { echo "$$list"; exit 1; }; \
	echo "$$list" | \
	awk '/^Fuzz/ {names[++n] = $$1} /^ok/ {for (i = 1; i <= n; i++) print $$2, names[i]; n = 0}' | \
	while read -r package target; do \
		set -- -tags $(TAGS) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(T) $$package; \
		$(GO) test "$$@" || $(GO) test "$$@" || exit 1; \
	done

clean: ## remove what the other targets made
	rm -rf bin dist coverage.* testdata/.venv
	find . -name __pycache__ -prune -exec rm -rf {} +
