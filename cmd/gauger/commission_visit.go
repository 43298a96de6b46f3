package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/commission"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/dialogue"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/config"
)

// errSkipped leaves a place for another time.
var errSkipped = errors.New("skipped")

// visit looks at one place, and keeps what was found.
func (k *commissioner) visit(ctx context.Context, p commission.Place) error {
	k.Say("\n%s", strings.Join(strings.Fields(p.Tank+" "+p.Role+" "+string(p.Point)), "  "))
	k.Say("  from %s", p.Source)
	v := commission.Visit{Point: p.Point, Tank: p.Tank, Role: p.Role, Source: p.Source, By: cmp.Or(k.o.by, localUser(k.c))}
	var err error
	if p.Role == commission.Level {
		err = k.visitLevel(ctx, p, &v)
	} else {
		err = k.visitValue(ctx, p, &v)
	}
	if errors.Is(err, errSkipped) {
		return nil
	}
	if err != nil {
		return err
	}
	v.At = time.Now().Round(time.Second)
	k.walk.Add(v)
	return k.keep()
}

// visitValue has a person say whether a point reads what it should.
func (k *commissioner) visitValue(ctx context.Context, p commission.Place, v *commission.Visit) error {
	got, err := k.good(ctx, p, 1)
	if err != nil {
		return err
	}
	last := got[len(got)-1]
	v.Read = strings.TrimSpace(shortValue(string(last.Value)) + " " + string(last.Unit))
	k.Say("  reads %s", v.Read)
	answer, err := k.askValue(ctx, p)
	switch {
	case err != nil:
		return err
	case answer == "s":
		return errSkipped
	case answer == "no":
		v.Outcome = commission.Wrong
		v.Note, err = k.Ask(ctx, dialogue.Question{Key: "wrong." + string(p.Point), Flag: "--wrong " + string(p.Point) + "=WHY", Text: "  What is wrong with it", Passing: true})
		return err
	}
	v.Outcome = commission.Agrees
	return nil
}

func (k *commissioner) askValue(ctx context.Context, p commission.Place) (string, error) {
	if _, all := k.Given["right.all"]; all && k.Given["right."+string(p.Point)] == "" {
		return "yes", nil
	}
	return k.Ask(ctx, dialogue.Question{
		Key: "right." + string(p.Point), Flag: "--right " + string(p.Point), Text: "  Is that right (yes, no, s: skip)", Default: "yes", Passing: true,
		Check: func(answer string) (string, error) {
			if long := map[string]string{"y": "yes", "n": "no"}[answer]; long != "" {
				answer = long
			}
			return oneOf(answer, "yes", "no", "s")
		},
	})
}

// visitLevel compares a level with the hand gauge.
func (k *commissioner) visitLevel(ctx context.Context, p commission.Place, v *commission.Visit) error {
	got, err := k.good(ctx, p, samples)
	if gauge := k.Given["gauge."+p.Tank]; errors.Is(err, errSkipped) && gauge != "" {
		return k.unread(ctx, p, v, gauge)
	}
	if err != nil {
		return err
	}
	k.sayLevel(p, got)
	answer, err := k.Ask(ctx, dialogue.Question{
		Key: "gauge." + p.Tank, Flag: "--gauge " + p.Tank + "=GAUGE", Text: "  Hand gauge of " + p.Tank + " now, such as 15-04-1 (s: skip)", Passing: true, Check: checkGauge,
	})
	switch {
	case err != nil:
		return err
	case answer == "s":
		return errSkipped
	}
	v.Gauge, _ = tank.ParseLength(answer)               // checked
	if got, err = k.good(ctx, p, samples); err != nil { // the level of the moment of the gauge
		return err
	}
	g := commission.Gauged{Readings: valuesOf(got), Unit: string(got[0].Unit), Gauge: v.Gauge, Place: p}
	found, err := commission.Judge(g)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Point, err)
	}
	v.Read, v.Level = fmt.Sprintf("%.2f %s", commission.Median(g.Readings), g.Unit), found.Level
	k.Say("  reads %s = %s, gauged %s: a difference of %.2f in", v.Read, found.Level.Gauge(), v.Gauge.Gauge(), float64(found.Offset))
	wrong, doubt := k.order(ctx, p, v)
	if doubt != "" {
		found.Doubts = append(found.Doubts, doubt)
	}
	if !found.Agrees {
		found.Doubts = append(found.Doubts, k.exchanged(ctx, p, v)...)
	}
	return k.conclude(ctx, p, v, found, wrong)
}

// conclude makes of the verdict what is kept: it agrees, or a new offset, or it is wrong.
func (k *commissioner) conclude(ctx context.Context, p commission.Place, v *commission.Visit, found commission.Verdict, wrongOrder string) error {
	if wrongOrder != "" {
		v.Outcome, v.Note = commission.Wrong, "correct order: "+wrongOrder+" at the point"
		k.Say("  WRONG: %s, then `gauger commission` again; no offset was written", v.Note)
		return nil
	}
	for _, doubt := range found.Doubts {
		k.Say("  ! %s", doubt)
	}
	if len(found.Doubts) > 0 {
		yes, err := k.Yes(ctx, dialogue.Question{Key: "accept." + p.Tank, Flag: "--accept " + p.Tank, Text: "  Take it all the same", Default: "no", Passing: true})
		if err != nil {
			return err
		}
		if !yes {
			v.Outcome, v.Note = commission.Wrong, strings.Join(found.Doubts, "; ")
			k.Say("  WRONG: mend it, then `gauger commission` again; no offset was written")
			return nil
		}
	}
	if found.Agrees {
		v.Outcome, v.Offset = commission.Agrees, p.Offset
		k.Say("  RIGHT: within what a hand gauge can tell, with offset %gin as it is", float64(p.Offset))
		return nil
	}
	v.Outcome, v.Offset = commission.Offset, found.Offset
	note := fmt.Sprintf("%s, %s: gauged %s, read %s", time.Now().In(k.cfg.Zone).Format(time.DateOnly), v.By, v.Gauge.Gauge(), found.Level.Gauge())
	return k.setOffset(p, found.Offset, note)
}

// sayLevel shows a level as people at the tank read it.
func (k *commissioner) sayLevel(p commission.Place, got []control.PointReading) {
	all := valuesOf(got)
	median := commission.Median(all)
	inches, err := tank.LevelInches(median, got[0].Unit, p.Height)
	if err != nil {
		k.Say("  reads %g %s: %v", median, got[0].Unit, err)
		return
	}
	text := fmt.Sprintf("  reads %.2f %s = %s (feet-inches-quarters), by %s", median, got[0].Unit, tank.Length(inches).Gauge(), countText(len(all), "reading"))
	text += when(p.Offset != 0, fmt.Sprintf("; with the offset of %gin it is %s", float64(p.Offset), (tank.Length(inches)+p.Offset).Gauge()))
	at := got[len(got)-1].At
	k.Say("%s", text+when(time.Since(at) > time.Minute, "; that was "+control.Ago(time.Now(), at)))
}

// checkGauge reads a hand gauge, which must have a unit.
func checkGauge(text string) (string, error) {
	if text == "s" {
		return text, nil
	}
	if bareNumber(text) {
		return "", fmt.Errorf("%s can be inches or feet; write %sin, %sft or feet-inches-quarters such as 15-04-1", text, text, text)
	}
	_, err := tank.ParseLength(text)
	return text, err
}

// order says what the gauge tells of the order of words, where the level stands in registers; wrong is the one that it should be,
// and doubt why it may be half of another value.
func (k *commissioner) order(ctx context.Context, p commission.Place, v *commission.Visit) (wrong, doubt string) {
	info, _ := k.cfg.PointInfo(p.Point)
	device := config.Options[modbus.Device](k.cfg.Devices[info.Device])
	if device == nil {
		return "", ""
	}
	point := device.Points[info.Index]
	bits, ok := device.Bits(point)
	if !ok {
		return "", ""
	}
	a := probeRequest{URL: device.URL, Unit: *device.Unit, Address: bits.From, Input: bits.Table == line.Input, Timeout: min(device.Timeout, time.Minute)}
	r := commission.Registers{Kind: bits.Kind, Order: bits.Order, Scale: bits.Scale, Offset: bits.Offset}
	for try := 0; try == 0 || doubt != "" && try < doubtLooks && collectors.Wait(ctx, time.Second); try++ {
		found, err := probeOnce(ctx, k.c, a)
		if err != nil {
			v.Order = "order not proved: " + err.Error()
			k.Say("  %s", v.Order)
			return "", ""
		}
		r.Words, doubt = nil, ""
		for _, one := range found.Registers {
			if one.Address >= bits.From && one.Address < bits.From+bits.Count && one.Why == "" {
				r.Words = append(r.Words, one.Word)
			}
		}
		for _, g := range found.Guesses {
			if g.Address == bits.From && g.Type == bits.Kind.String() && g.Order == bits.Order && g.Doubt != "" {
				doubt = g.Doubt
			}
		}
	}
	if len(r.Words) != bits.Count {
		return "", ""
	}
	if v.Order, wrong = commission.ProveOrder(r, point.Unit, p.Height, v.Gauge); doubt != "" && wrong == "" {
		v.Order = "order not proved"
	}
	k.Say("  %s", v.Order)
	if v.Read == "" && wrong == "" {
		k.Say("  `gauger probe '%s' %d %d %s--expect %s` looks for it in every type, scale and order", a.URL, a.Unit, a.Address, when(a.Input, "--kind input "), v.Gauge.Gauge())
	}
	return wrong, doubt
}

// doubtLooks are how often registers are read that may be half of another value: what is measured changes in its last digits, and
// what belongs to another point mostly does not.
const doubtLooks = 4

func probeOnce(ctx context.Context, c *call, a probeRequest) (found probeResult, err error) {
	t, err := openModbus(c)
	if err != nil {
		return found, err
	}
	found, err = t.probe(ctx, a)
	return found, errors.Join(err, t.close())
}

// What is read of a level at a time.
const (
	samples    = 5
	sampleSpan = 10 * time.Second
)

// good are readings of a place that are good, as soon as there are some; until then a person may try again.
func (k *commissioner) good(ctx context.Context, p commission.Place, most int) ([]control.PointReading, error) {
	for {
		got, why := k.sample(ctx, p.Point, most)
		if ctx.Err() != nil {
			return nil, dialogue.ErrInterrupted
		}
		if len(got) > 0 {
			return got, nil
		}
		k.Say("  no good reading: %s", why)
		if _, answered := k.Given["right.all"]; answered || k.Given["right."+string(p.Point)] != "" || k.Given["gauge."+p.Tank] != "" {
			return nil, errSkipped
		}
		answer, err := k.Ask(ctx, dialogue.Question{Key: "again." + string(p.Point), Text: "  Enter tries again, s skips", Default: "again", Passing: true})
		switch {
		case err != nil:
			return nil, err
		case answer == "s":
			return nil, errSkipped
		}
	}
}

// sample reads a point some times, through the running gauger or without it. Where nothing was good, why says what came instead.
func (k *commissioner) sample(parent context.Context, p collectors.Point, most int) (got []control.PointReading, why string) {
	ctx, cancel := context.WithTimeout(parent, k.o.wait)
	defer cancel()
	why = fmt.Sprintf("nothing was heard for %s", k.o.wait)
	var enough *time.Timer
	see := func(r control.PointReading) error {
		if r.Point != p || len(got) >= most {
			return nil
		}
		if r.Quality != "good" {
			why = r.Quality + ": " + r.Error
			return nil
		}
		if old := (site{k.cfg}).outdated(p, r.At); old != "" {
			why = fmt.Sprintf("%s %s, but %s", shortValue(string(r.Value)), r.Unit, old)
			return nil
		}
		if got = append(got, r); len(got) == 1 {
			enough = time.AfterFunc(sampleSpan, cancel)
		}
		if len(got) >= most {
			cancel()
		}
		return nil
	}
	err := k.stream(ctx, p, most, see)
	if enough != nil {
		enough.Stop()
	}
	if err != nil && ctx.Err() == nil {
		why = err.Error()
	}
	return got, why
}

// stream calls see with the readings of a point until ctx ends. Beside a running gauger its newest one does where one is
// enough, or where no other comes.
func (k *commissioner) stream(ctx context.Context, p collectors.Point, most int, see func(control.PointReading) error) error {
	daemon, err := k.c.dial()
	if err == nil {
		if most > 1 {
			heard := false
			err = daemon.Watch(ctx, []string{string(p)}, func(r control.PointReading) error { heard = true; return see(r) })
			if heard || err != nil {
				return err
			}
		}
		var all []control.PointReading
		if err := daemon.Call(context.WithoutCancel(ctx), "read", control.PointsArgs{Points: []string{string(p)}}, &all); err != nil {
			return err
		}
		for _, r := range all {
			_ = see(r) // it has none
		}
		return nil
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return err
	}
	cfg, err := config.Load(k.c.config)
	if err != nil {
		return asConfigError(err)
	}
	for _, d := range cfg.Devices {
		if polled := config.Options[modbus.Device](d); polled != nil {
			polled.Every = min(polled.Every, time.Second) // a person waits
		}
	}
	out := newReadings(nil, k.c, site{cfg})
	out.see = see
	return out.fromDevices(ctx, onlyPoints(cfg, []string{string(p)}), &line.Lines{}, true, k.o.wait)
}

func valuesOf(got []control.PointReading) (all []float64) {
	for _, r := range got {
		if v, err := strconv.ParseFloat(string(r.Value), 64); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// memos queues those that are owed.
func (k *commissioner) memos(ctx context.Context) error {
	if k.o.noMemo {
		return nil
	}
	owed := k.walk.Owed(k.places)
	for _, of := range slices.Sorted(maps.Keys(owed)) {
		to := k.o.memoTo
		if to == "" {
			to = k.cfg.Object
			if t := k.cfg.Tank(of); t != nil {
				to = t.Object
			}
		}
		records, err := memoRecords(k.cfg.Service.Wire, to, []cloud.Memo{{Text: commission.Memo(of, owed[of], k.cfg.Zone)}})
		if err != nil {
			return fmt.Errorf("memo about %s: %w; --memo-to names another device, --no-memo leaves none", cmp.Or(of, "the other points"), err)
		}
		var sent []sentRecord
		if err := withConnection(k.c, func(d *connection) (err error) { sent, err = d.queueAll(ctx, records); return err }); err != nil {
			return fmt.Errorf("queue the memo about %s: %w; what was found is kept, and `gauger commission` queues it later", cmp.Or(of, "the other points"), err)
		}
		where := fmt.Sprintf("%s/%d", sent[0].Stream, sent[0].Seq)
		k.Say("\nA memo about %s is queued for device %s (%s).", cmp.Or(of, "the other points"), to, where)
		k.walk.Queued(owed[of], where)
		if err := k.keep(); err != nil {
			return err
		}
	}
	return nil
}
