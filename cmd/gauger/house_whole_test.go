package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// What can only be judged by the whole tree: permissions that nobody uses any more.

// use notes an import.
func (j *houseJudge) use(room string, test bool, imported string) {
	if test {
		imported = houseTests + imported
	}
	houseAdd(j.used, room, imported)
}

// unused finds permissions of the table and of the fences that nobody uses.
func (j *houseJudge) unused() {
	for room, rules := range houseRooms {
		for _, other := range strings.Fields(rules.may) {
			if !j.used[room]["gauger/"+other] {
				j.fault(room, "may import %s and does not: take it out of the table", other)
			}
		}
		for _, other := range strings.Fields(rules.tests) {
			if !j.used[room][houseTests+"gauger/"+other] {
				j.fault(room, "its tests may import %s and do not: take it out of the table", other)
			}
		}
	}
	for _, fence := range houseFences {
		for _, room := range strings.Fields(fence.rooms) {
			if !j.usesModule(room, fence.module) {
				j.fault(fence.module, "may be used in %s and is not: take it out of the fence", room)
			}
		}
	}
}

// usesModule says whether a room imports something of a module; houseTests stands for the tests of whichever room.
func (j *houseJudge) usesModule(room, module string) bool {
	for user, imports := range j.used {
		for imported := range imports {
			ofTest, test := strings.CutPrefix(imported, houseTests)
			if (ofTest == module || strings.HasPrefix(ofTest, module+"/")) && (user == room || test && room == houseTests) {
				return true
			}
		}
	}
	return false
}

// TestHouseSeesWhatIsUnused gives the judge one package that uses one of its permissions.
func TestHouseSeesWhatIsUnused(t *testing.T) {
	const source = "// Package tank decides.\npackage tank\n"
	j, err := houseWalk(fstest.MapFS{
		"agent/tank/a.go":           {Data: []byte(source + "import _ \"gauger/agent/tank/codec\"\n")},
		"outbox/a.go":               {Data: []byte("// Package outbox keeps.\npackage outbox\nimport _ \"go.etcd.io/bbolt\"\n")},
		"collectors/mqtt/a_test.go": {Data: []byte("package mqtt\nimport _ \"github.com/mochi-mqtt/server/v2/listeners\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	j.unused()
	faults := strings.Join(j.sorted(), "\n")
	for fault, want := range map[string]bool{
		"agent/tank: may import agent/tank/stats and does not":                   true,
		"agent/tank: may import agent/tank/codec and does not":                   false,
		"agent/tank: its tests may import agent/tank/tanktest and do not":        true,
		"go.etcd.io/bbolt: may be used in deploy/bench/outbox and is not":        true,
		"go.etcd.io/bbolt: may be used in outbox and is not":                     false,
		"github.com/mochi-mqtt/server/v2: may be used in cmd/wellsim and is not": true,
		"github.com/mochi-mqtt/server/v2: may be used in (tests) and is not":     false,
	} {
		if strings.Contains(faults, fault) != want {
			t.Errorf("%q is told: %v, want %v", fault, !want, want)
		}
	}
}
