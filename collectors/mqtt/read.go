package mqtt

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"gauger/collectors"
)

// Read listens beside a running daemon, with sessions of its own that leave nothing behind, until each point has had
// one message or ctx ends. It returns one reading for each point, in the order of the devices: Uncertain for what the
// broker had retained without a time, Bad with the reason where nothing came. Give ctx a time limit: a point that is
// published every ten minutes may need ten. The error is about the options, as with New.
func Read(ctx context.Context, devices []Device, opt ...Session) ([]collectors.Reading, error) {
	chosen := Session{Clean: true}
	if len(opt) > 0 {
		chosen = opt[0]
		chosen.Clean = true
	}
	sessions, err := newSessions(devices, chosen)
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sink := &firstReadings{first: map[collectors.Point]collectors.Reading{}, done: cancel}
	for _, d := range devices {
		for _, p := range d.Points {
			if !p.Template() {
				sink.missing++
			}
		}
	}
	if err := sessions.Run(ctx, sink); err != nil {
		return nil, err
	}
	return sink.readings(devices, time.Since(begun)), nil
}

// firstReadings is the host of a Read: it keeps the first reading of each point and ends the listening with the last.
type firstReadings struct {
	mu      sync.Mutex
	first   map[collectors.Point]collectors.Reading
	missing int // points without a reading
	done    func()
}

// Emit takes the first reading of each point.
func (r *firstReadings) Emit(_ context.Context, batch []collectors.Reading) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, reading := range batch {
		if _, has := r.first[reading.Point]; has || reading.Past {
			continue
		}
		r.first[reading.Point] = reading
		if r.missing--; r.missing == 0 {
			r.done()
		}
	}
	return nil
}

// Refuse has nothing to keep: the Bad reading that comes with it says what was wrong.
func (r *firstReadings) Refuse(context.Context, []collectors.Refusal) error { return nil }

// Notice has nobody to tell: a broker that is away makes Bad readings.
func (r *firstReadings) Notice(context.Context, collectors.Notice) error { return nil }

// Recall knows nothing: a clean session has no past.
func (r *firstReadings) Recall(string) ([]byte, error) { return nil, nil }

// Remember keeps nothing.
func (r *firstReadings) Remember(string, []byte) error { return nil }

// Hurry implements collectors.Host.
func (r *firstReadings) Hurry([]collectors.Point) bool { return false }

// readings are the results in the order of the configuration.
func (r *firstReadings) readings(devices []Device, waited time.Duration) []collectors.Reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []collectors.Reading
	for _, d := range devices {
		for _, p := range d.Points {
			if p.Template() {
				continue // what it makes is known from the messages alone
			}
			name := collectors.PointOf(d.Name, p.Name)
			reading, has := r.first[name]
			if !has {
				reading = collectors.Reading{Point: name, Value: math.NaN(), Unit: collectors.Unit(p.Unit), At: time.Now(),
					Err: fmt.Errorf("no message %s within %s", p.origin(), waited.Round(time.Second/10))}
			}
			all = append(all, reading)
		}
	}
	return all
}

// origin names the topic or the node of the point's messages, for a person.
func (p Point) origin() string {
	if p.Sparkplug != "" {
		return fmt.Sprintf("of %s with the metric %s", p.Sparkplug, excerpt(p.Metric))
	}
	return "on topic " + p.Topic
}
