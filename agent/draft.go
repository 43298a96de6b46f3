package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

// draft is a batch's changes before they are on disk.
type draft struct {
	state
	l        *Ledger
	now      time.Time
	boot     int64         // of the recording that this batch is from; 0: it is live
	mono     time.Duration // of the recording, at this batch
	records  []staged
	puts     []small
	decoded  []uint64 // kept messages that leave the stream of refused ones
	problems []error
	says     []func()                  // log lines for after the commit
	copied   bool                      // the map of episodes is this draft's own
	ticked   bool                      // the detector has heard the clock
	passed   map[collectors.Point]bool // whose count of what is not used this draft has changed; nil: the counts are the ledger's
	sent     []bool                    // the values that this draft has sent; nil: none
	graded   *clock.Grade              // of the clock, once it was asked
}

// staged is a record on its way to a stream, and the book entry that wants to know its position.
type staged struct {
	stream string
	record outbox.Record
	booked *Booked
}

// small is one piece of state beside the streams; nil deletes it.
type small struct {
	name  string
	value []byte
}

// draft opens a draft at now, an instant of this run.
func (l *Ledger) draft(now time.Time) *draft {
	d := l.replayed(now)
	d.wound()
	return d
}

// replayed opens a draft at an instant of a recording.
func (l *Ledger) replayed(now time.Time) *draft {
	d := &draft{state: l.s, l: l, now: now}
	if d.unfit {
		d.refit()
	}
	return d
}

// wound moves what is kept by the wall clock when that was set. A draft that is not stored leaves it to the next one. What
// could not be by the clock as it was is left alone: a box that begins in 1970 has stored the right times of before.
func (d *draft) wound() {
	if d.replay != 0 {
		return
	}
	step := d.l.clock.Offset(d.now) - d.offset
	if step.Abs() < clock.MinStep {
		return
	}
	d.offset += step
	before := d.now.Round(0).Add(-step)
	d.shiftEpisodes(before, step)
	d.shiftWork(before, step)
	d.shiftHeld(before, step)
	d.says = append(d.says, func() { d.l.log.Warn().Stringer("step", step).Msg("the wall clock was set") })
}

// stage hands everything to the outbox; it runs inside Update.
func (d *draft) stage(tx *outbox.Tx) error {
	for _, p := range d.puts {
		tx.Put(p.name, p.value)
	}
	for _, seq := range d.decoded {
		tx.Take(Refused, seq)
	}
	for _, r := range d.records {
		seq := tx.Append(r.stream, r.record)
		if r.booked == nil {
			continue
		}
		r.booked.Seq = seq
		b, err := json.Marshal(r.booked)
		if err != nil {
			return fmt.Errorf("book ticket %s: %w", r.booked.Number, err)
		}
		tx.Put(bookState+r.booked.Number, b)
	}
	return nil
}

// stages says whether there is anything to put on disk.
func (d *draft) stages() bool { return len(d.records)+len(d.puts)+len(d.decoded) > 0 }

// position is how far a recording was played.
type position struct {
	boot int64
	mono time.Duration
}

// putPositions stages how far the recordings are whose rows the tanks' state holds: they go on from there.
func (d *draft) putPositions(device string) {
	if d.boot == 0 {
		return
	}
	all := maps.Clone(d.l.played)
	all[device] = position{d.boot, d.mono}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		d.put(memory+name+"/"+collectors.ReplayPosition, fmt.Appendf(nil, "%d %d", all[name].boot, all[name].mono))
	}
}

// longestState is the longest name under which the outbox keeps a piece of state, in bytes.
const longestState = 512

// stateName is the name of a piece of state, no longer than the outbox takes it: a name that somebody configured must not
// keep a whole batch from being stored.
func stateName(name string) string {
	if len(name) <= longestState {
		return name
	}
	hash := hashOf(name)
	return name[:longestState-len(hash)] + hash
}

// put stages a piece of state.
func (d *draft) put(name string, v []byte) { d.puts = append(d.puts, small{stateName(name), v}) }

// keep stages a piece of state as JSON.
func (d *draft) keep(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		d.unwritable(name, err)
		return
	}
	d.put(name, b)
}

// append stages a record for a stream.
func (d *draft) append(stream, address string, body []byte) {
	if len(address) > outbox.MaxAddress {
		d.unwritable(stream+" to "+address, fmt.Errorf("the id has %d characters; the longest that can be sent to has %d", len(address), outbox.MaxAddress))
		return
	}
	d.records = append(d.records, staged{stream: stream, record: outbox.Record{
		Address: address, Body: body, At: d.now.Round(0), Clock: byte(d.grade()), Config: d.l.site.Config,
	}})
}

// feed is what one point is good for.
type feed struct {
	inputs []input
	rules  []int
	values []int
	meters []int // tanks whose production it counts
}

// input is a point's place in the detector.
type input struct {
	tank int
	kind tank.Kind
}

// feeds turns the site's settings round: from each point to what it feeds.
func (s Site) feeds() map[collectors.Point]*feed {
	m := map[collectors.Point]*feed{}
	at := func(p collectors.Point) *feed {
		if m[p] == nil {
			m[p] = &feed{}
		}
		return m[p]
	}
	for i, t := range s.Tanks {
		for _, in := range []struct {
			point collectors.Point
			kind  tank.Kind
		}{
			{t.Level, tank.Level}, {t.Valve, tank.Valve}, {t.Interface, tank.Interface}, {t.Top.Point, tank.TopTemperature},
			{t.Bottom.Point, tank.BottomTemperature}, {t.Gravity.Point, tank.Gravity}, {t.BSW.Point, tank.BSW},
		} {
			if in.point != "" {
				f := at(in.point)
				f.inputs = append(f.inputs, input{i, in.kind})
			}
		}
	}
	for i, t := range s.Tanks {
		if t.Production != "" {
			at(t.Production).meters = append(at(t.Production).meters, i)
		}
	}
	for i, r := range s.Rules {
		at(r.Point).rules = append(at(r.Point).rules, i)
	}
	for i, v := range s.Values {
		at(v.Point).values = append(at(v.Point).values, i)
	}
	return m
}

// take lets one reading have its effects.
func (d *draft) take(r collectors.Reading) {
	if r.Past {
		d.bygone(r)
		return
	}
	r = d.timed(r)
	if r.Quality == collectors.Good {
		d.recovered(r)
	}
	f := d.l.feeds[r.Point]
	if f == nil {
		return
	}
	if r.AgeUnknown {
		d.pass(r)
	}
	for _, i := range f.meters {
		d.counted(i, r)
	}
	for _, in := range f.inputs {
		d.gauge(in, r)
	}
	for _, i := range f.rules {
		d.judge(i, r)
	}
	for _, i := range f.values {
		d.value(i, r)
	}
}

// timed gives a reading that has no time the batch's.
func (d *draft) timed(r collectors.Reading) collectors.Reading {
	if r.At.IsZero() {
		r.At = d.now
	}
	return r
}

// gauge gives the detector one reading, in its units.
func (d *draft) gauge(in input, r collectors.Reading) {
	x := tank.Input{Kind: in.kind, Tank: in.tank, Value: r.Value, Good: r.Quality == collectors.Good && finite(r.Value)}
	d.instant(&x, r)
	switch in.kind {
	case tank.Level:
		if !d.level(in.tank, r, &x) {
			return
		}
	case tank.Interface:
		g := &d.gears[in.tank]
		if g.Interface != d.l.wanted[in.tank].Interface {
			return // it is another's until the load is over
		}
		g.water().read(r, &x)
	case tank.TopTemperature, tank.BottomTemperature:
		x.Value = fahrenheit(r.Value, r.Unit)
	case tank.Gravity:
		x.Value = specificGravity(r.Value, r.Unit)
	}
	d.next(x)
}

// next moves the detector on and books what came of it.
func (d *draft) next(x tank.Input) {
	var out []tank.Outcome
	d.tanks, out = d.detect.Next(d.tanks, x)
	d.decided(x, out)
}

// decided books what the detector made of an input.
func (d *draft) decided(x tank.Input, out []tank.Outcome) {
	for _, o := range out {
		if o.Load != nil {
			d.finished(*o.Load)
		}
		if o.Event != nil && !d.folded(*o.Event) && !d.daybook.Knows(d.l.site.index(o.Event.Tank), *o.Event) {
			d.detected(*o.Event)
		}
		if o.Correction != nil {
			d.corrected(*o.Correction)
		}
	}
	d.books(x, out)
	d.journal(out)
}

// tick is the clock's own turn.
func (d *draft) tick() {
	x := tank.Input{Kind: tank.Tick, At: d.now.Round(0), Mono: d.mono, Boot: d.boot}
	if d.boot == 0 {
		x.Mono, x.Boot, x.Box, x.One = d.l.mono(d.now), d.l.boot, d.l.bootID, true
	}
	d.next(x)
	d.ticked = true
	if !d.clockDoubted() {
		d.shorten()
	}
	d.silence()
	d.overdue()
	d.workOver()
	d.release()
	d.tellUnused()
	d.flushLater()
}

// shorten brings what was to come near again: it was stored by a clock that was ahead, and set right while the program was
// down. Nothing is further away than its own length.
func (d *draft) shorten() {
	now := d.now.Round(0)
	d.shortenHeld(now)
	d.shortenWork(now)
	for k, e := range d.open {
		if e.Since.After(now.Add(clock.Tolerance)) {
			d.ownEpisodes()
			e.Since, e.Over = now, time.Time{}
			d.open[k] = e
			d.keepEpisodes()
		}
	}
}

// instant puts a reading on the wall clock and on the clock that never steps. A device's own time has no monotonic clock:
// the reading has that of its arrival, and the detector places it by its stamp beside the device's others. Were its age
// told by the two wall clocks, a step of the box's would move what was read. A stamp that cannot be is that of its arrival.
func (d *draft) instant(x *tank.Input, r collectors.Reading) {
	if r.Boot != 0 {
		x.At, x.Mono, x.Boot = r.At, r.Mono, r.Boot
		return
	}
	x.Boot, x.Box = d.l.boot, d.l.bootID
	if r.At != r.At.Round(0) {
		x.At, x.Mono, x.One = r.At.Round(0), d.l.mono(r.At), true
		return
	}
	x.At, x.Mono = r.At, d.l.mono(d.now)
	if age := d.now.Round(0).Add(-d.astray()).Sub(r.At); age < -time.Minute || age > 24*time.Hour {
		x.At, x.One = d.now.Round(0), true
	}
}

// ownEpisodes makes the episodes this draft's own before the first change.
func (d *draft) ownEpisodes() {
	if !d.copied {
		d.open, d.copied = maps.Clone(d.open), true
	}
}

// ownValue is what was last sent of value i, for this draft to change.
func (d *draft) ownValue(i int) *lastValue {
	if d.sent == nil {
		d.sent, d.values = make([]bool, len(d.values)), slices.Clone(d.values)
	}
	v := &d.values[i]
	if !d.sent[i] {
		d.sent[i] = true
		pages := recent{}
		if v.recent != nil {
			pages = *v.recent
		}
		v.recent = &pages
	}
	return v
}
