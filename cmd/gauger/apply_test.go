package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// onTank is a site with one tank, whose device is on port 1 unless another is named.
func onTank(t *testing.T) func(height tank.Length, unit string, port ...string) *config.Config {
	return func(height tank.Length, unit string, port ...string) *config.Config {
		cfg, err := config.Parse("site.yaml", []byte(fmt.Sprintf(`site: Cooper
id: C
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: UTC
service: {url: "http://127.0.0.1:1", primary_key: {env: K}}
devices:
  - {name: plc, modbus: "tcp://127.0.0.1:%s", unit: 1, points: [{name: l, holding: 1, unit: %s}]}
tanks:
  - {id: TK-1, level: plc/l, height: %gin, diameter: 144in, purchaser: Acme}
`, append(port, "1")[0], unit, float64(height))), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
}

// What a file alone tells of the levels of now is told before it is loaded: not where the level is read otherwise, nor in percent.
func TestALevelAboveANewHeightIsForeseen(t *testing.T) {
	site := onTank(t)
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

// Who corrects how a tank is measured is told which tickets have left by the old figures, and what they would be where a file tells that.
func TestTicketsOfOldFiguresAreNamed(t *testing.T) {
	site, at := onTank(t), time.Date(2026, 3, 20, 0, 0, 0, 0, time.UTC)
	ticket := func(number string, days int) ledger.TicketRecord {
		end := at.AddDate(0, 0, -days)
		return ledger.TicketRecord{Number: number, Tank: "TK-1", Seq: 1, End: end, Load: &tank.Load{Open: 120, Close: 24, GaugeBbl: 161.14}}
	}
	all := []ledger.TicketRecord{ticket("A-OLD", 31), ticket("A-1", 3), ticket("A-VOID", 2)}
	all[2].Voided = "ann"
	told := func(old, now *config.Config) string { return strings.Join(outdated(all, old, now, "new.yaml", at), "") }
	const want = "TK-1: tickets of the last 30 days were written with the old figures: A-1 (161.1 bbl, would be 151.1). `gauger backtest -c new.yaml --against sent` shows"
	if got := told(site(192, "percent"), site(180, "percent")); !strings.HasPrefix(got, want) {
		t.Errorf("a height in percent: %q", got)
	}
	if got := told(site(192, "in"), site(192, "cm")); !strings.Contains(got, "old figures: A-1 (161.1 bbl). `gauger") {
		t.Errorf("read otherwise: %q", got)
	}
	if got := told(site(192, "in"), site(180, "in")) + told(site(192, "in"), site(192, "in")); got != "" {
		t.Errorf("the same barrels: %q", got)
	}
	if got := told(site(192, "in"), site(192, "in, scale: 2")); !strings.Contains(got, "old figures: A-1 (161.1 bbl). `gauger") {
		t.Errorf("another scale: %q", got)
	}
	if got := told(site(192, "in"), site(192, "in", "2")); got != "" {
		t.Errorf("another port of the device changes no figure: %q", got)
	}
	two := func(port, other string) *config.Config {
		cfg := site(192, "in", port)
		second := site(192, "in", other)
		second.Devices[0].Name, second.Tanks[0].ID, second.Tanks[0].Level = "plc2", "TK-2", "plc2/l"
		cfg.Devices, cfg.Tanks = append(cfg.Devices, second.Devices[0]), append(cfg.Tanks, second.Tanks[0])
		return cfg
	}
	if got := told(two("1", "2"), two("2", "1")); !strings.Contains(got, "old figures: A-1 (161.1 bbl). `gauger") {
		t.Errorf("the ports of two tanks' devices were exchanged: %q", got)
	}
}

// A change that makes much worse is told by the costliest alone, once: what is said of it besides, and its figures, may change each second.
func TestTheCostliestIsToldOnce(t *testing.T) {
	var out bytes.Buffer
	c, told := &call{out: &out}, ""
	for _, worse := range [][]string{nil, {"tank TK-1 stepped", "a: 1"}, {"tank TK-1 stepped", "a: 2", "b"}, nil, nil} {
		told = tellWorse(c, worse, told)
	}
	if want := "worse than before: tank TK-1 stepped (and 1 more: `gauger apply --history`)\nnothing is worse than before\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
