package main

import (
	"fmt"
	"testing"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// What a file alone tells of the levels of now is told before it is loaded: not where the level is read otherwise, nor in percent.
func TestALevelAboveANewHeightIsForeseen(t *testing.T) {
	site := func(height tank.Length, unit string) *config.Config {
		cfg, err := config.Parse("site.yaml", []byte(fmt.Sprintf(`site: Cooper
id: C
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: UTC
service: {url: "http://127.0.0.1:1", primary_key: {env: K}}
devices:
  - {name: plc, modbus: "tcp://127.0.0.1:1", unit: 1, points: [{name: l, holding: 1, unit: %s}]}
tanks:
  - {id: TK-1, level: plc/l, height: %gin, diameter: 144in, purchaser: Acme}
`, unit, float64(height))), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	now := control.Status{Tanks: []ledger.TankStatus{{ID: "TK-1", Level: new(171.9)}}}
	got := foreseen(now, site(240, "in"), site(156, "in"))
	if len(got) != 1 || got[0] != "TK-1 stands at 14-04-0 (171.9 in), above its new height of 13-00-0 (156 in): it would have no level, and no load would be seen" {
		t.Errorf("%q", got)
	}
	for what, says := range map[string][]string{"high enough": foreseen(now, site(240, "in"), site(180, "in")), "in percent": foreseen(now, site(240, "percent"), site(156, "percent")),
		"read otherwise": foreseen(now, site(240, "in"), site(156, "mm")), "no level": foreseen(control.Status{Tanks: []ledger.TankStatus{{ID: "TK-1"}}}, site(240, "in"), site(156, "in"))} {
		if says != nil {
			t.Errorf("%s: %q", what, says)
		}
	}
}
