# linerate: build it, see it, test it. Every target works in a fresh clone, as
# root and as an ordinary user, again and again, and without network once what
# it needs is there.

# The toolchain is the machine's own; GOFLAGS and the caches are the caller's.
export GOTOOLCHAIN := local

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X linerate/internal/version.Version=$(VERSION)

# How long a server is under load in make soak: 8h is a night.
soak: export LINERATE_SOAK ?= 10m

# How long hostile clients are at work in make hostile.
hostile: export LINERATE_HOSTILE ?= 30m

.PHONY: help build agent demo test long machines faults soak hostile cross fuzz audit bench release clean setup

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST)

build: ## bin/linerate: one static binary
	@script/setup build
	CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags '$(LDFLAGS)' -o bin/linerate ./cmd/linerate
	CGO_ENABLED=0 go build -trimpath -buildvcs=auto -ldflags '$(LDFLAGS)' -o bin/linerate-agent ./cmd/agent
	CGO_ENABLED=0 go build -trimpath -buildvcs=auto -tags carried -ldflags '$(LDFLAGS)' -o bin/linerate-carried ./cmd/agent
	go run ./script/attach bin/linerate bin/linerate-agent bin/linerate-carried

agent: ## bin/linerate-linux-$ARCH: what hosts of another architecture execute (ARCH=arm64)
	CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) go build -trimpath -buildvcs=auto -tags carried -ldflags '$(LDFLAGS)' -o bin/linerate-linux-$(ARCH) ./cmd/agent

demo: build ## the first question answered on this machine: about four minutes after the build
	@script/demo

test: ## everything that is checked before a change is taken
	@script/test

machines: ## the tests that boot machines with other kernels and drivers: user-mode Linux and QEMU
	@script/machines

faults: ## plant faults in labs and have doctor find each; writes docs/results/faults.md
	@script/setup test
	LINERATE_REQUIRE_NETNS=1 LINERATE_LONG=1 go test -v -count=1 -timeout 1800s ./internal/host/hoststate -update
	go test -count=1 ./internal/show/wording -update

long: build ## what make test leaves out: whole studies, waits, the recipes of CONTRIBUTING.md, the portable code
	@script/setup test
	LINERATE_REQUIRE_NETNS=1 LINERATE_LONG=1 go test -v -count=1 -p 1 -timeout 1200s -run "^($$(script/marked Long))$$" ./internal/control/run ./internal/show/cli
	script/first-use
	LINERATE_HOSTILE=10m LINERATE_REQUIRE_NETNS=1 go test -v -count=1 -timeout 0 -run 'TestAdversary' ./internal/show/cli
	go test -count=1 -timeout 890s ./internal/arch/recipes
	LINERATE_REQUIRE_NETNS=1 go test -race -short -count=1 -p 1 -timeout 890s ./internal/control/run ./internal/control/measure ./internal/control/archive ./internal/control/notebook/sqlite ./internal/host/apply ./internal/host/hoststate
	LINERATE_REQUIRE_NETNS=1 go test -race -count=1 -p 1 -timeout 890s ./internal/host/application ./internal/host/forward ./internal/host/frames ./internal/host/linkemu ./internal/host/stream ./internal/host/traffic ./internal/host/transaction
	script/portable

soak: ## the tests that take minutes or hours, in network namespaces (LINERATE_SOAK=10m)
	@script/setup test
	LINERATE_REQUIRE_NETNS=1 go test -v -count=1 -timeout 0 -run 'TestTuneBothBuffers|TestTuneKilled|TestSoak|TestFew|TestControlGroups|TestSlowStreams' ./internal/show/cli ./internal/host/iperf3/server

hostile: ## hostile clients of every protocol (LINERATE_HOSTILE=30m), hostile documents and files, fuzzing
	@script/setup test
	LINERATE_REQUIRE_NETNS=1 go test -v -count=1 -timeout 0 -run 'TestAdversary' ./internal/show/cli
	LINERATE_REQUIRE_NETNS=1 go test -count=1 -run 'TestCost|TestHostile|TestCanaries|TestFixesQuote|TestSwapped|TestForeign' ./internal/...
	script/fuzz

cross: ## compile, or check the types of everything, for every system linerate is made for
	@script/cross

fuzz: ## each fuzz target for a short while (FUZZTIME=30000x)
	@script/fuzz

audit: ## simulate the statistics over thousands of runs; writes docs/results/audit.md
	@script/setup build
	go test -trimpath -count=1 -timeout 14400s -run TestTables ./internal/science/audit -update

bench: build ## measure against other tools; writes docs/results/benchmarks.md, unless BENCH='-only …'
	@script/setup bench
	CGO_ENABLED=0 go build -o bin/bench ./script/bench
	PATH="$$PWD/bin/peers:$$PATH" timeout --kill-after=30 2400 bin/bench $(BENCH)

release: ## dist/: static archives, .deb and .rpm packages, checksums; installed and run in a test
	@script/setup release
	cd script/release && go run . -version $(VERSION) -out ../../dist
	cd script/release && LINERATE_RELEASE_ALL=1 go test -count=1 -timeout 1200s .

setup: ## install what is missing (as root), or say what is
	@script/setup test

clean: ## remove what was built, not what was measured
	rm -rf bin dist
