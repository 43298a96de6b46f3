package main

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gauger/agent/clock"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
)

// newAgentSite turns the configuration into what the ledger has to know.
func newAgentSite(cfg *config.Config) ledger.Site {
	s := ledger.Site{
		Name: cfg.Site, ID: cfg.ID, Object: cfg.Object, ObjectType: cfg.ObjectType, Zone: cfg.Zone,
		ProductionDay: time.Duration(cfg.ProductionDay), Hold: cfg.Tickets.Hold, Linger: cfg.Store.Linger, HoldDoubtful: cfg.Tickets.Review == "hold", LossLimit: cfg.Book.LossLimit,
		Wire: cfg.Service.Wire, Config: cfg.Hash(), OriginOf: makings(cfg),
		Refusals: flash.Limits{Messages: cfg.Store.Refused.Messages, Bytes: int64(cfg.Store.Refused.Bytes), Day: int64(cfg.Store.Refused.Day)},
	}
	s.Wire.Zone = cfg.Zone
	every := map[collectors.Point]time.Duration{}
	objects := map[collectors.Point]config.Device{}
	for p := range cfg.Points() {
		every[p.Point], objects[p.Point] = p.Every, cfg.Devices[p.Device]
	}
	for _, t := range cfg.Tanks {
		s.Tanks = append(s.Tanks, ledger.Tank{
			Tank: t.Model(every[t.Level]), Water: t.Water(), Level: t.Level, Production: t.Production, Valve: t.LoadValve, Interface: t.Interface,
			Top: ledger.Source(t.TopTemperature), Bottom: ledger.Source(t.BottomTemperature),
			Gravity: ledger.Source(t.SpecificGravity), BSW: ledger.Source(t.BSW), Offset: t.Offset,
			Purchaser: t.Purchaser, Comments: t.Comments, Object: t.Object, ObjectType: t.ObjectType,
		})
	}
	for _, e := range cfg.Events {
		s.Rules = append(s.Rules, newRule(e, objects[e.Point]))
	}
	for _, w := range cfg.Wells {
		for _, v := range w.TagValues {
			s.Values = append(s.Values, ledger.Value{Well: w.ID, Code: v.Code, Point: v.Point, Every: v.Every})
		}
		for _, v := range w.Targets {
			s.Values = append(s.Values, ledger.Value{Well: w.ID, Code: v.Code, Point: v.Point, Every: v.Every, Target: true})
		}
	}
	return s
}

// newRule is a configured event; without an object of its own it names its device's.
func newRule(e config.Event, d config.Device) ledger.Rule {
	r := ledger.Rule{
		Name: e.Rule, Object: e.Object, ObjectType: e.ObjectType, Point: e.Point, Above: e.Above, Below: e.Below, Equals: e.Equals,
		Bit: e.Bit, Stale: e.Stale, Bad: e.Bad, Clear: e.Clear, For: e.For, Urgent: e.Urgent, Note: e.Note,
	}
	if r.Object == "" {
		r.Object, r.ObjectType = d.Object, d.ObjectType
	}
	return r
}

// makings says of a point how its value comes about by the configuration. What was asked for once is known for good; of the others
// nothing is, once the configuration has let go of its devices.
func makings(cfg *config.Config) func(collectors.Point) collectors.Origin {
	var lock sync.Mutex
	known := map[collectors.Point]collectors.Origin{}
	return func(p collectors.Point) collectors.Origin {
		lock.Lock()
		defer lock.Unlock()
		made, ok := known[p]
		if !ok {
			name, point, _ := strings.Cut(string(p), "/")
			if i := slices.IndexFunc(cfg.Devices, func(d config.Device) bool { return d.Name == name }); i >= 0 {
				made = cfg.Devices[i].Origin(point)
			}
			known[p] = made
		}
		return made
	}
}

// earliestClock is the day before which no clock can be right.
var earliestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// timesyncMarker is touched by systemd-timesyncd when it has set or compared the clock.
const timesyncMarker = "/run/systemd/timesync/synchronized"

// newClock starts watching the clock.
func newClock(site ledger.Site) *clock.Clock {
	return clock.New(time.Now(), earliestClock, site.Steady(), func() time.Time {
		info, err := os.Stat(timesyncMarker) // the daemon touches it whenever it has set or compared the clock
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	})
}
