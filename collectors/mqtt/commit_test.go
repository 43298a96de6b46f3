package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// wire is the network under a packetConn: what was written, one piece for each packet on a link that is paid by the packet.
type wire struct {
	net.Conn
	written []int
}

func (w *wire) SetWriteDeadline(time.Time) error { return nil }

func (w *wire) Write(p []byte) (int, error) {
	w.written = append(w.written, len(p))
	return len(p), nil
}

// handed is a message that a broker has handed on through a packetConn, with its topic and quality of service.
type handed struct {
	bare
	via   *packetConn
	topic string
	qos   byte
	id    uint16
	dup   bool
}

func (m handed) Topic() string     { return m.topic }
func (m handed) Qos() byte         { return m.qos }
func (m handed) MessageID() uint16 { return m.id }
func (m handed) Duplicate() bool   { return m.dup }

func (m handed) Ack() {
	if m.qos > 0 {
		m.via.holdAck(pubackPacket, m.id)
	}
}

// TestAGroupIsAcknowledgedAtOnce: the acknowledgements of a group leave together, one write for each connection, also when
// messages that want none are among them; none stays behind.
func TestAGroupIsAcknowledgedAtOnce(t *testing.T) {
	var group []arrival
	var wires []*wire
	for n, qos := range [][]byte{{1, 0, 1, 0, 1, 0}, {0, 1, 1}, {1}, {0, 0}} {
		w := &wire{}
		via := newPacketConn(w, maxPacket, nil)
		wires = append(wires, w)
		for id, q := range qos {
			via.countReceived()
			group = append(group, arrival{Message: handed{via: via, topic: "t", qos: q, id: uint16(10*n + id)}, conn: via})
		}
	}
	acknowledge(group)
	got := ""
	for _, w := range wires {
		got += fmt.Sprint(w.written)
	}
	if want := "[12][8][4][]"; got != want {
		t.Errorf("bytes by write of each connection are %s, want %s", got, want)
	}
	for _, a := range group {
		if a.conn.unacked != 0 {
			t.Errorf("%d messages are open after all were settled", a.conn.unacked)
		}
	}
}

// TestAHostThatTakesNothingIsAskedLessAndLess: from every tenth of a second to every ten, never more than half that early,
// and not all sessions at the same instants.
func TestAHostThatTakesNothingIsAskedLessAndLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newMemo()
		var asked []time.Time
		h.emitting = func([]collectors.Reading) error {
			if asked = append(asked, time.Now()); len(asked) < 100 {
				return errors.New("disk full")
			}
			return nil
		}
		s := delivery{host: h}
		if err := s.deliver(t.Context(), nil, make([]collectors.Reading, 1)); err != nil || len(h.batches) != 1 {
			t.Fatalf("%d batches taken at last, %v", len(h.batches), err)
		}
		gaps := map[time.Duration]bool{}
		longest := firstRetry
		for i := 1; i < len(asked); i++ {
			gap := asked[i].Sub(asked[i-1])
			if gap < longest/2 || gap >= longest {
				t.Errorf("asked again after %s, want half of %s to that", gap, longest)
			}
			gaps[gap] = true
			longest = min(2*longest, longestRetry)
		}
		if len(gaps) < 50 {
			t.Errorf("only %d waits of 99 differ", len(gaps))
		}
	})
}

// TestEachAbsenceOfTheBrokerIsToldOfEachPoint: a value between two absences is Good, and Bad again in the second one; after
// each a point of which nothing came no longer says that the broker is away.
func TestEachAbsenceOfTheBrokerIsToldOfEachPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		want := ""
		for _, value := range []string{"1", "2", "", "3"} {
			later(5 * time.Minute)
			if value != "" {
				b.publish(t, "field/tk1", value)
				want += value + " "
			}
			want += "away back "
			momentarily()
			b.down()
			later(5 * time.Minute)
			b.up(t)
		}
		got := ""
		for _, r := range h.all("radio/field-tk1") {
			switch {
			case r.Quality == collectors.Good:
				got += fmt.Sprint(r.Value) + " "
			case strings.HasPrefix(r.Err.Error(), "the broker is away"):
				got += "away "
			case strings.HasPrefix(r.Err.Error(), "the broker is back"):
				got += "back "
			}
		}
		if got += "back "; got != want { // the last return has not lasted yet
			t.Errorf("heard %s, want %s", got, want)
		}
	})
}

// TestOfManyFaultsOfOneMessageSomeAreTold: what is kept of a message with a hundred spoiled elements says a few of them.
func TestOfManyFaultsOfOneMessageSomeAreTold(t *testing.T) {
	g, err := newSessions([]Device{{Name: "d", Brokers: Brokers{address}, Points: []Point{{Name: "a", Topic: "t", Value: "c[*]"}}}}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	list := strings.TrimSuffix(strings.Repeat(`"?",`, 100), ",")
	readings, why := g[0].committer.decodeMessage(arrival{Message: handed{topic: "t", bare: bare{payload: []byte(`{"c":[` + list + `]}`)}}, at: noon})
	if why == nil || strings.Count(why.Error(), "point d/a") != maxReasons || len(readings) != 100 {
		t.Errorf("%d Bad readings, kept for %v; want 100 and %d reasons", len(readings), why, maxReasons)
	}
}

// TestMessagesThatAreSentOnceTakeNoRoomInTheMemory: however many come of quality of service 0, which no broker sends again,
// one of quality of service 1 is recognised when it comes again.
func TestMessagesThatAreSentOnceTakeNoRoomInTheMemory(t *testing.T) {
	g, err := newSessions([]Device{at(address, "t")}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	digest := func(m handed) int {
		readings, why := g[0].committer.decodeMessage(arrival{Message: m, at: noon})
		if why != nil {
			t.Fatal(why)
		}
		return len(readings)
	}
	once := handed{topic: "t", qos: 1, id: 7, bare: bare{payload: []byte("120")}}
	if digest(once) != 1 {
		t.Fatal("the first one is no reading")
	}
	for n := range recentItems {
		if digest(handed{topic: "t", bare: bare{payload: fmt.Append(nil, n)}}) != 1 {
			t.Fatal("one of quality of service 0 is no reading")
		}
	}
	if once.dup = true; digest(once) != 0 {
		t.Error("a message that was delivered again is two readings")
	}
}

// TestATopicThatNobodyReadsIsUnsubscribedNowAndThen: at once, and after ten minutes again if it still comes; and so many
// topics at most are told apart.
func TestATopicThatNobodyReadsIsUnsubscribedNowAndThen(t *testing.T) {
	g, err := newSessions([]Device{at(address, "mine")}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	s := g[0]
	asked := func(topic string, after time.Duration) int {
		if readings, why := s.committer.decodeMessage(arrival{Message: handed{topic: topic}, at: noon.Add(after)}); len(readings) > 0 || why != nil {
			t.Fatal(readings, why)
		}
		n := len(s.requests.unsubscribes)
		for range n {
			<-s.requests.unsubscribes
		}
		return n
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 1}, {time.Second, 0}, {unsubscribeEvery - time.Second, 0}, {unsubscribeEvery, 1}, {unsubscribeEvery + time.Second, 0}, {2 * unsubscribeEvery, 1}} {
		if got := asked("other", c.after); got != c.want {
			t.Errorf("%s after the first message: asked %d times, want %d", c.after, got, c.want)
		}
	}
	total := 1
	for n := range 3 * maxUnknownTopics {
		total += asked(fmt.Sprint("other/", n), 0)
	}
	if total != maxUnknownTopics {
		t.Errorf("%d topics are told apart, want %d", total, maxUnknownTopics)
	}
}

// counting is a host that counts what it is asked to keep as it is.
type counting struct {
	*memo
	asked int
}

func (h *counting) Refuse(ctx context.Context, batch []collectors.Refusal) error {
	h.asked++
	return h.memo.Refuse(ctx, batch)
}

// TestAHostIsAskedForWhatThereIs: nothing is written for messages of which nothing has to be kept, and what was kept is not
// kept again when the readings beside it are offered once more.
func TestAHostIsAskedForWhatThereIs(t *testing.T) {
	h := &counting{memo: newMemo()}
	d := delivery{host: h}
	refused, batch := make([]collectors.Refusal, 1), make([]collectors.Reading, 1)
	if left, err := d.handOver(t.Context(), nil, batch); err != nil || left != nil || h.asked != 0 || len(h.batches) != 1 {
		t.Errorf("readings alone: asked %d times to keep, left %v, %d batches, %v; want 0, none, 1 and no error", h.asked, left, len(h.batches), err)
	}
	if left, err := d.handOver(t.Context(), refused, nil); err != nil || left != nil || h.asked != 1 || len(h.batches) != 1 {
		t.Errorf("a refusal alone: asked %d times to keep, left %v, %d batches, %v; want 1, none, 1 and no error", h.asked, left, len(h.batches), err)
	}
	h.emitting = func([]collectors.Reading) error { return errors.New("disk full") }
	if left, err := d.handOver(t.Context(), refused, batch); err == nil || len(left) != 0 || len(h.refused) != 2 {
		t.Errorf("%d are still to be kept, %v", len(left), err)
	}
}

// TestWhatCannotBeReadIsStoredTogether: a device that talks nonsense ten times a second costs a commit for twenty messages, and none is
// acknowledged before; a good reading is stored at once, and waits for its acknowledgement only.
func TestWhatCannotBeReadIsStoredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), &counting{memo: newMemo()}
		stop := start(t, h, collect(t, Session{Dial: b.dial}, timed("field/tk1")))
		later(backlogLimit)
		const n = 600
		for i := range n {
			b.publish(t, "field/tk1", fmt.Sprintf(`{"ts": %d}`, i))
			later(100 * time.Millisecond)
			if got := len(h.kept()) + b.unacknowledged("gauger-test"); got < i+1 {
				t.Fatalf("of %d messages %d are stored, and the broker has %d", i+1, len(h.kept()), got-len(h.kept()))
			}
		}
		if h.asked > n/receiveWindow+1 {
			t.Errorf("%d commits for %d messages", h.asked, n)
		}
		b.publish(t, "field/tk1", sample(55, noon))
		momentarily()
		if got := h.goods("radio/level"); len(got) != 1 {
			t.Errorf("good readings: %v", got)
		}
		later(refusedWait)
		if got := b.unacknowledged("gauger-test"); got != 0 || len(h.kept()) != n {
			t.Errorf("%d are not acknowledged, %d stored", got, len(h.kept()))
		}
		b.publish(t, "field/tk1", "the last")
		momentarily()
		stop()
		if got := h.kept(); len(got) != n+1 || got[n].Device != "radio" {
			t.Errorf("%d stored at the end, want %d", len(got), n+1)
		}
	})
}

// sparing is a host that has no room.
type sparing struct{ *counting }

func (sparing) Keeps(collectors.Refusal) bool { return false }

// TestWhatIsOnlyCountedWaitsForNothing: where nothing is to be stored, nothing holds up the broker.
func TestWhatIsOnlyCountedWaitsForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), sparing{&counting{memo: newMemo()}}
		start(t, h, collect(t, Session{Dial: b.dial}, timed("field/tk1")))
		later(backlogLimit)
		b.publish(t, "field/tk1", "nonsense")
		momentarily()
		if got := b.unacknowledged("gauger-test"); got != 0 || h.asked != 0 {
			t.Errorf("%d are not acknowledged; asked %d times to store", got, h.asked)
		}
	})
}

// TestAValueThatIsInNoMessageIsTold, with the keys that are there, and its end; a gateway that sends what has changed is not accused.
func TestAValueThatIsInNoMessageIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(address, "field/tk1", "field/tk1", "field/+")
		for i, v := range []string{"tank.lvl", "tank.temp", "tank.water"} {
			d.Points[i].Name, d.Points[i].Value = []string{"level", "temp", "water"}[i], v
		}
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		momentarily()
		send := func(times int, payload string) []collectors.Notice {
			for i := range times {
				b.publish(t, "field/tk1", fmt.Sprintf(payload, i))
				later(2 * time.Second)
			}
			return h.noticed("value-missing")
		}
		send(1, `{"tank": {"temp": %d, "water": 3}}`)
		if told := send(missesTold-2, `{"tank": {"temp": 6%d, "level": 171.25}}`); len(told) > 0 {
			t.Errorf("told too early: %+v", told)
		}
		const want = `messages come on topic field/tk1, and value tank.lvl: not in the message; "tank" there has the keys "level", "temp"`
		told := send(120, `{"tank": {"temp": 6%d, "level": 171.25}}`)
		if len(told) != 1 || told[0].Source != "radio/level" || told[0].Note != want || !told[0].Until.IsZero() {
			t.Errorf("told %+v", told)
		}
		if told = send(1, `{"tank": {"lvl": 171.2%d}}`); len(told) != 2 || told[1].Source != "radio/level" || told[1].Until.IsZero() {
			t.Errorf("its end: %+v", told)
		}
	})
}

// TestAMissingValueIsNoSilence: one cause is told of once, and the device that speaks is not blamed.
func TestAMissingValueIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(address, "field/tk1", "field/tk1")
		d.Points[0].Value, d.Points[0].ExpectEvery = "level", 10*time.Second
		d.Points[1].Name, d.Points[1].Value = "other", "lvl"
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		later(2 * time.Second)
		for range 3 * missesTold {
			b.publish(t, "field/tk1", `{"lvl": 142.5}`)
			later(2 * time.Second)
		}
		if told, all := h.noticed("value-missing"), h.all("radio/field-tk1"); len(told) != 1 || !strings.Contains(told[0].Note, `has the keys "lvl"`) || all[len(all)-1].Quality != collectors.Bad {
			t.Errorf("told %+v, read %v", told, all)
		}
		b.publish(t, "field/tk1", `{"level": 142.5, "lvl": 142.5}`)
		later(2 * time.Second)
		if told := h.noticed("value-missing"); len(told) != 2 || told[1].Until.IsZero() || len(h.noticed("silent")) > 0 {
			t.Errorf("its end: %+v, silent: %+v", told, h.noticed("silent"))
		}
		later(time.Minute)
		if len(h.noticed("silent")) != 1 {
			t.Errorf("silent then: %+v", h.noticed("silent"))
		}
	})
}

// TestWhatIsMissingNamesWhatIsThere, and is still errAbsent.
func TestWhatIsMissingNamesWhatIsThere(t *testing.T) {
	for path, want := range map[string]string{"a": `which has the keys "tank"`, "tank.level.in": `"tank.level" there is a single value`, "tank.list[4]": `"tank.list" there is a list of 2`,
		"tank.none.in": `"tank.none" there is empty`} {
		p, err := parsePath(path)
		if err != nil {
			t.Fatal(err)
		}
		root, err := (&document{payload: []byte(`{"tank": {"level": 1, "list": [1, 2], "none": {}}}`)}).json()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.lookUp(root); !errors.Is(err, errAbsent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
