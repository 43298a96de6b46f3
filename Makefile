# make lists the targets. Everything is built by the Go command; the tools are pinned in deploy/tools.
VERSION := $(shell deploy/version.sh)
# The program that ships: static, without paths of the machine that built it. A plain "go build ./cmd/gauger" makes one that behaves the same.
# What prints, asks and waits, ours and of libraries: inlining within it buys nothing and takes 1.0 of the 20 MB.
CALM := cmd/gauger agent agent/page agent/control agent/ledger config/... agent/commission agent/cloud/... agent/dialogue agent/apply agent/bundle agent/link agent/flash agent/filling agent/clock outbox/preflight agent/console agent/fleet agent/plot agent/audit agent/tankbook collectors/host collectors/sim collectors/modbus/survey collectors/modbus/maps collectors/mqtt/sparkplug
CALMER := net net/netip vendor/golang.org/x/... net/http net/textproto net/url mime/multipart encoding/csv html github.com/gorilla/websocket github.com/spf13/... go.yaml.in/yaml/v3 text/template/... html/template github.com/prometheus/common/... crypto/tls crypto/x509 encoding/asn1
GOBUILD := CGO_ENABLED=0 go build -trimpath -buildvcs=false $(addsuffix =-l,$(addprefix -gcflags=,$(addprefix gauger/,$(CALM)) $(CALMER))) -ldflags "-s -w -X main.version=$(VERSION)"
# Tools are kept apart for each Go: one built by an older Go cannot read a newer one's packages.
TOOLS   := bin/tools/$(shell go env GOVERSION)
LIMIT   := 20000000
FUZZTIME ?= 10s

.PHONY: help build demo test check race fuzz prove prove-modbus prove-judgement bench bench-all bench-programs bench-modbus bench-outbox bench-mqtt bench-flash bench-sites cross package reproduce image vuln clean
.PHONY: prove-kill prove-powercut prove-mutants prove-faults prove-fulldisk prove-sync prove-answers prove-poison prove-keys prove-weeks prove-herd prove-mqtt prove-config prove-apply mutate
help: ## list the targets (this)
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 16

build: ## build gauger and the simulated site into bin/
	@$(GOBUILD) -o bin/ ./cmd/gauger ./cmd/wellsim
	@echo "built bin/gauger and bin/wellsim, $(VERSION)"

demo: build ## show it on a simulated site, in under two minutes (KEEP=1 stays up)
	@bin/wellsim demo --gauger bin/gauger $(if $(KEEP),--keep)

test: ## run every test; says which ones a missing tool left out
	@go test ./...; status=$$?; missing=$$(deploy/missing.sh); \
	  echo "integration tests left out for want of a tool: $${missing:-none}"; exit $$status

check: cross $(TOOLS)/staticcheck ## formatting, vet, staticcheck, house rules, sizes, the arm program, how far the units shut it in
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path './bin/*')); [ -z "$$unformatted" ] || \
	  { echo "not formatted (gofmt -w them):" $$unformatted; exit 1; }
	go vet ./...
	$(TOOLS)/staticcheck ./...
	go test -count=1 -run '^TestHouse' ./cmd/gauger
	deploy/arm_test.sh bin/gauger-linux-armv7 bin/gauger-linux-armv6 bin/gauger-linux-arm64
	deploy/hardening_test.sh

race: ## run every test under the race detector
	CGO_ENABLED=1 go test -race ./...

fuzz: ## run every fuzz target for FUZZTIME (10s)
	@grep -r --include='*_test.go' -o '^func Fuzz[A-Za-z0-9_]*' . | sed 's,/[^/]*_test.go:func , ,' | sort | \
	  while read -r folder target; do \
	    echo "fuzz $$folder $$target"; \
	    go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$folder" || exit 1; \
	  done

SEED ?= 1
FROM ?= 0
# A proof's cases are numbered; the targets below run the cases FROM to FROM+N-1 of the long form and print figures and seed.
PROVE = GAUGER_SEED=$(SEED) GAUGER_FROM=$(FROM) GAUGER_N=$(or $(N),$(1)) go test -count=1 -v -timeout 12h -run '^($(2))$$' $(3)

prove: prove-kill prove-powercut prove-mutants prove-faults prove-sync prove-answers prove-poison prove-keys prove-weeks prove-herd ## every proof of outbox and delivery (SEED=, FROM=, N= cases of each)
prove-kill: ## kill the whole agent at random instants, in every second life while values linger (10,000 cycles)
	$(call PROVE,10000,TestProveKill,./cmd/gauger)
prove-powercut: ## replay power cuts on an honest disk and on one that lies (10,000)
	$(call PROVE,10000,TestProvePowerCut|TestProveLyingDisk,./outbox)
prove-mutants: ## open damaged outbox files (20,000)
	$(call PROVE,20000,TestProveMutants,./outbox)
prove-faults: ## EIO, ENOSPC and short writes at each storage call of a scripted run (all)
	$(call PROVE,100000,TestProveFaults,./outbox)
prove-fulldisk: build ## play the demonstration on a disk that is full
	deploy/fulldisk.sh
prove-sync: ## strace shows a finished sync before every Update returns
	$(call PROVE,200,TestProveSync,./outbox)
prove-answers: ## every status, cut, slow, huge, foreign answer and certificate
	$(call PROVE,100000,TestProveAnswers,./agent)
prove-poison: ## poison records in batches, and a week of refusals (5,000)
	$(call PROVE,5000,TestProvePoison,./outbox)
prove-keys: ## three-year lives of the key ring (10,000)
	$(call PROVE,10000,TestProveKeys,./agent/cloud/keys)
prove-weeks: ## half years of simulated time with weekly outages (10)
	$(call PROVE,10,TestProveWeeks,./agent)
prove-herd: ## 10,000 agents after an outage (10 outages)
	$(call PROVE,10,TestProveHerd,./agent)
prove-config: ## odd but well-formed configurations through check and run (200)
	$(call PROVE,200,TestProveConfig,./cmd/gauger)
prove-apply: ## forty-four bad files, a site each, and every kind of key changed in the middle of loads (100 agents; GAUGER_WATCH=5m)
	$(call PROVE,100,TestProveApply|TestProveChangedKeys,./cmd/gauger)
prove-mqtt: ## kill agent and broker at 500 messages a second, and a million malformed payloads (1,000 kills)
	$(call PROVE,1000,TestProveMQTT.*,./collectors/mqtt ./cmd/gauger)

prove-shards: ## three instances share 300 tanks at a broker, one is killed, a fourth takes over (300 tanks)
	$(call PROVE,300,TestProveShards,./cmd/gauger)

prove-modbus: FRAMES := $(or $(N),10000000)
prove-modbus: ## ten million frames, faults in all mixtures, a thousand replugs of the Modbus lines (N=, SEED=)
	GAUGER_FRAMES=$(FRAMES) GAUGER_SEED=$(SEED) GAUGER_TRIALS=$$(($(FRAMES) / 500)) GAUGER_REPLUGS=1000 GAUGER_DEAD_HOURS=24 \
	  go test -count=1 -v -timeout 2h -run '^(TestEachFaultAlone|TestFaultsTogether|TestFramesMadeAtRandom|TestAnAdapterPulledAndPutBack.*|TestOneOfTenUnitsIsDead|TestTwinsAreCaughtByAskingTwice)$$' ./collectors/modbus ./collectors/modbus/line

prove-judgement: KILLS := $(or $(N),200)
prove-judgement: ## kill the real program (N=200, SEED=), cut and replay recordings: ten made here, or the folders of CASES=
	GAUGER_CASES=$(abspath $(CASES)) GAUGER_KILLS=$(KILLS) GAUGER_CUTS=$$(($(KILLS) * 5 / 2)) GAUGER_SEED=$(SEED) \
	  go test -count=1 -v -timeout 2h -run '^(TestProveKills|TestProveLostRows|TestProveNoHindsight|TestProveRunIsBacktest)$$' ./cmd/gauger
	go test -count=1 -v -run '^(TestLoadInAnUnsetClock|TestStepsOfTheClockAboutALoad|TestDeviceDiesAfterTheEnd|TestRestartBetweenSlowCheckIns)$$' ./agent/ledger
	go test -count=1 -v -run '^(TestThirtyDaysAreBounded|TestQuietWeekIsSeldomStored|TestProgramIsKilled.*)$$' -bench '^BenchmarkNext$$' ./agent/tank

mutate: $(TOOLS)/gremlins ## change the code of DIR= (or its FILES=) a little, over and over: which change does no test notice (minutes to hours)
	@deploy/mutate.sh $(TOOLS)/gremlins "$(DIR)" "$(FILES)" --timeout-coefficient 10 $(MUTATE)

bench: ## run every benchmark
	go test -run '^$$' -bench . -benchmem ./...

bench-all: build cross bench-programs ## rows 1 to 17 as one table with goal and verdict (TELEGRAF= a minimal one, DIR= on the disk; some ten minutes)
	@deploy/bench/all.sh bin/gauger "$(TELEGRAF)" "$(DIR)"

bench-programs:
	@go build -o bin/modbusbench ./deploy/bench/modbus
	@go build -o bin/mqttbench ./deploy/bench/mqtt
	@go build -C deploy/bench/outbox -buildvcs=false -o $(CURDIR)/bin/outboxbench .

bench-modbus: build bench-programs ## measure Modbus beside what theory allows (ROWS=8,9 for some; some five minutes)
	bin/modbusbench -gauger bin/gauger -telegraf "$(TELEGRAF)" -rows "$(ROWS)"

bench-mqtt: build bench-programs ## measure MQTT onto the disk and to a service beside a bare consumer (TELEGRAF= a minimal one; some three minutes)
	bin/mqttbench -gauger bin/gauger -telegraf "$(TELEGRAF)"

bench-flash: build bench-programs ## measure what messages that nobody can decode write to the disk at several rates (some five minutes; DIR= a folder on it)
	bin/mqttbench -gauger bin/gauger -wear "$(or $(DIR),/var/tmp)"

bench-sites: build ## judge the tickets on simulated sites that nobody drew (SEED=1,2,3, N= of each kind, ONLY= part of its name; a minute or so)
	go build -o bin/sitesbench ./deploy/bench/sites
	bin/sitesbench -gauger bin/gauger -seed "$(or $(SEED),1)" -n "$(or $(N),2)" -only "$(ONLY)"

bench-outbox: bench-programs ## measure the outbox beside a raw append, tidwall/wal, SQLite and OpenTelemetry (ROWS=12, SCALE=0.1, DIR=)
	bin/outboxbench -rows "$(ROWS)" $(if $(SCALE),-scale $(SCALE)) $(if $(DIR),-dir $(DIR))

cross: cross-amd64 cross-arm64 cross-armv7 cross-armv6 ## build gauger for linux amd64, arm64, armv7, armv6 into bin/, each at most 20 MB
cross-amd64: MACHINE := GOARCH=amd64
cross-arm64: MACHINE := GOARCH=arm64
cross-armv7: MACHINE := GOARCH=arm GOARM=7
cross-armv6: MACHINE := GOARCH=arm GOARM=6
cross-%:
	@GOOS=linux $(MACHINE) $(GOBUILD) -o bin/gauger-linux-$* ./cmd/gauger
	@size=$$(stat -c %s bin/gauger-linux-$*); echo "bin/gauger-linux-$*: $$size bytes, limit $(LIMIT)"; [ $$size -le $(LIMIT) ]

package: cross $(TOOLS)/nfpm ## make .deb, .rpm and plain archives in dist/ and test them
	deploy/package.sh $(TOOLS)/nfpm $(VERSION)
	deploy/package_test.sh

reproduce: $(TOOLS)/nfpm ## make the packages from two clones and compare the bytes (MACHINES=amd64 for some)
	deploy/reproduce_test.sh $(TOOLS)/nfpm $(MACHINES)

image: cross-amd64 ## make the OCI image of this machine's kind with podman, buildah or docker
	deploy/image.sh amd64

vuln: $(TOOLS)/govulncheck ## look the dependencies up in the Go vulnerability database (needs the network)
	$(TOOLS)/govulncheck ./...

clean: ## delete what was built
	rm -rf bin dist

STATICCHECK := honnef.co/go/tools/cmd/staticcheck
NFPM        := github.com/goreleaser/nfpm/v2/cmd/nfpm
GREMLINS    := github.com/go-gremlins/gremlins/cmd/gremlins
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck
$(TOOLS)/staticcheck: TOOL := $(STATICCHECK)
$(TOOLS)/nfpm: TOOL := $(NFPM)
$(TOOLS)/gremlins: TOOL := $(GREMLINS)
$(TOOLS)/govulncheck: TOOL := $(GOVULNCHECK)
$(TOOLS)/%: deploy/tools/go.mod deploy/tools/go.sum
	go build -C deploy/tools -buildvcs=false -o $(CURDIR)/$@ $(TOOL)
