package mqtt

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

// zoneWords are the zones that a device's time may be in when it does not say.
var zoneWords = []string{"site", "utc", "box"}

// learnAfter is the time for which live messages must agree on a zone before it is believed for good: what a gateway sends that
// catches up passes every age within seconds.
const learnAfter = time.Minute

// deviceZones are the zones that the points' times may still be in, as far as their messages have told.
type deviceZones struct {
	mu         sync.Mutex
	site       string // the site's zone in which that was found out
	candidates map[collectors.Point][]string
	unsaved    bool // not remembered yet
}

func (z *deviceZones) candidatesOf(p collectors.Point) []string {
	z.mu.Lock()
	defer z.mu.Unlock()
	if left := z.candidates[p]; len(left) > 0 {
		return left
	}
	return zoneWords
}

func (z *deviceZones) learn(p collectors.Point, left []string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.candidates == nil {
		z.candidates = map[collectors.Point][]string{}
	}
	z.candidates[p], z.unsaved = left, true
}

// storedZones are the candidates as the host keeps them over restarts.
type storedZones struct {
	Site  string                        `json:"site"`
	Zones map[collectors.Point][]string `json:"zones"`
}

// zonesKey is the name under which the host keeps them.
func zonesKey(s *settings) string { return "mqtt zones " + s.client }

// recall takes up what an earlier run has found out, unless the site has another zone now.
func (z *deviceZones) recall(host collectors.Host, s *settings) error {
	raw, err := host.Recall(zonesKey(s))
	if err != nil {
		return fmt.Errorf("recall the zones of times at %s: %w", s.label, err)
	}
	var m storedZones
	if raw == nil || json.Unmarshal(raw, &m) != nil || m.Site != z.site {
		return nil // what cannot be read, or is of another zone, is found out anew
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	z.candidates = m.Zones
	return nil
}

// remember stores them when they have changed.
func (z *deviceZones) remember(host collectors.Host, s *settings) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if !z.unsaved {
		return nil
	}
	raw, err := json.Marshal(storedZones{z.site, z.candidates})
	if err == nil {
		err = host.Remember(zonesKey(s), raw)
	}
	if err != nil {
		return fmt.Errorf("remember the zones of times at %s: %w", s.label, err)
	}
	z.unsaved = false
	return nil
}

// zoneGuess is the zone of a point's times in the message that is decoded now, where they do not say it.
type zoneGuess struct {
	zones     []string  // the zones that are possible; nil: they cannot be read
	liveZones []string  // what the latest live messages say,
	since     time.Time // and since when
	single    bool      // there is no next message: an old one is decoded again
}

// zoneOf puts a zone in the place of its word.
func (p *point) zoneOf(word string) *time.Location {
	switch word {
	case "utc":
		return time.UTC
	case "box":
		return time.Local
	}
	return p.siteZone
}

// resolveZone decides, once for a message, in which zone its times are, where they do not say. What a device keeps does not tell,
// since a time of hours ago is also the time of now in another zone: only live messages do, and the newest of their times.
func (p *point) resolveZone(doc *document, elements []jsonText, arrived time.Time) {
	g := &p.zoneGuess
	switch {
	case p.timeAt.path == nil:
		return
	case p.TimeZone != "":
		if g.zones == nil {
			g.zones = []string{p.TimeZone}
		}
		return
	}
	left := p.zones.candidatesOf(p.name)
	newest := p.newestZoneless(doc, elements, left, arrived)
	if newest == "" {
		return
	}
	if _, same := p.inZones(newest, left, arrived); same {
		g.zones = left
		return
	}
	if g.zones = nil; !doc.isLive {
		return
	}
	said := p.nearestZones(newest, left, arrived)
	switch {
	case said == nil || !slices.Equal(said, g.liveZones):
		g.liveZones, g.since = said, arrived
	case arrived.Sub(g.since) >= learnAfter && !g.single:
		g.zones = said
		p.zones.learn(p.name, said)
	}
	if p.listPath != nil || g.single { // of a list, the other samples are older than now
		g.zones = said
	}
}

// newestZoneless is the newest of the times without a zone in a message; empty: there is none. One that is of the time to
// come in all of the zones is it only where there is no other: it would cost the others their zone.
func (p *point) newestZoneless(doc *document, elements []jsonText, words []string, arrived time.Time) (newest string) {
	var last time.Time
	var lastCanBe bool
	for _, element := range elements {
		text, err := p.timeAt.text(doc, element)
		if err != nil {
			continue
		}
		at, err := parseInZone(string(text), time.UTC, arrived)
		if err != nil {
			continue
		}
		canBe := p.canBe(string(text), words, arrived)
		if newest == "" || canBe && !lastCanBe || canBe == lastCanBe && at.After(last) {
			newest, last, lastCanBe = string(text), at, canBe
		}
	}
	return newest
}

// canBe says that a time without a zone is not of the time to come in at least one of the zones.
func (p *point) canBe(text string, words []string, arrived time.Time) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		at, err := parseInZone(text, p.zoneOf(word), arrived)
		return err == nil && at.Sub(arrived) <= farAhead
	})
}

// inZones is a time without a zone in the zones that are possible; false: it is not the same in all of them.
func (p *point) inZones(text string, words []string, arrived time.Time) (at time.Time, same bool) {
	for i, word := range words {
		t, err := parseInZone(text, p.zoneOf(word), arrived)
		if err != nil || i > 0 && !t.Equal(at) {
			return at, false
		}
		at = t
	}
	return at, len(words) > 0
}

// nearestZones are the zones in which a live message is of now, if one is clearly nearer than the others; else nil. A box whose
// own clock was never set cannot tell.
func (p *point) nearestZones(text string, words []string, arrived time.Time) (said []string) {
	if arrived.Before(earliestTime) {
		return nil
	}
	var at time.Time
	for _, word := range words {
		t, err := parseInZone(text, p.zoneOf(word), arrived)
		switch {
		case err != nil || t.Sub(arrived) > farAhead:
		case said == nil || t.Sub(arrived).Abs() < at.Sub(arrived).Abs():
			said, at = []string{word}, t
		case t.Equal(at):
			said = append(said, word)
		}
	}
	for _, word := range words {
		if t, err := parseInZone(text, p.zoneOf(word), arrived); err == nil && !t.Equal(at) && 2*at.Sub(arrived).Abs() >= t.Sub(at).Abs() {
			return nil
		}
	}
	return said
}

// zoneless reads times without a zone as a point does; those of none in UTC.
type zoneless struct {
	point *point
	live  bool
}

func (z zoneless) parse(text string, arrived time.Time) (time.Time, error) {
	at, err := parseInZone(text, time.UTC, arrived)
	if err != nil || z.point == nil {
		return at, err
	}
	p := z.point
	if at, same := p.inZones(text, p.zoneGuess.zones, arrived); same {
		return at, nil
	}
	if z.live && p.zoneGuess.liveZones != nil {
		return time.Time{}, errNewZone
	}
	return time.Time{}, errZone
}

// stuckAfter bounds the time for which a device's clock may stay the same while its value moves. Two samples of one second have one
// time, and a gateway may tell a sample again for hours; but then the value is the same.
const stuckAfter = time.Minute

// deviceSample is the latest sample of a point by its device's time, and whether that time is stuck.
type deviceSample struct {
	at      time.Time // by the device
	arrived time.Time // when this time came first, by this machine's clock
	value   float64
	text    string
	stuck   bool
}

// What makes no sense now and then is one episode: it is over when the device's time has been right for recoveredFor, and in
// recoveredMessages in a row.
const (
	recoveredFor      = 10 * time.Minute
	recoveredMessages = 10
)

// clockFault is an episode in which a device's time makes no sense, in each message or now and then.
type clockFault struct {
	since      time.Time // zero: there is none
	goodSince  time.Time // the first message since the last wrong one
	goodCount  int       // messages since then
	wrongCount int       // messages of the episode
}

// trackClock tells when a device's time begins to make no sense, and when it has made sense again for a while.
func (p *point) trackClock(o *outcome, a arrival, told *notices) {
	u := &p.clockFault
	switch {
	case o.timeErr != nil && u.since.IsZero():
		*u = clockFault{since: a.at, wrongCount: 1}
		told.add(collectors.Notice{Rule: eventrules.DeviceTime, Source: string(p.name), Since: a.at, Note: o.timeErr.Error()})
	case o.timeErr != nil:
		u.goodCount, u.wrongCount = 0, u.wrongCount+1
	case o.deviceTime && !u.since.IsZero():
		if u.goodCount++; u.goodCount == 1 {
			u.goodSince = a.at
		}
		if u.goodCount < recoveredMessages || a.at.Sub(u.goodSince) < recoveredFor {
			return
		}
		told.add(collectors.Notice{
			Rule: eventrules.DeviceTime, Source: string(p.name), Since: u.since, Until: u.goodSince,
			Note: fmt.Sprintf("the device's time makes sense again; %d values had the time of their arrival", u.wrongCount),
		})
		*u = clockFault{}
	}
}

// rejectStuckTime takes the time back from an outcome whose device clock is stuck: then it is no time, and makes no two messages
// the same. What may have waited proves nothing about now, and a list tells old samples again with each message.
func (p *point) rejectStuckTime(o *outcome, a arrival) {
	r := &o.reading
	if !o.deviceTime || r.Past || p.listPath != nil {
		return
	}
	last := &p.lastSample
	switch {
	case r.Quality == collectors.Bad:
	case !r.At.Equal(last.at):
		*last = deviceSample{at: r.At, arrived: a.at, value: r.Value, text: r.Text}
	case math.Float64bits(r.Value) == math.Float64bits(last.value) && r.Text == last.text: // NaN where the value is words
	case !a.waited && !a.Retained() && a.at.Sub(last.arrived) >= stuckAfter:
		last.stuck = true
	default:
		last.value, last.text = r.Value, r.Text
	}
	if last.stuck && r.At.Equal(last.at) {
		o.deviceTime, r.At = false, a.at
		o.timeErr = fmt.Errorf("the device's clock stands at %s while its values change; the time of arrival is used", last.at.Format(time.RFC3339))
	}
}
