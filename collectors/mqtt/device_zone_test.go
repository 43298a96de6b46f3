package mqtt

import (
	"fmt"
	"slices"
	"strings"
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
				t.Errorf("message %d decoded again: %+v, %v; want one reading of the past at %v", i, got, err, o.want)
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
		if got, err := parseInZone("2026-11-01 01:30:00", denver, first.Add(arrived)); err != nil || !got.Equal(want) {
			t.Errorf("arrived %s after the first: %s (%v), want %s", arrived, got.UTC(), err, want)
		}
	}
}

// here makes UTC the box's zone, and gives a session with a point in a site so many hours from it.
func here(t *testing.T, hours int, change func(*Point)) *session {
	t.Helper()
	box := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = box })
	d := timed("t")
	d.Zone = time.FixedZone("site", hours*3600)
	if change != nil {
		change(&d.Points[0])
	}
	g, err := newSessions([]Device{d}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	g[0].committer.host = newMemo()
	return g[0]
}

// TestTheZoneThatIsClearlyNearer: a live message is of about now. One of half an hour ago, where the zones are an hour apart, may
// be of either; zones in which it is the same instant are all possible; and nothing is of the time to come.
func TestTheZoneThatIsClearlyNearer(t *testing.T) {
	for _, c := range []struct {
		site int           // hours from UTC, which is the box's zone too
		off  time.Duration // of the message's time, if it is UTC
		want string
	}{
		{-6, 0, "[utc box]"}, {-6, -6 * time.Hour, "[site]"}, {-6, -3 * time.Hour, "[]"}, {-6, -179 * time.Minute, "[utc box]"}, {-6, 9 * time.Minute, "[utc box]"},
		{-1, 0, "[utc box]"}, {-1, -20 * time.Minute, "[utc box]"}, {-1, -30 * time.Minute, "[]"}, {-1, -40 * time.Minute, "[]"}, {-1, -time.Hour, "[site]"},
		{0, 0, "[site utc box]"}, {0, -5 * time.Hour, "[site utc box]"}, {0, 11 * time.Minute, "[]"},
	} {
		p := here(t, c.site, nil).committer.points.all[0]
		if got := fmt.Sprint(p.nearestZones(noon.Add(c.off).Format("2006-01-02 15:04:05"), zoneWords, noon)); got != c.want {
			t.Errorf("%s from now in UTC, the site %d hours from it: %s, want %s", c.off, c.site, got, c.want)
		}
	}
	if got := here(t, -6, nil).committer.points.all[0].nearestZones("1970-01-01 00:10:00", zoneWords, time.Unix(600, 0)); got != nil {
		t.Errorf("by a box whose clock was never set it is %v", got)
	}
}

// TestUntilTheZoneIsKnown: for a minute a live message has the time of its arrival, and nobody is told; then the zone holds,
// and is stored once. Where a message does not tell, people are told to.
func TestUntilTheZoneIsKnown(t *testing.T) {
	s := here(t, -6, nil)
	h := s.committer.host.(*memo)
	digest := func(after, age time.Duration) time.Time {
		t.Helper()
		at := noon.Add(after)
		readings, why := s.committer.decodeMessage(arrival{Message: handed{topic: "t", bare: bare{payload: []byte(plainTime(after.Seconds(), at.Add(-age), time.UTC))}}, at: at})
		if why != nil || len(readings) != 1 {
			t.Fatalf("%v, %v", readings, why)
		}
		s.committer.noticeMemoryFailed(s.committer.zones.remember(h, s.settings))
		return readings[0].At
	}
	told := func() (rules string) {
		for n, more := s.notices.first(); more; n, more = s.notices.first() {
			rules += n.Rule + " "
			s.notices.drop()
		}
		return rules
	}
	for _, after := range []time.Duration{0, 30 * time.Second, 59 * time.Second} {
		if at := digest(after, 10*time.Second); !at.Equal(noon.Add(after)) {
			t.Errorf("%s after the first one the time is %s, want that of the arrival", after, at)
		}
	}
	if rules, m := told(), recalled(h, zonesKey(s.settings)); rules != "" || m != "" {
		t.Errorf("meanwhile told %q, stored %s", rules, m)
	}
	if at := digest(61*time.Second, 10*time.Second); !at.Equal(noon.Add(51 * time.Second)) {
		t.Errorf("after a minute the time is %s, want the device's", at)
	}
	if m := recalled(h, zonesKey(s.settings)); m != `{"site":"site","zones":{"radio/level":["utc","box"]}}` {
		t.Errorf("stored %s", m)
	}
	h.memory = map[string][]byte{}
	if at := digest(time.Hour, 5*time.Hour); !at.Equal(noon.Add(-4*time.Hour)) || len(h.memory) > 0 || told() != "" {
		t.Errorf("an old one later: of %s, stored again %v", at, h.memory)
	}
	s = here(t, -1, nil)
	if at := digest(0, 40*time.Minute); !at.Equal(noon) || told() != "device-time " {
		t.Errorf("40 minutes old, with the site an hour away: of %s, or nobody is told", at)
	}
}

// TestTheZoneOfAListIsThatOfItsNewest: a list tells older samples too, in any order; each has its own time at once.
func TestTheZoneOfAListIsThatOfItsNewest(t *testing.T) {
	for _, order := range [][]time.Duration{{0, -6 * time.Hour, -3 * time.Hour}, {-6 * time.Hour, 0, -3 * time.Hour}, {-6 * time.Hour, -3 * time.Hour, 0}} {
		s := here(t, -6, func(p *Point) { p.Value, p.Time = "c[*].v", "c[*].ts" })
		payload := ""
		for _, age := range order {
			payload += "," + plainTime(age.Hours(), noon.Add(age), time.UTC)
		}
		readings, why := s.committer.decodeMessage(arrival{Message: handed{topic: "t", bare: bare{payload: []byte(`{"c":[` + payload[1:] + `]}`)}}, at: noon})
		if why != nil || len(readings) != 3 {
			t.Fatalf("%v, %v", readings, why)
		}
		for _, r := range readings {
			if got := r.At.Sub(noon).Hours(); got != r.Value {
				t.Errorf("list of %v: a sample of %v h is at %v h", order, r.Value, got)
			}
		}
	}
}

// TestATimeThatCannotBeCostsItsListNoZone: one sample of a list is of the time to come in whatever zone. It alone has the
// time of its arrival.
func TestATimeThatCannotBeCostsItsListNoZone(t *testing.T) {
	for _, wrong := range []time.Duration{5 * time.Hour, 80 * 365 * 24 * time.Hour} {
		for at := range 3 {
			samples := []string{plainTime(-3, noon.Add(-3*time.Hour), time.UTC), plainTime(0, noon, time.UTC)}
			samples = slices.Insert(samples, at, plainTime(99, noon.Add(wrong), time.UTC))
			s := here(t, -6, func(p *Point) { p.Value, p.Time = "[*].v", "[*].ts" })
			payload := "[" + strings.Join(samples, ",") + "]"
			readings, why := s.committer.decodeMessage(arrival{Message: handed{topic: "t", bare: bare{payload: []byte(payload)}}, at: noon})
			if why != nil || len(readings) != 3 {
				t.Fatalf("%v, %v", readings, why)
			}
			for _, r := range readings {
				want := noon
				if r.Value != 99 {
					want = noon.Add(time.Duration(r.Value) * time.Hour)
				}
				if !r.At.Equal(want) {
					t.Errorf("%s: the sample %v is at %s, want %s", payload, r.Value, r.At, want)
				}
			}
		}
	}
}
