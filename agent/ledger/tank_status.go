package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gauger/agent/filling"
	"gauger/agent/tank"
	"gauger/collectors"
)

// TankStatus is a tank's newest level.
type TankStatus struct {
	ID      string    `json:"id"`
	Level   *float64  `json:"level_in"`        // inches; null when there is no good reading
	Gauge   string    `json:"gauge,omitempty"` // of it: feet-inches-quarters
	Barrels *float64  `json:"bbl"`
	At      time.Time `json:"at,omitzero"`
	Quality string    `json:"quality"`
	Error   string    `json:"error,omitempty"` // why a reading that came is no level
	Phase   string    `json:"phase"`           // what the detector sees: idle, drawing and so on

	Point collectors.Point `json:"-"` // of its level
	Doubt string           `json:"-"` // why the newest reading of that is not good

	Inhibited *Inhibition `json:"inhibited,omitempty"`         // the work on it that is going on
	Waits     string      `json:"waits,omitempty"`             // a change of how it is measured that is not in force yet, since when and until what
	Known     string      `json:"service_knows_it"`            // known, unknown, unclear; empty: the service was not asked yet
	GoodAt    time.Time   `json:"last_good_at,omitzero"`       // of the newest level that was good
	LoadEnd   time.Time   `json:"last_load_end,omitzero"`      // of its newest load that is not rejected
	Every     float64     `json:"every_s,omitempty"`           // how often its level comes; 0: nobody said, so that nobody misses it
	LossSince time.Time   `json:"loss_since,omitzero"`         // when oil began to be missing by the tank book, while it goes on
	LossEnd   time.Time   `json:"loss_end,omitzero"`           // until when it was seen in the level, where it was; absent: it may go on
	LossBbl   float64     `json:"loss_bbl,omitempty"`          // so far, where it was seen in the level
	StoodFrom time.Time   `json:"stands_still_since,omitzero"` // since when its value stands of which an event says that it is stuck, while it does
}

// LongQuiet is how long a level speaks for what is, where nobody said how often it comes.
const LongQuiet = time.Hour

// Quiet says that a level was good when it came, so long ago that nobody knows whether its device still speaks: two should have come
// since, or nobody said when one should.
func (s TankStatus) Quiet(now time.Time) bool {
	often := time.Duration(s.Every * float64(time.Second))
	return s.Quality == collectors.Good.String() && now.Sub(s.At) > max(LongQuiet, 2*often)
}

// StandsStill says that the value stands of which an event says that it is stuck, where, and for how long; empty: it does not.
func (s TankStatus) StandsStill(now time.Time) string {
	if s.StoodFrom.IsZero() {
		return ""
	}
	return fmt.Sprintf("STANDS STILL at %s for %.1f h, as its value never did", cmp.Or(s.Gauge, "one value"), now.Sub(s.StoodFrom).Hours())
}

// tankStatus is tank i as its newest reading shows it. The ledger's lock is held.
func (l *Ledger) tankStatus(i int, t Tank) TankStatus {
	g := l.state.setups.configured[i] // a change that waits for the end of a load is shown at once, and that it waits
	looked, err := l.LookupOf(t.ID)
	if err != nil {
		looked = DeviceLookup{} // the box is out of service, and that is said
	}
	s := TankStatus{ID: t.ID, Known: looked.Found, Quality: collectors.Bad.String(), Phase: l.state.tanks.Phase(i), Waits: l.state.setups.waits(i, l.state.tanks), Inhibited: l.inhibited(t.ID, time.Now().Round(0)),
		LossSince: l.state.tankBook.Losing(i), Every: t.Every.Seconds()}
	if c, ok := l.state.setups.detector.Latest(l.state.tanks, i); ok {
		s.GoodAt = c.At.Round(0)
		at := func(seconds float64) time.Time {
			return s.GoodAt.Add(-time.Duration((c.Seconds - seconds) / l.state.setups.detector.Speed() * float64(time.Second)))
		}
		if loss := l.state.setups.detector.SlowLoss(l.state.tanks, i); !s.LossSince.IsZero() && at(loss.From).Sub(s.LossSince).Abs() < time.Minute {
			if s.LossBbl = hundredths(loss.Bbl + loss.In); !loss.GoesOn {
				s.LossEnd = at(loss.To)
			}
		}
		if since := l.state.setups.detector.StandsSince(l.state.tanks, i); since > 0 {
			s.StoodFrom = at(since)
		}
	}
	r, ok := l.latest.get(t.Level)
	if s.Point = t.Level; !ok {
		s.Doubt = "no value yet"
		return s
	}
	if r.Err != nil {
		s.Doubt = r.Err.Error()
	}
	s.At, s.Quality = r.At.Round(0), r.Quality.String()
	if r.Quality == collectors.Bad {
		return s
	}
	t.Height = g.Height
	in, err := t.Inches(r.Value, string(r.Unit), g.Offset)
	if err != nil {
		s.Quality, s.Error = collectors.Bad.String(), err.Error()
		return s
	}
	s.Level, s.Gauge = &in, tank.Length(in).Gauge()
	if r.Quality == collectors.Good && s.At.After(s.GoodAt) {
		s.GoodAt = s.At
	}
	if bbl, err := g.Table.Barrels(in); err == nil {
		s.Barrels = &bbl
	}
	return s
}

// TankRow is one line of `gauger tanks list`: a tank, and its newest load that is not rejected.
type TankRow struct {
	TankStatus
	Last *TicketRecord `json:"last_load,omitempty"`
}

// Snapshot is the newest readings, the tanks and what is going on, of one instant.
type Snapshot struct {
	Readings []collectors.Reading // of a level that no tank can have, or another figure that cannot be: Bad, with the reason
	Tanks    []TankStatus
	Episodes []Episode
	Held     []HeldTicket
}

// Snapshot copies what status shows.
func (l *Ledger) Snapshot() (s Snapshot) {
	l.see(func() { s = l.snapshot() })
	return s
}

func (l *Ledger) snapshot() Snapshot {
	s := Snapshot{Readings: l.latest.all(), Episodes: []Episode{}, Held: slices.Clone(l.state.held.all)}
	for _, k := range slices.Sorted(maps.Keys(l.state.episodes)) {
		if e := l.state.episodes[k]; e.Open {
			s.Episodes = append(s.Episodes, e)
		}
	}
	for i, t := range l.site.Tanks {
		s.Tanks = append(s.Tanks, l.tankStatus(i, t))
		if r := s.good(t.Level); r != nil && s.Tanks[i].Error != "" {
			r.Quality, r.Err = collectors.Bad, errors.New(s.Tanks[i].Error)
		}
		g := l.state.setups.configured[i]
		t.Height = g.Height
		if r := s.good(t.Interface); r != nil {
			_, err := t.Inches(r.Value, string(r.Unit), g.Offset)
			refuse(r, err)
		}
		for kind, of := range [...]Source{tank.TopTemperature: t.Top, tank.BottomTemperature: t.Bottom, tank.Gravity: t.Gravity, tank.BSW: t.BSW} {
			if r := s.good(of.Point); r != nil {
				_, err := Measured(figureKeys[kind], r.Value, r.Unit)
				refuse(r, err)
			}
		}
	}
	return s
}

// good is a point's reading that is not Bad; nil: there is none.
func (s *Snapshot) good(p collectors.Point) *collectors.Reading {
	for i := range s.Readings {
		if r := &s.Readings[i]; r.Point == p && r.Quality != collectors.Bad {
			return r
		}
	}
	return nil
}

// refuse makes a reading Bad where it can be nothing of what a tank takes it for.
func refuse(r *collectors.Reading, err error) {
	if err != nil {
		r.Quality, r.Err = collectors.Bad, fmt.Errorf("%w; look at its unit, order, scale and register", err)
	}
}

// Tanks says how each tank stands, in the order of the configuration.
func (l *Ledger) Tanks() (rows []TankRow, err error) {
	l.see(func() {
		var all []TicketRecord
		all, err = l.listTickets()
		rows = []TankRow{}
		for i, t := range l.site.Tanks {
			rows = append(rows, l.tankRow(i, t, all))
		}
	})
	return rows, err
}

// tankRow is tank i with its newest load. The ledger's lock is held.
func (l *Ledger) tankRow(i int, t Tank, tickets []TicketRecord) TankRow {
	row := TankRow{TankStatus: l.tankStatus(i, t), Last: LastLoad(tickets, t.ID)}
	if row.Last != nil && row.Last.Ticket == nil {
		row.Last.Person = "" // it is held: nobody has written or released it
	}
	return row
}

// LastLoad is the newest load of a tank that is booked; nil: there is none.
func LastLoad(tickets []TicketRecord, id string) *TicketRecord {
	for _, b := range slices.Backward(tickets) {
		if b.Tank == id && !b.Off() {
			return &b
		}
	}
	return nil
}

// TankFace is all that a picture of a tank shows.
type TankFace struct {
	TankRow
	Height  float64         `json:"height_in"`           // of the shell
	Room    *float64        `json:"room_bbl"`            // until it is full; null when there is no good level
	Good    *GoodLevel      `json:"last_good,omitempty"` // the newest level that was believed
	Levels  []tank.Moment   `json:"levels"`              // of the last day
	Going   []tank.Verdict  `json:"going_on,omitempty"`  // falls that are not decided yet
	PerHour *float64        `json:"fills_bbl_per_hour,omitempty"`
	Full    *filling.Moment `json:"full,omitempty"`       // when it will be; absent where it is not known
	Ready   *filling.Moment `json:"load_ready,omitempty"` // when it will hold a usual load; absent where it is not known
	Holds   bool            `json:"holds_load,omitempty"` // it does already
}

// GoodLevel is a level that was believed.
type GoodLevel struct {
	At    time.Time `json:"at"`
	In    float64   `json:"level_in"`
	Gauge string    `json:"gauge"`
	Bbl   float64   `json:"bbl"`
}

const (
	faceBack     = 24 * time.Hour   // of levels
	faceFresh    = 20 * time.Minute // a level that is older foretells nothing
	usualLoads   = 5                // the newest, of which a usual one is made
	usualAtLeast = 2
)

// Faces shows each tank at an instant; tickets are those that there are.
func (l *Ledger) Faces(tickets []TicketRecord, now time.Time) (faces []TankFace) {
	l.see(func() { faces = l.faces(tickets, now) })
	return faces
}

func (l *Ledger) faces(tickets []TicketRecord, now time.Time) []TankFace {
	faces := make([]TankFace, len(l.site.Tanks))
	for i, t := range l.site.Tanks {
		g := l.state.setups.configured[i]
		f := TankFace{TankRow: l.tankRow(i, t, tickets), Height: float64(g.Height), Going: l.state.setups.detector.Waiting(l.state.tanks, i)}
		f.Levels = l.state.setups.detector.Levels(l.state.tanks, i, now.Add(-faceBack), now.Add(faceFresh))
		var stock []filling.Level
		for _, m := range f.Levels {
			bbl, _ := g.Table.Extrapolated(m.In)
			stock = append(stock, filling.Level{At: m.At, Bbl: bbl})
		}
		if c, ok := l.state.setups.detector.Latest(l.state.tanks, i); ok {
			bbl, _ := g.Table.Extrapolated(c.In)
			f.Good = &GoodLevel{At: c.At.Round(0), In: hundredths(c.In), Gauge: tank.Length(c.In).Gauge(), Bbl: hundredths(bbl)}
		}
		t.Height = g.Height
		brim, _ := g.Table.Extrapolated(t.Brim())
		if f.Barrels != nil {
			f.Room = new(hundredths(max(0, brim-*f.Barrels)))
		}
		if !t.Lact && f.Inhibited == nil && !l.state.tanks.Loading(i) && f.Good != nil && now.Sub(f.Good.At).Abs() < faceFresh {
			f.foresee(stock, brim, tickets)
		}
		faces[i] = f
	}
	return faces
}

// foresee says what the last day's levels tell of the next hours.
func (f *TankFace) foresee(stock []filling.Level, brim float64, tickets []TicketRecord) {
	load, least := usualLoad(f.ID, tickets)
	f.Holds = load > 0 && f.Barrels != nil && *f.Barrels >= least+load
	flow, ok := filling.Of(stock)
	if !ok {
		return
	}
	f.PerHour = new(hundredths(flow.PerHour))
	if m, ok := flow.Until(brim); ok {
		f.Full = &m
	}
	if m, ok := flow.Until(least + load); ok && load > 0 && !f.Holds {
		f.Ready = &m
	}
}

// usualLoad is the barrels of a usual load of a tank, and the least that was left in it; 0 where too few are known.
func usualLoad(id string, tickets []TicketRecord) (bbl, left float64) {
	var loads []float64
	for _, b := range slices.Backward(tickets) {
		if b.Tank != id || b.Off() || b.Load == nil || b.Load.CloseBbl <= 0 || len(loads) == usualLoads {
			continue
		}
		if loads = append(loads, b.Load.GaugeBbl); len(loads) == 1 || b.Load.CloseBbl < left {
			left = b.Load.CloseBbl
		}
	}
	if len(loads) < usualAtLeast {
		return 0, 0
	}
	slices.Sort(loads)
	return loads[len(loads)/2], left
}

// inhibited is the work on a tank that is going on; nil when there is none. The ledger's lock is held.
func (l *Ledger) inhibited(id string, now time.Time) *Inhibition {
	for _, w := range l.state.inhibitions {
		if w.covers(id, now) {
			return &w
		}
	}
	return nil
}

// DeviceLookup keeps the service's answer to a query for a tank's external id.
type DeviceLookup struct {
	Tank   string    `json:"tank"`  // its id, or a device's
	Found  string    `json:"found"` // known, unknown, or unclear: the answer could not be read
	Device string    `json:"device,omitempty"`
	At     time.Time `json:"at"`
	Config uint32    `json:"config"` // that asked
	Note   string    `json:"note,omitempty"`
}

// What a lookup may find.
const (
	Known   = "known"
	Unknown = "unknown"
	Unclear = "unclear"
)

const lookupKey = "lookup/" // one per tank and device

// KeepLookup remembers what was found.
func (l *Ledger) KeepLookup(found DeviceLookup) error {
	return l.update(func(tx *txn) error {
		tx.putJSON(lookupKey+found.Tank, found)
		tx.afterCommit = append(tx.afterCommit, func() {
			l.log.Info().Str("id", found.Tank).Str("found", found.Found).Str("device", found.Device).Str("note", found.Note).
				Msg("the service was asked for an id")
		})
		return nil
	})
}

// LookupOf recalls a tank's lookup; zero: the service was not asked yet.
func (k *smallState) LookupOf(id string) (found DeviceLookup, err error) {
	err = k.LoadState(lookupKey+id, &found)
	return found, err
}
