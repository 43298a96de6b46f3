package mqtt

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// plainTime is a message whose time has no zone.
func plainTime(v float64, at time.Time, zone *time.Location) string {
	return fmt.Sprintf(`{"v": %v, "ts": "%s"}`, v, at.In(zone).Format("2006-01-02 15:04:05"))
}

// outage is a site an hour behind UTC and a device on it whose times have no zone: live for a while, then away with the
// program for three hours, and live again. It returns the readings with the times that they must have.
type outage struct {
	device Device
	stamps *time.Location // the device's clock
	live   bool           // before the outage: so that its zone can be known
	want   []time.Time
	h      *memo
	c      collectors.Collector
}

func (o *outage) play(t *testing.T) []collectors.Reading {
	<-time.After(time.Until(noon)) // the box's own clock is right
	b := newBroker(t)
	o.h = newMemo()
	o.device.Zone = time.FixedZone("site", -3600)
	send := func(n int, every time.Duration) {
		for range n {
			o.want = append(o.want, time.Now().Truncate(time.Second))
			b.publish(t, "field/tk1", plainTime(float64(len(o.want)), time.Now(), o.stamps))
			later(every)
		}
	}
	stop := start(t, o.h, collect(t, Session{Dial: b.dial}, o.device))
	momentarily()
	if o.live {
		send(4, time.Minute)
	}
	stop()
	send(18, 10*time.Minute)
	o.c = collect(t, Session{Dial: b.dial}, o.device)
	start(t, o.h, o.c)
	later(time.Minute)
	send(4, time.Minute)
	return o.h.all("radio/level")
}

// off says that a reading has another time than it was made at; until the zone is known a live one has that of its arrival.
func off(r collectors.Reading, want []time.Time) bool {
	return r.At.Sub(want[int(r.Value)-1]).Abs() > time.Second
}

// TestABacklogHasTheZoneOfItsDevice: three hours of times without a zone, by a device that is an hour from the site, come
// at once after an outage. Each has its own time, and none the one that happens to be nearer.
func TestABacklogHasTheZoneOfItsDevice(t *testing.T) {
	box := time.Local
	time.Local = time.FixedZone("box", 3600)
	t.Cleanup(func() { time.Local = box })
	site := time.FixedZone("", -3600)
	for _, c := range []struct {
		name, key string
		stamps    *time.Location
		live      bool
	}{
		{"guessed UTC", "", time.UTC, true}, {"guessed site", "", site, true}, {"guessed box", "", time.Local, true},
		{"told UTC", "utc", time.UTC, false}, {"told site", "site", site, false}, {"told box", "box", time.Local, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := outage{device: timed("field/tk1"), stamps: c.stamps, live: c.live}
				o.device.Points[0].TimeZone = c.key
				all := o.play(t)
				if len(all) != len(o.want) {
					t.Fatalf("%d readings of %d", len(all), len(o.want))
				}
				for i, r := range all {
					if off(r, o.want) || r.Quality != collectors.Good {
						t.Errorf("reading %d: %v, %s at %s, want %s (%v)", i, r.Value, r.Quality, r.At, o.want[int(r.Value)-1], r.Err)
					}
				}
			})
		})
	}
}

// TestAZoneThatIsNotKnownIsNotGuessedFromABacklog: the first thing that is heard of a device is three hours old. It is kept,
// counted as not used, and can be decoded once the zone is known.
func TestAZoneThatIsNotKnownIsNotGuessedFromABacklog(t *testing.T) {
	box := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = box })
	synctest.Test(t, func(t *testing.T) {
		o := outage{device: timed("field/tk1"), stamps: time.UTC}
		all := o.play(t)
		for _, r := range all {
			old := int(r.Value) <= 18
			if old != r.AgeUnknown || old != (r.Quality == collectors.Uncertain) || !old && off(r, o.want) {
				t.Errorf("%v: %s, of unknown age %t, at %s (%v)", r.Value, r.Quality, r.AgeUnknown, r.At, r.Err)
			}
		}
		kept := o.h.kept()
		if len(all) != 22 || len(kept) != 18 {
			t.Fatalf("%d readings, %d kept", len(all), len(kept))
		}
		decode := o.c.(collectors.Decoder).Decoder()
		for i, k := range kept {
			got, err := decode(k)
			if err != nil || len(got) != 1 || !got[0].Past || off(got[0], o.want) {
				t.Errorf("message %d decoded again: %+v, %v", i, got, err)
			}
		}
	})
}

// TestAZoneIsGuessedOnceAndNotFromOneMessage: a message that comes live and is hours old does not settle it.
func TestAZoneIsGuessedOnceAndNotFromOneMessage(t *testing.T) {
	box := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = box })
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Until(noon))
		b, h := newBroker(t), newMemo()
		d := timed("field/tk1")
		d.Zone = time.FixedZone("site", -6*3600)
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		momentarily()
		send := func(age, pause time.Duration) time.Time {
			at := time.Now().Add(-age).Truncate(time.Second)
			b.publish(t, "field/tk1", plainTime(float64(age/time.Minute), at, time.UTC))
			later(pause)
			all := h.all("radio/level")
			return all[len(all)-1].At.Add(age).Add(pause)
		}
		for age := 6*time.Hour + 5*time.Minute; age > 5*time.Hour+50*time.Minute; age -= time.Minute { // a gateway that catches up
			send(age, time.Second)
		}
		for range 5 {
			send(0, 30*time.Second)
		}
		if at := send(6*time.Hour, time.Second); time.Since(at).Abs() > 2*time.Second {
			t.Errorf("six hours old, in UTC: off by %s", time.Since(at))
		}
	})
}

func TestCheckOfATimeZone(t *testing.T) {
	findsEach(t, []spoiled{
		{func(d *Device) { d.Points[0].TimeZone = "MST" }, "points[0].time_zone", "site, utc or box"},
		{func(d *Device) { d.Points[0].TimeZone, d.Points[0].Time = "utc", "" }, "points[0].time_zone", "needs time"},
	})
}

// TestTheHourThatComesTwice: in Denver 1:30 of November 1st 2026 is half past seven in UTC, and half past eight again.
func TestTheHourThatComesTwice(t *testing.T) {
	denver, err := time.LoadLocation("America/Denver")
	if err != nil {
		t.Skip(err)
	}
	first := time.Date(2026, 11, 1, 7, 30, 0, 0, time.UTC)
	for arrived, want := range map[time.Duration]time.Time{
		5 * time.Second: first, time.Hour - 11*time.Minute: first, time.Hour - 5*time.Minute: first.Add(time.Hour),
		time.Hour + 5*time.Second: first.Add(time.Hour), -5 * time.Minute: first,
	} {
		if got, err := local("2026-11-01 01:30:00", denver, first.Add(arrived)); err != nil || !got.Equal(want) {
			t.Errorf("arrived %s after the first: %s (%v), want %s", arrived, got.UTC(), err, want)
		}
	}
}
