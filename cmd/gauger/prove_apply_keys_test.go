package main

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/apply"
	stretches "gauger/deploy/proof"
)

// keysSpeed is that of the time of a site whose keys are changed: a load of half an hour takes six seconds, one comes every 36.
const keysSpeed = 300

// changedKeys are changes of every kind: what is replaced, by what, and which tanks are meant to step. Each is made while both tanks are
// being hauled.
var changedKeys = []struct {
	name, old, new string
	steps          []string
}{
	{"site", "site: Changed battery", "site: Another name", nil},
	{"id", "id: CHANGED", "id: CHANGED2", nil},
	{"object", "6f9619ff-8b86", "6f9619ff-8b87", nil},
	{"object_type", "time_zone:", "object_type: Site\ntime_zone:", nil},
	{"time_zone", "America/Chicago", "America/Denver", nil},
	{"production_day", "time_zone:", "production_day: \"06:00\"\ntime_zone:", nil},
	{"service.url", "http://SERVICE", "http://localhost:SERVICE", nil},
	{"service.wire.batch", "  primary_key:", "  wire: {batch: {tag_values: 5}}\n  primary_key:", nil},
	{"service.wire.comments_max", "  primary_key:", "  wire: {comments_max: 300}\n  primary_key:", nil},
	{"store.max_bytes", "max_bytes: 2MiB}\nrecorder", "max_bytes: 4MiB}\nrecorder", nil},
	{"store.shares", "max_bytes: 2MiB}\nrecorder", "max_bytes: 2MiB, shares: {events: 40, tag_values: 60}}\nrecorder", nil},
	{"store.receipts", "max_bytes: 2MiB}\nrecorder", "max_bytes: 2MiB, receipts: {days: 30}}\nrecorder", nil},
	{"flash", "log:", "flash: {size: 8GB, cycles: 3000}\nlog:", nil},
	{"recorder", "recorder: {max_bytes: 1MiB}", "recorder: {max_bytes: 0}", nil},
	{"link.rate", "link: {rate: off}", "link: {rate: 50}", nil},
	{"link.max_bytes_per_day", "link: {rate: off}", "link: {rate: off, max_bytes_per_day: 500MB}", nil},
	{"tickets.hold", "tickets: {hold: 50m}", "tickets: {hold: 55m}", nil},
	{"book", "log:", "book: {loss_limit: 2}\nlog:", nil},
	{"loads.min_load", "speed: 300", "speed: 300, min_load: 30", nil},
	{"loads.noise", "speed: 300", "speed: 300, noise: 2in", nil},
	{"a device's name", "plc", "unit", nil},
	{"every", "modbus: tcp://PLC-1\n    every: 500ms", "modbus: tcp://PLC-1\n    every: 400ms", nil},
	{"timeout", "timeout: 20s", "timeout: 15s", nil},
	{"a line's settings", "tcp://PLC-1", "tcp://PLC-1?pause=2ms", nil},
	{"a device more", "tanks:\n", "  - {name: box, host: self, every: 5s, points: [{name: load, read: load_1m}]}\ntanks:\n", nil},
	{"a point more", "{name: number, holding: 102, type: int32}", "{name: number, holding: 102, type: int32}\n      - {name: high, holding: 102, type: uint16}", nil},
	{"a point's range", "range: [0, 240]", "range: [0, 239]", nil},
	{"a tank's offset", "level: plc/level,", "level: plc/level, offset: 0.5in,", []string{"TK-1"}},
	{"a tank's offset of a foot", "level: plc/level,", "level: plc/level, offset: 12in,", []string{"TK-1"}},
	{"a point's offset", "type: float32, unit: in", "type: float32, offset: 3, unit: in", []string{"TK-1", "plc/level"}},
	{"a table", "[240, 480]", "[240, 481]", nil},
	{"a height", "height: 20ft, strapping: [[0, 0], [240, 480]]", "height: 21ft, strapping: [[0, 0], [252, 504]]", nil},
	{"a sensor", "level: plc/level,", "level: plc/level, sensor: float,", nil},
	{"a purchaser", "purchaser: Acme Crude", "purchaser: Other Oil", nil},
	{"comments", "purchaser: Acme Crude", "purchaser: Acme Crude, comments: by the road", nil},
	{"a gravity", "purchaser: Acme Crude", "purchaser: Acme Crude, specific_gravity: 0.83, bsw: 0.1", nil},
	{"an alarm", "wells:", "events:\n  - {rule: High, point: plc/level, above: 230}\nwells:", nil},
	{"a well more", "wells:\n", "wells:\n  - {id: 3fa85f64-5717-4562-b3fc-2c963f66afa8, tag_values: [{code: Production Target Gas, point: twin/number, every: 10s}]}\n", nil},
	{"http", "log:", "http: {listen: \"127.0.0.1:0\"}\nlog:", nil},
	{"control", "log:", "control: {operate: [operators]}\nlog:", nil},
	{"share.masters", "log:", "share: {masters: [10.20.0.9]}\nlog:", nil},
	{"log", "log: {level: error}", "log: {level: warn}", nil},
}

// TestProveChangedKeys changes one key after the other, each at a site of its own while both tanks are being hauled: the change stands,
// nothing is lost, each load is one ticket with the right gauges, and there is no other.
func TestProveChangedKeys(t *testing.T) {
	s := stretches.Of(t, 2)
	if s.Long {
		s.From, s.N = 0, len(changedKeys)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	tickets, records := 0, 0
	atOnce := make(chan bool, 12) // a second in which the disk is not there is five minutes of a site
	for i := range s.Cases() {
		dir := t.TempDir()
		all.Go(func() {
			atOnce <- true
			defer func() { <-atOnce }()
			c := changedKeys[i%len(changedKeys)]
			n, numbers, err := proveChangedKey(dir, c.old, c.new, c.steps)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			tickets, records = tickets+n, records+numbers
		})
	}
	all.Wait()
	zerolog.SetGlobalLevel(zerolog.TraceLevel)
	s.Tell(t, "%d changes in the middle of loads: %d tickets, %d records, none lost and none too many", s.N, tickets, records)
}

func proveChangedKey(dir, old, new string, steps []string) (tickets, numbers int, err error) {
	yaml := strings.NewReplacer("every: 1s", "every: 500ms", "log:", "loads: {speed: 300}\ntickets: {hold: 50m}\nlog:").Replace(changedSiteYAML)
	s, err := startChangedSite(dir, yaml)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	drawing := func() bool {
		st := s.status()
		return len(st.Tanks) == 2 && st.Tanks[0].Phase == "drawing" && st.Tanks[1].Phase == "drawing"
	}
	if err := s.until("trucks are loading", 2*time.Minute, drawing); err != nil {
		return 0, 0, err
	}
	host := s.server.Listener.Addr().String()
	address := strings.NewReplacer("localhost:SERVICE", "localhost:"+host[strings.LastIndex(host, ":")+1:], "SERVICE", host, "PLC-1", s.plcs[0].Addr().String(), "PLC-2", s.plcs[1].Addr().String())
	text := strings.ReplaceAll(s.text, address.Replace(old), address.Replace(new))
	if text == s.text {
		return 0, 0, fmt.Errorf("there is no %q", old)
	}
	var plan applyPlan
	if err := s.ask("apply.load", applyOrder{Text: []byte(text), URL: "changed.yaml", Watch: 10 * time.Second, Steps: steps}, &plan); err != nil || plan.Until.IsZero() {
		return 0, 0, fmt.Errorf("%w: %+v", err, plan)
	}
	err = s.until("the change stands", 30*time.Second, func() bool {
		end, over := s.trial(1)
		return over && end.Outcome == apply.Stands
	})
	if err != nil {
		end, _ := s.trial(1)
		err = fmt.Errorf("%w: %s: %q", err, end.Outcome, end.Reasons)
	}
	// A whole load more, and until its ticket is ready.
	err = errors.Join(err, s.until("two loads of each tank are tickets", 2*time.Minute, func() bool { return len(s.office.Tickets()) >= 4 }))
	err = errors.Join(err, s.account(), s.wrongTickets())
	return len(s.office.Tickets()), len(s.plcs[0].acked) + len(s.plcs[1].acked), err
}

// wrongTickets says what is wrong with the tickets: each load is one, from 200 in to 120, and they come three hours after each other.
func (s *changedSite) wrongTickets() (err error) {
	last := map[string]time.Time{}
	for _, x := range s.office.Tickets() {
		late := strings.Contains(x.Comments, "it began before the first reading") // the agent was: the ticket is of what it saw, and says so
		if !late && math.Abs(x.OpeningLevel-200) > 14 || math.Abs(x.ClosingLevel-120) > 14 {
			err = errors.Join(err, fmt.Errorf("%s of %s is from %.2f to %.2f in: %s", x.TicketNumber, x.TankExternalID, x.OpeningLevel, x.ClosingLevel, x.Comments))
		}
		began, wrong := time.Parse(time.RFC3339, x.Start)
		if wrong != nil {
			return wrong
		}
		if before, seen := last[x.TankExternalID]; seen {
			if gap := began.Sub(before) * keysSpeed; gap < 150*time.Minute || gap > 210*time.Minute {
				err = errors.Join(err, fmt.Errorf("%s began %s of the site's time after the one before", x.TicketNumber, gap))
			}
		}
		last[x.TankExternalID] = began
	}
	return err
}
