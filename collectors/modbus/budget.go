package modbus

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gauger/collectors/modbus/line"
)

// Budget is the time that the devices of one line take of it, computed from the plan: nothing is asked for it.
type Budget struct {
	Line string // the URL, with every default said
	// Round is one poll of everything when every unit answers.
	Round time.Duration
	// Silent is the longest one when one unit is silent and still asked like the others.
	Silent time.Duration
	// Load is the share of the line's time that the polls take at their intervals: 1 is all of it.
	Load float64
	// Loading is the load while every tank is being hauled (every_while_loading).
	Loading float64
	Shares  []DeviceShare // in the order of the configuration
}

// DeviceShare is one device's part of its line's time.
type DeviceShare struct {
	Device   string
	Unit     int
	Every    time.Duration
	Hurried  time.Duration // every_while_loading; 0: none
	Round    time.Duration // all its requests
	Load     float64       // Round by Every
	Requests []PlannedRequest
}

// PlannedRequest is one request of the plan.
type PlannedRequest struct {
	Table    string // holding, input, coil or discrete
	From, To int    // addresses, both included
	Points   int    // values in it
	Gaps     int    // addresses that nobody wants
	Again    bool   // the second request of verify: twice
	Takes    time.Duration
}

// Budgets computes the budget of every line that the devices name, in their order. Devices whose options are wrong
// are left out; Check and Conflicts tell of them.
func Budgets(devices []Device) []Budget {
	var all []Budget
	byPlace := map[string]int{}
	for _, d := range devices {
		at, err := line.ParseEndpoint(d.URL)
		if err != nil || len(d.Check()) > 0 {
			continue
		}
		points, err := compile(d)
		if err != nil {
			continue
		}
		i, known := byPlace[at.Place]
		if !known {
			i = len(all)
			byPlace[at.Place], all = i, append(all, Budget{Line: at.String()})
		}
		made := deviceWithoutLine(d, points, at)
		made.replan()
		all[i].addDevice(made, cmp.Or(d.Every, defaultEvery), d.unitID())
	}
	return all
}

// addDevice joins a device to the line.
func (b *Budget) addDevice(d *device, every time.Duration, unit int) {
	s := DeviceShare{Device: d.name, Unit: unit, Every: every, Hurried: d.everyWhileLoading, Requests: d.plannedRequests()}
	for _, r := range s.Requests {
		s.Round += r.Takes
	}
	s.Load = s.Round.Seconds() / every.Seconds()
	silent := d.limits.cost.Unanswered(d.timeout, d.blocks[0].Span)
	b.Silent = max(b.Silent+s.Round, b.Round+silent)
	b.Round += s.Round
	b.Load += s.Load
	b.Loading += s.Round.Seconds() / cmp.Or(s.Hurried, every).Seconds()
	b.Shares = append(b.Shares, s)
}

// plannedRequests is the plan of one round as it stands.
func (d *device) plannedRequests() []PlannedRequest {
	var all []PlannedRequest
	for _, b := range d.blocks {
		all = append(all, d.planned(b))
		if second, ok := d.rereadOf(b.Span); ok {
			again := d.planned(second)
			again.Again = true
			all = append(all, again)
		}
	}
	return all
}

func (d *device) planned(b block) PlannedRequest {
	return PlannedRequest{Table: b.Table.String(), From: b.From, To: b.End() - 1, Points: len(b.points), Gaps: b.gaps, Takes: d.limits.cost.Duration(b.Span)}
}

// roundDuration of the last round that was answered, or else by the plan.
func (d *device) roundDuration() time.Duration {
	if d.lastDuration > 0 {
		return d.lastDuration
	}
	var sum time.Duration
	for _, r := range d.plannedRequests() {
		sum += r.Takes
	}
	return sum
}

// fullLoad is the share of a line's time that can be planned for.
const fullLoad = 1

// Problem says in a sentence what cannot be and what would be right, and which device is hit most. Both are empty
// when every device gets its polls.
func (b Budget) Problem() (device, message string) {
	if b.Load <= fullLoad {
		return "", ""
	}
	s := b.shortestInterval()
	return s.Device, fmt.Sprintf("line %s: a round takes %s, and %s wants one every %s; %s", b.Line, readable(b.Round), s.Device, s.Every, b.remedy(s))
}

// Warning is the same for the time in which tanks are being hauled.
func (b Budget) Warning() (device, message string) {
	if b.Loading <= fullLoad || b.Load > fullLoad {
		return "", ""
	}
	i := slices.IndexFunc(b.Shares, func(s DeviceShare) bool { return s.Hurried > 0 })
	return b.Shares[i].Device, fmt.Sprintf("line %s: while tanks are being hauled (every_while_loading) the polls need %.0f %% of its time; each then comes later by that", b.Line, 100*b.Loading)
}

// shortestInterval is the device with the shortest interval: where the load is above 1 it is shorter than the round.
func (b Budget) shortestInterval() DeviceShare {
	return slices.MinFunc(b.Shares, func(x, y DeviceShare) int { return cmp.Compare(x.Every, y.Every) })
}

// comfortable is the load that a remedy aims at: some room is left for a repeated request.
const comfortable = 0.9

// remedy is an interval at which the line would do, for the one device if that is enough, otherwise for all.
func (b Budget) remedy(s DeviceShare) string {
	others := b.Load - s.Load
	if others < comfortable/2 || len(b.Shares) == 1 {
		return fmt.Sprintf("slow it down (every: %s), or raise the baud rate if the line can", usualInterval(s.Round.Seconds()/(comfortable-others)))
	}
	return fmt.Sprintf("slow its %d devices down (every: %s), read fewer points, or put some on another line", len(b.Shares), usualInterval(b.Round.Seconds()/comfortable))
}

// usualInterval is a usual interval of at least so many seconds.
func usualInterval(seconds float64) time.Duration {
	for _, s := range []float64{0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600} {
		if s >= seconds {
			return time.Duration(s * float64(time.Second))
		}
	}
	return time.Duration(seconds/3600+1) * time.Hour
}

// readable is a duration as a person says it: "14.3 s", "96.7 ms".
func readable(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.3g ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
