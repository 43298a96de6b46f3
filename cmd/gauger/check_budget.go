package main

import (
	"fmt"
	"io"

	"gauger/collectors/modbus"
)

// lineBudget is the time that the devices of one line take (ms), as JSON.
type lineBudget struct {
	Line    string         `json:"line"`
	Round   float64        `json:"round_ms"`
	Silent  float64        `json:"round_with_one_silent_ms"`
	Load    float64        `json:"load"`
	Loading float64        `json:"load_while_loading"`
	Devices []deviceBudget `json:"devices"`
}

type deviceBudget struct {
	Device   string          `json:"device"`
	Unit     int             `json:"unit"`
	Every    float64         `json:"every_ms"`
	Hurried  float64         `json:"every_while_loading_ms,omitempty"`
	Round    float64         `json:"round_ms"`
	Load     float64         `json:"load"`
	Requests []requestBudget `json:"requests"`
}

type requestBudget struct {
	Table  string  `json:"table"`
	From   int     `json:"from"`
	To     int     `json:"to"`
	Points int     `json:"points"`
	Gaps   int     `json:"gaps"`
	Again  bool    `json:"again,omitempty"`
	Takes  float64 `json:"ms"`
}

func newLineBudgets(all []modbus.Budget) []lineBudget {
	out := []lineBudget{}
	for _, b := range all {
		line := lineBudget{Line: b.Line, Round: milliseconds(b.Round), Silent: milliseconds(b.Silent), Load: b.Load, Loading: b.Loading}
		for _, s := range b.Shares {
			device := deviceBudget{Device: s.Device, Unit: s.Unit, Every: milliseconds(s.Every), Hurried: milliseconds(s.Hurried), Round: milliseconds(s.Round), Load: s.Load}
			for _, r := range s.Requests {
				device.Requests = append(device.Requests, requestBudget{r.Table, r.From, r.To, r.Points, r.Gaps, r.Again, milliseconds(r.Takes)})
			}
			line.Devices = append(line.Devices, device)
		}
		out = append(out, line)
	}
	return out
}

// printBudgets prints a line of text for each Modbus line, and with the plan one for each request.
func printBudgets(w io.Writer, all []modbus.Budget, plan bool) error {
	t := newTable(w)
	for _, b := range all {
		requests := 0
		for _, s := range b.Shares {
			requests += len(s.Requests)
		}
		t.printf("line %s: %s in a round of %s, %.3g %% of its time", b.Line, countText(requests, "request"), durationText(b.Round), 100*b.Load)
		if b.Loading > b.Load {
			t.printf(", %.3g %% while tanks are hauled", 100*b.Loading)
		}
		t.printf("; %s at worst with a unit silent\n", durationText(b.Silent))
		if plan {
			printPlan(t, b)
		}
	}
	return t.Flush()
}

func printPlan(t *table, b modbus.Budget) {
	for _, s := range b.Shares {
		t.printf("  %s, unit %d, every %s: %s, %.3g %%\n", s.Device, s.Unit, s.Every, durationText(s.Round), 100*s.Load)
		for _, r := range s.Requests {
			why := columns{countText(r.Points, "point"), durationText(r.Takes)}
			switch {
			case r.Again:
				why = append(why, "again, to compare (verify: twice)")
			case r.Gaps > 0:
				why = append(why, fmt.Sprintf("reads across %d that nobody wants", r.Gaps))
			}
			t.printf("    %s %d%s\t%s\n", r.Table, r.From, when(r.To != r.From, fmt.Sprintf("-%d", r.To)), why)
		}
	}
}
