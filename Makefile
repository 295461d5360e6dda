# Requires Go 1.26 and, for the tests of plugins, Python 3.9 or later. The tests
# of gRPC plugins create a venv with grpcio from PyPI once.

GO          ?= go
T           ?= 5s
TAGS        := urfave_cli_no_docs,grpcnotrace,nethttpomithttp2
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.7
# A commit without a tag has a version that is older than every release.
VERSION     ?= $(shell v=$$(git describe --tags --always --dirty 2>/dev/null || echo unknown); \
	case $$v in (v*-g*|*-dirty|[!v]*) echo 0.0.0-dev+$$v;; (*) echo $$v;; esac)
LDFLAGS     := -s -w -X github.com/pyplug/pyplug/commands.Version=$(VERSION:v%=%)
# Without inlining, gRPC, TOML, the command line and the search for a Python take 0.8 MiB less, and a call no longer.
SMALL       := $(foreach from,google.golang.org github.com/pelletier github.com/hashicorp github.com/urfave github.com/pyplug/pyplug/interp github.com/pyplug/pyplug/commands,-gcflags=$(from)/...=-l)
BUILD       := CGO_ENABLED=0 $(GO) build -trimpath -tags $(TAGS) $(SMALL) -ldflags "$(LDFLAGS)"

# The race detector needs a C compiler; without one, Go disables cgo.
RACE := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

HOST         = $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)
PACKAGE_TEST = $(GO) test -count=1 -timeout 20m ./packaging -dist $(CURDIR)/dist

.PHONY: help build machine size test test-all test-wine lint vuln cross packages wheel package-test package-smoke bench fuzz attack clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/pyplug
	$(BUILD) -o bin/pyplug .

# -C, because go test prints a test's output only for the current directory.
machine: ## print what the tests find here and what they skip
	@$(GO) test -C runner/runnertest $(RACE) -tags $(TAGS) -count=1 -run '^TestMachine$$'

size: ## print the size of each room
	@$(GO) test -tags $(TAGS) -count=1 -v -run '^TestSize$$' ./commands | sed -n 's/^ *size_test.go:[0-9]*: //p'

# The scripts run the program as users do: with the race detector it takes five
# times as long to start. `go test -race ./commands` alone runs them with it.
# A test program with the race detector would sleep for a second before it exits.
# Most tests wait for processes more than they compute, so three packages run at once.
test: machine ## run every test, with the race detector if there is a C compiler
	@test -n "$(RACE)" || echo "no C compiler found: the tests run without the race detector"
	$(GO) build -tags $(TAGS) -o bin/test/pyplug .
	GORACE=atexit_sleep_ms=0 TEST_PROGRAM=$(CURDIR)/bin/test/pyplug $(GO) test $(RACE) -p 3 -timeout 30m -tags $(TAGS) ./...

# TestScale uses openssh-server and parallel, TestMCPClients npm and PyPI, TestHTTPClients PyPI, TestProxies root, HAProxy
# and nginx, TestStorm PyPI; without them they skip.
test-all: package-test ## run every test, and those that take minutes
	PYPLUG_TEST_LONG=1 $(MAKE) test
	$(MAKE) fuzz
	$(GO) test $(RACE) -count=1 -tags $(TAGS) -run '^TestCheckDies$$' ./commands -moments 60

# Wine needs a chroot of 1.3 GB in PYPLUG_WINE; see packaging/wine.
test-wine: ## run the tests of Windows with Wine; needs root on Debian
	@packaging/wine setup && code=0 || code=$$?; \
	case $$code in (0) ;; (3) echo "skipped"; exit 0;; (*) exit $$code;; esac; \
	GOTMPDIR=$${PYPLUG_WINE:-/var/tmp/pyplug-wine}/tmp packaging/test-windows packaging/wine exec || code=1; \
	packaging/wine down; exit $$code

lint: ## check formatting, go.mod, vet, staticcheck, the workflows and the words
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "not formatted by gofmt:" $$files; exit 1; }
	$(GO) mod tidy -diff
	$(GO) vet -tags $(TAGS) ./...
	$(GO) run $(STATICCHECK) -tags $(TAGS) ./...
	$(GO) run $(ACTIONLINT)
	$(GO) test -tags $(TAGS) -run '^TestWords$$' ./docs

vuln: ## look for known vulnerabilities, at vuln.go.dev
	$(GO) run $(GOVULNCHECK) -tags $(TAGS) ./...

# vet also compiles the tests. With the flags of the build, both share the cache.
cross: ## build for macOS and Windows, and compile the tests for them
	@set -e; for target in darwin/arm64 windows/amd64; do \
		export GOOS=$${target%/*} GOARCH=$${target#*/} CGO_ENABLED=0; \
		exe=; test $$GOOS != windows || exe=.exe; \
		echo "$$target"; \
		$(BUILD) -o bin/pyplug-$$GOOS-$$GOARCH$$exe .; \
		$(GO) vet -trimpath -tags $(TAGS) $(SMALL) ./...; \
	done

# The same commit gives the same bytes: every file in a package has the time of the commit.
packages: FORMATS ?= wheel archive deb rpm apk
packages: TARGETS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
packages: ## build dist/: wheels, archives, deb, rpm, apk (VERSION=0.1.0)
	$(package)

wheel: FORMATS = wheel
wheel: TARGETS = $(HOST)
wheel: ## build dist/: the wheel for this machine
	$(package)

# packaging/prepare installs what the tests use; they skip what the machine lacks. As root, they
# install the deb, and remove it again.
package-test: ## build all packages twice; install, use and remove those of this machine
	$(MAKE) packages
	mv dist/checksums.txt bin/package/first.txt
	$(MAKE) packages
	cmp dist/checksums.txt bin/package/first.txt
	$(PACKAGE_TEST)

package-smoke: ## the same for the wheel and the deb alone
	$(MAKE) packages FORMATS="wheel deb" TARGETS=$(HOST)
	$(PACKAGE_TEST) -short -run '^TestPackages$$/^(pip|deb)$$'

define package
	@$(GO) run ./packaging "$(VERSION)"
	@set -e; for target in $(TARGETS); do \
		os=$${target%/*} arch=$${target#*/} exe=; test $$os != windows || exe=.exe; \
		echo "$$target"; \
		GOOS=$$os GOARCH=$$arch $(BUILD) -o bin/package/$$os-$$arch/pyplug$$exe .; \
	done
	@SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 1767225600)} \
		$(GO) run ./packaging "$(VERSION)" $(FORMATS) $(TARGETS)
endef

bench: ## run every benchmark
	$(GO) test -timeout 30m -run '^$$' -bench . -benchmem -tags $(TAGS) ./...

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
