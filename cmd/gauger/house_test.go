package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"gauger/agent/eventrules"
)

// Bars of the house, in lines.
const (
	houseFileLines = 400
	houseFuncLines = 80
)

// houseRoom is one package's line in the table: which of our rooms it may import, and why so.
type houseRoom struct {
	may   string // rooms, separated by blanks
	tests string // rooms that only its tests may import besides
	why   string
}

// houseRooms lists every package there may be. A new one fails until its line is written here.
var houseRooms = map[string]houseRoom{
	"collectors":              {why: "the words of the gathering side; every collector stands on them, so they stand on nothing"},
	"collectors/doors":        {why: "who may come in through a listener; it knows no protocol, so that page, socket and shares can stand behind it"},
	"outbox":                  {may: "outbox/boltfile outbox/receipts outbox/disk", tests: "outbox/outboxtest outbox/preflight deploy/proof", why: "a general store that knows neither tanks nor the service, and can be proven alone"},
	"agent/tank":              {may: "agent/tank/codec agent/tank/stats", tests: "agent/tank/tanktest", why: "decides money; pure, so that the compiler guards it: the standard library and its own leaves only"},
	"agent/plot":              {may: "agent/tank", why: "draws what it is given; it knows gauges and strapping tables, and not where levels come from"},
	"agent/flash":             {why: "spares the memory card: what nonsense may cost, and what is written; it knows no device and no stream"},
	"agent/memory":            {why: "keeps the program small; it knows the runtime and the kernel, and nothing of ours"},
	"agent/filling":           {why: "when a tank will be full, from levels alone; pure, so that simulated days judge it"},
	"agent/link":              {why: "spares the link; it knows of a stream its name and its class only"},
	"agent/cloud":             {may: "agent/cloud/keys", tests: "agent/cloud/cloudtest", why: "the service's web interface; the drain acts on the receipt's class alone"},
	"config":                  {may: "agent/fleet collectors collectors/modbus collectors/mqtt collectors/sim collectors/host config/strapping agent/tank agent/cloud", why: "assembles the option structs of the leaf rooms"},
	"config/strapping":        {may: "agent/tank collectors", why: "what a strapping sheet says; it knows no configuration, so that who asks for the file can try it at once"},
	"config/draft":            {may: "agent/cloud agent/dialogue agent/tank collectors collectors/modbus collectors/modbus/maps collectors/mqtt config config/strapping", why: "asks for what a new site's file says, and writes it; what is on the wire it is told"},
	"cmd/gauger":              {may: "agent agent/apply agent/audit agent/bundle agent/clock agent/flash agent/control agent/ledger agent/console agent/memory agent/page agent/recorder agent/tank agent/plot agent/cloud agent/cloud/keys agent/link config config/draft outbox outbox/disk outbox/preflight collectors collectors/modbus collectors/modbus/line collectors/modbus/maps collectors/modbus/survey collectors/mqtt collectors/sim collectors/host agent/commission agent/dialogue agent/fleet", tests: "agent/cloud/cloudtest collectors/addresstest collectors/modbus/modbustest deploy/proof", why: "the one place that knows everybody"},
	"cmd/wellsim":             {may: "collectors/sim collectors/addresstest collectors/modbus/modbustest agent/cloud/cloudtest", why: "the simulated site; it must not share the agent's own idea of a ticket"},
	"agent":                   {may: "collectors outbox agent/clock agent/ledger agent/cloud agent/eventrules", tests: "agent/control agent/ledger/ledgertest agent/tank agent/cloud/cloudtest agent/cloud/keys deploy/proof", why: "starts and stops every worker; which collectors there are is decided above it"},
	"agent/control":           {may: "collectors outbox agent/audit agent/clock agent/flash agent/ledger agent/cloud agent/cloud/keys agent/link agent/recorder agent/eventrules", tests: "agent agent/ledger/ledgertest agent/cloud/cloudtest", why: "answers people and programs; nothing below knows that somebody asks"},
	"agent/ledger":            {may: "collectors outbox agent/clock agent/filling agent/flash agent/recorder agent/tank agent/tankbook agent/cloud agent/eventrules", tests: "collectors/sim", why: "turns readings into records; of the service it knows the bodies only"},
	"agent/ledger/ledgertest": {may: "collectors outbox agent/clock agent/flash agent/ledger agent/tank agent/cloud", why: "a ledger on a real outbox, for the tests of the rooms above it"},
	"agent/commission":        {may: "agent/tank collectors collectors/registers", why: "what a hand gauge says of a point; it reads nothing and asks nobody"},
	"agent/dialogue":          {why: "questions to a person, whatever they are about"},
	"agent/clock":             {why: "judges the wall clock; it is given every instant"},
	"agent/page":              {may: "agent/control agent/filling agent/ledger agent/plot agent/tank collectors/doors", tests: "agent/audit agent/cloud agent/cloud/keys agent/flash agent/ledger/ledgertest collectors outbox", why: "the site on a web page, in words and drawings; what is so, control says"},
	"agent/console":           {may: "agent/control collectors collectors/doors", tests: "agent/clock agent/cloud agent/cloud/keys agent/flash agent/ledger agent/link agent/tank outbox", why: "shows what control answers"},

	"agent/tankbook":      {may: "agent/tank agent/tank/codec agent/tank/stats", tests: "agent/tank/tanktest", why: "the tanks' production days, from what the detector made of them; as pure as it"},
	"agent/tank/codec":    {may: "agent/tank/stats", why: "the binary form of the detector's state and of the tank book"},
	"agent/tank/stats":    {why: "the figures that both reckon with"},
	"agent/tank/tanktest": {may: "agent/tank/stats", why: "true levels; it does not know the detector, so that the detector's own tests can use it"},

	"agent/fleet":          {why: "who has signed a configuration, and which sites take it; it knows nothing of what is in it"},
	"agent/apply":          {may: "agent/control agent/ledger config outbox/disk", why: "judges changes of the configuration by what people see of a site; nothing below knows that it can be exchanged"},
	"agent/bundle":         {may: "agent/cloud agent/cloud/keys config", why: "what leaves a box for support; what its parts say is the commands'"},
	"agent/audit":          {may: "outbox/disk", why: "a trail on disk of who did what; it knows no verb"},
	"agent/recorder":       {may: "collectors outbox/disk", why: "a ring of readings on disk, that can be proven alone"},
	"collectors/registers": {why: "what 16-bit words mean, whichever protocol brings them"},
	"collectors/modbus":    {may: "collectors collectors/modbus/line collectors/modbus/share collectors/registers", tests: "collectors/addresstest collectors/collectorstest collectors/modbus/linetest collectors/modbus/modbustest collectors/modbus/survey", why: "a collector knows the words and its own protocol"},
	"collectors/mqtt":      {may: "collectors collectors/registers collectors/mqtt/sparkplug", tests: "collectors/addresstest collectors/collectorstest deploy/proof", why: "a collector knows the words and its own protocol"},
	"collectors/sim":       {may: "collectors", tests: "collectors/collectorstest", why: "a collector knows the words and its own recording"},
	"collectors/sim/sites": {why: "well sites from physics alone; it must know no detector, so that it can judge one, and never ships"},
	"collectors/host":      {may: "collectors", tests: "collectors/collectorstest", why: "a collector knows the words and its own box"},

	"collectors/mqtt/sparkplug":    {may: "collectors", why: "what a node's messages mean; pure, without a connection"},
	"collectors/collectorstest":    {may: "collectors", why: "what every collector must do"},
	"collectors/addresstest":       {why: "where what is started in a moment may listen"},
	"collectors/modbus/modbustest": {why: "a slave with faults"},
	"collectors/modbus/survey":     {may: "collectors/modbus/line collectors/registers", tests: "collectors/modbus/linetest collectors/modbus/modbustest", why: "asks what no configuration says yet"},
	"collectors/modbus/maps":       {may: "collectors/modbus", why: "points of other programs' lists of tags; it reads no device"},
	"collectors/modbus/share":      {may: "collectors collectors/modbus/line collectors/doors", tests: "collectors/collectorstest collectors/modbus/linetest", why: "hands out answers; who got them, and when, is the poller's"},
	"collectors/modbus/linetest":   {may: "collectors/modbus/modbustest", why: "a witness of a line must share no code with it"},
	"collectors/modbus/line":       {may: "collectors", tests: "collectors/modbus/linetest collectors/modbus/modbustest collectors/registers", why: "requests and answers; it knows of no point, device or poll"},
	"deploy/bench/machine":         {why: "what was written and how much was free, for every bench; it must know none of what is measured"},
	"deploy/bench/modbus":          {may: "collectors collectors/modbus collectors/modbus/line collectors/modbus/modbustest deploy/bench/machine", why: "measures, and never ships"},
	"deploy/bench/mqtt":            {may: "collectors/addresstest deploy/bench/machine", why: "measures, and never ships"},
	"deploy/bench/sites":           {may: "collectors/sim/sites agent/tank", tests: "deploy/proof", why: "judges the program by what it writes, and calibrates the error that the detector claims; never ships"},
	"agent/cloud/keys":             {may: "outbox/disk", tests: "agent/cloud agent/cloud/cloudtest deploy/proof outbox/outboxtest", why: "which key goes with a request; it knows of the service that it renews and logs in"},
	"agent/cloud/cloudtest":        {why: "judges agent/cloud with types of its own, so that a misspelt field there fails here"},
	"outbox/boltfile":              {may: "outbox/disk", why: "reads bbolt's pages by itself, sound or not; it knows no record"},
	"outbox/disk":                  {why: "what os has no function for: reserved blocks, a synced folder, unreadable blocks"},
	"outbox/preflight":             {may: "outbox outbox/receipts", why: "has the file examined by a child before it is opened"},
	"outbox/receipts":              {may: "outbox/disk", why: "what was delivered, and when; it knows no queue"},
	"outbox/outboxtest":            {may: "outbox", why: "a model to compare the outbox with"},
	"deploy/bench/outbox":          {may: "outbox agent agent/ledger agent/cloud agent/cloud/keys agent/cloud/cloudtest deploy/bench/machine", why: "measures beside other stores, in a module of its own, and never ships"},
	"deploy/sbom":                  {why: "reads what Go says of a built program; it must know none of ours"},
	"deploy/proof":                 {why: "which stretch of a long proof is run; for tests of every room"},
	"agent/eventrules":             {why: "names that people at the service filter by; constants and nothing else"},
}

// houseWords may be imported by every room: names alone, that several rooms must spell alike.
const houseWords = "agent/eventrules"

// houseFence keeps a dependency in the rooms that were built round it.
type houseFence struct{ module, rooms, why string }

// houseTests in a fence's rooms admits every test.
const houseTests = "(tests)"

var houseFences = []houseFence{
	{"github.com/goburrow", "collectors/modbus/line deploy/bench/modbus", "its transports mix up answers; only line knows the way round"},
	{"github.com/eclipse/paho.mqtt.golang", "collectors/mqtt deploy/bench/mqtt", "its acknowledgements must wait for the disk"},
	{"github.com/gorilla/websocket", "collectors/mqtt", "it reads an answer's head without a limit; dial.go sets one"},
	{"go.etcd.io/bbolt", "outbox deploy/bench/outbox", "one file, one owner"},
	{"github.com/tidwall/wal", "deploy/bench/outbox", "a store to be measured beside"},
	{"modernc.org/sqlite", "deploy/bench/outbox", "a store to be measured beside"},
	{"github.com/open-telemetry", "deploy/bench/outbox", "a store to be measured beside"},
	{"go.opentelemetry.io/collector", "deploy/bench/outbox", "the file storage is made through it"},
	{"go.uber.org/zap", "deploy/bench/outbox", "the file storage wants its logger"},
	{"github.com/cenkalti/backoff/v4", "outbox agent/cloud/keys", "only what speaks with the service waits for it"},
	{"go.yaml.in/yaml/v3", "config", "one reader of the configuration"},
	{"github.com/spf13", "cmd/gauger", "one command line; the other programs have none to speak of"},
	{"github.com/rs/zerolog", "agent agent/ledger agent/ledger/ledgertest agent/console cmd/gauger", "ground rooms return errors; the top logs them once"},
	{"github.com/mochi-mqtt/server/v2", "cmd/wellsim " + houseTests, "a broker never ships"},
	{"github.com/rogpeppe/go-internal", houseTests, "a test's tool"},
	{"github.com/prometheus", houseTests, "judges the metrics; as their writer it was 2 MB of program"},
	{"golang.org/x/crypto", "agent/fleet", "a hash that the standard library has not; keys and certificates are Go's own"},
	{"golang.org/x/sys", "collectors/modbus/line collectors/modbus/modbustest deploy/bench/machine deploy/bench/modbus collectors/host outbox outbox/disk outbox/outboxtest deploy/bench/outbox agent agent/console cmd/gauger", "system calls; never where money is decided"},
}

var (
	houseBadNames = []string{"util", "utils", "common", "helpers", "types", "base", "misc"}
	houseMark     = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`)
	housePath     = regexp.MustCompile(`(^|[\s"'` + "`" + `=:(,])/(home|Users|root|work)/\w`) // on one person's machine only
)

// houseJudge reads the whole tree and returns every fault, each as "place: what is wrong".
type houseJudge struct {
	tree     fs.FS
	fset     *token.FileSet
	faults   []string
	spoken   map[string]bool             // packages, and whether one of their files has the package comment
	listed   map[string]*eventrules.Rule // by the constant
	told     map[string][]string         // by the constant of an event rule: the rooms that use it
	takers   map[string]int              // functions that take an event's rule, and as which parameter
	calls    []houseCall
	files    map[string][]string // of a room, tests apart
	comments map[string]string   // package comments
	names    houseNames
	used     map[string]map[string]bool // by the room: what it imports, with houseTests before what only its tests do
}

// houseFaults judges a tree, or a part of one.
func houseFaults(tree fs.FS) ([]string, error) {
	j, err := houseWalk(tree)
	return j.sorted(), err
}

func (j *houseJudge) sorted() []string {
	slices.Sort(j.faults)
	return slices.Compact(j.faults)
}

func houseWalk(tree fs.FS) (*houseJudge, error) {
	j := &houseJudge{tree: tree, fset: token.NewFileSet(), spoken: map[string]bool{}, listed: map[string]*eventrules.Rule{}, told: map[string][]string{}, takers: map[string]int{}, used: map[string]map[string]bool{}, files: map[string][]string{}, comments: map[string]string{}, names: houseNames{map[string]bool{}, map[string]string{}}}
	err := fs.WalkDir(tree, ".", j.visit)
	for room, spoken := range j.spoken {
		if _, known := houseRooms[room]; !known {
			j.fault(room, "unknown package: write its line into the table of house_test.go")
		}
		if !spoken {
			j.fault(room, "no package comment")
		}
	}
	j.tellers()
	j.called()
	return j, err
}

func (j *houseJudge) fault(place, format string, args ...any) {
	j.faults = append(j.faults, place+": "+fmt.Sprintf(format, args...))
}

func (j *houseJudge) visit(name string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() {
		if slices.Contains([]string{".git", "bin", "dist"}, name) {
			return fs.SkipDir
		}
		return nil
	}
	if !entry.Type().IsRegular() || path.Ext(name) == ".sum" || name == ".git" { // a file in a second work tree
		return nil
	}
	text, err := fs.ReadFile(j.tree, name)
	if err != nil || !utf8.Valid(text) {
		return err
	}
	j.words(name, string(text))
	if path.Ext(name) == ".go" {
		return j.source(name, text)
	}
	return nil
}

// words judges what holds for every file of text.
func (j *houseJudge) words(name, text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if mark := houseMark.FindString(line); mark != "" {
			j.fault(fmt.Sprintf("%s:%d", name, number), "%s: finish it or take it out", mark)
		}
		if housePath.MatchString(line) {
			j.fault(fmt.Sprintf("%s:%d", name, number), "a path of one person's machine")
		}
	}
	if path.Ext(name) == ".go" && number > houseFileLines {
		j.fault(name, "%d lines, at most %d: split it by noun", number, houseFileLines)
	}
	if slices.Contains(houseBadNames, strings.TrimSuffix(path.Base(name), ".go")) {
		j.fault(name, "a name that says nothing")
	}
}

// source judges one Go file.
func (j *houseJudge) source(name string, text []byte) error {
	file, err := parser.ParseFile(j.fset, name, text, parser.ParseComments)
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	room, test := path.Dir(name), strings.HasSuffix(name, "_test.go")
	if slices.Contains(houseBadNames, file.Name.Name) {
		j.fault(name, "package %s: a name that says nothing", file.Name.Name)
	}
	if !test {
		j.spoken[room] = j.spoken[room] || houseSpeaks(file)
		j.files[room] = append(j.files[room], path.Base(name))
		j.comments[room] += file.Doc.Text()
	}
	for _, spec := range file.Imports {
		if _, known := houseRooms[room]; !known {
			break // an unknown package is one fault, not one for each import
		}
		j.imports(name, room, test, strings.Trim(spec.Path.Value, `"`))
	}
	j.functions(file)
	j.names.note(j.fset, name, file)
	if test {
		j.sleeps(file)
	} else {
		j.rules(room, file)
	}
	return nil
}

// houseSpeaks reports a package comment in Go's form; a command's may begin with its own name.
func houseSpeaks(file *ast.File) bool {
	doc := file.Doc.Text()
	return strings.HasPrefix(doc, "Package "+file.Name.Name+" ") || file.Name.Name == "main" && doc != ""
}

func (j *houseJudge) imports(name, room string, test bool, imported string) {
	j.use(room, test, imported)
	if inside, ours := strings.CutPrefix(imported, "gauger/"); ours {
		rules := houseRooms[room]
		allowed := strings.Fields(rules.may + " " + houseWords)
		if test {
			allowed = append(append(allowed, room), strings.Fields(rules.tests)...)
		}
		if !slices.Contains(allowed, inside) {
			j.fault(name, "%s must not import %s: %s", room, inside, rules.why)
		}
		return
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return
	}
	for _, fence := range houseFences {
		if imported != fence.module && !strings.HasPrefix(imported, fence.module+"/") {
			continue
		}
		rooms := strings.Fields(fence.rooms)
		if !slices.Contains(rooms, room) && !(test && slices.Contains(rooms, houseTests)) {
			j.fault(name, "%s must not import %s: %s", room, imported, fence.why)
		}
		return
	}
	j.fault(name, "%s is a dependency that the table does not name", imported)
}

func (j *houseJudge) functions(file *ast.File) {
	for _, declared := range file.Decls {
		f, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		from, to := j.fset.Position(f.Pos()), j.fset.Position(f.End())
		if lines := to.Line - from.Line + 1; lines > houseFuncLines {
			j.fault(fmt.Sprintf("%s:%d", from.Filename, from.Line), "%s has %d lines, at most %d", f.Name.Name, lines, houseFuncLines)
		}
	}
}

// sleeps finds time.Sleep in a test under whatever name the package was imported.
func (j *houseJudge) sleeps(file *ast.File) {
	clock := ""
	for _, spec := range file.Imports {
		if spec.Path.Value == `"time"` {
			clock = "time"
			if spec.Name != nil {
				clock = spec.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.SelectorExpr)
		if !ok || call.Sel.Name != "Sleep" {
			return true
		}
		if x, ok := call.X.(*ast.Ident); ok && x.Name == clock {
			at := j.fset.Position(call.Pos())
			j.fault(fmt.Sprintf("%s:%d", at.Filename, at.Line), "a test that sleeps: wait for what should happen")
		}
		return true
	})
}

// TestHouse holds the tree as it is against the rules.
func TestHouse(t *testing.T) {
	j, err := houseWalk(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	j.whole()
	for _, fault := range j.sorted() {
		t.Error(fault)
	}
}

// TestHouseTable asks that the table itself be whole: reasons given, rooms spelt as they are.
func TestHouseTable(t *testing.T) {
	for name, room := range houseRooms {
		if room.why == "" {
			t.Errorf("%s: no reason", name)
		}
		for _, other := range strings.Fields(room.may + " " + room.tests) {
			if _, known := houseRooms[other]; !known {
				t.Errorf("%s may import %s, which is no room", name, other)
			}
		}
	}
	for _, fence := range houseFences {
		for _, room := range strings.Fields(fence.rooms) {
			if _, known := houseRooms[room]; !known && room != houseTests {
				t.Errorf("the fence of %s names %s, which is no room", fence.module, room)
			}
		}
	}
}

// TestHouseSeesFaults gives the judge small trees with one fault each: a rule that finds nothing proves nothing.
func TestHouseSeesFaults(t *testing.T) {
	const tank = "// Package tank decides.\npackage tank\n"
	cases := []struct{ name, file, text, want string }{
		{"clean", "agent/tank/a.go", tank, ""},
		{"clean test", "collectors/mqtt/a_test.go", "package mqtt\nimport _ \"github.com/mochi-mqtt/server/v2/listeners\"\n", ""},
		{"unknown package", "agent/pump/a.go", "// Package pump pumps.\npackage pump\n", "agent/pump: unknown package"},
		{"no package comment", "agent/tank/a.go", "package tank\n", "agent/tank: no package comment"},
		{"comment of another", "agent/tank/a.go", "// Tanks.\npackage tank\n", "agent/tank: no package comment"},
		{"upward import", "agent/tank/a.go", tank + `import _ "gauger/collectors"`, "agent/tank must not import collectors"},
		{"fence", "agent/tank/a.go", tank + `import _ "go.etcd.io/bbolt"`, "agent/tank must not import go.etcd.io/bbolt"},
		{"fence in a test", "agent/tank/a_test.go", "package tank\nimport _ \"github.com/goburrow/serial\"\n", "must not import github.com/goburrow/serial"},
		{"test's tool", "agent/tank/a.go", tank + `import _ "github.com/rogpeppe/go-internal/testscript"`, "must not import github.com/rogpeppe"},
		{"new dependency", "agent/tank/a.go", tank + `import _ "example.com/x"`, "example.com/x is a dependency"},
		{"long file", "agent/tank/a.go", tank + strings.Repeat("\n", 399), "401 lines"},
		{"long function", "agent/tank/a.go", tank + "func F() {" + strings.Repeat("\n", 80) + "}", "F has 81 lines"},
		{"sleep", "agent/tank/a_test.go", "package tank\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", "a_test.go:3: a test that sleeps"},
		{"renamed sleep", "agent/tank/a_test.go", "package tank\nimport c \"time\"\nvar f = c.Sleep\n", "a_test.go:3: a test that sleeps"},
		{"mark", "deploy/x.sh", "# TO" + "DO later\n", "deploy/x.sh:1: TO" + "DO"},
		{"somebody's folder", "deploy/x.sh", "cd /ho" + "me/ann/gauger\n", "deploy/x.sh:1: a path of one person's machine"},
		{"empty name", "agent/tank/util.go", tank, "agent/tank/util.go: a name that says nothing"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			faults, err := houseFaults(fstest.MapFS{c.file: {Data: []byte(c.text)}})
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && len(faults) > 0 || c.want != "" && (len(faults) != 1 || !strings.Contains(faults[0], c.want)) {
				t.Errorf("faults %q, want one with %q", faults, c.want)
			}
		})
	}
}
