package mqtt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// timed is a device whose messages carry their own time.
func timed(topic string) Device {
	return Device{Name: "radio", Brokers: Brokers{address}, ClientID: "gauger-test", Points: []Point{
		{Name: "level", Topic: topic, Value: "v", Time: "ts", Unit: "in"},
	}}
}

// sample is a message of such a device.
func sample(v float64, at time.Time) string {
	return fmt.Sprintf(`{"v": %v, "ts": %d}`, v, at.UnixMilli())
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// cutOnce breaks the connection while the n-th batch is being committed: it is kept, and its acknowledgement is lost.
func cutOnce(b *broker, n int) func([]collectors.Reading) error {
	count := 0
	return func([]collectors.Reading) error {
		if count++; count == n {
			b.cut()
		}
		return nil
	}
}

func TestRedeliveryAfterACommitCountsOnce(t *testing.T) {
	dead := timed("field/tk1")
	dead.Points[0].Time = "clock"
	for _, device := range []Device{timed("field/tk1"), at(address, "field/tk1"), dead} {
		point := "radio/" + device.Points[0].Name
		t.Run(point+device.Points[0].Time, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, h := newBroker(t), newMemo()
				h.emitting = cutOnce(b, 1)
				start(t, h, collect(t, Session{Dial: b.dial}, device))
				momentarily()
				var want []float64
				for i := range 10 {
					payload := fmt.Sprint(i)
					switch device.Points[0].Time {
					case "ts":
						payload = sample(float64(i), noon.Add(time.Duration(i)*time.Second))
					case "clock":
						payload = fmt.Sprintf(`{"v": %d, "clock": 0}`, i)
					}
					b.publish(t, "field/tk1", payload)
					want = append(want, float64(i))
				}
				later(time.Minute)
				if got := h.values(t, point, len(want)); !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
				if b.attempts() != 2 {
					t.Errorf("%d connections; the first should have been cut", b.attempts())
				}
				if n := b.unacknowledged("gauger-test"); n != 0 {
					t.Errorf("%d messages stay unacknowledged", n)
				}
			})
		})
	}
}

func TestEqualPayloadsWithoutATimeAreTwoReadings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := listen(t, at(address, "field/tk1"))
		for range 3 {
			b.publish(t, "field/tk1", "120")
		}
		momentarily()
		if got := h.goods("radio/field-tk1"); len(got) != 3 {
			t.Errorf("%v", got)
		}
	})
}

func TestOneMessageSentTwiceIsOneReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := listen(t, timed("field/tk1"))
		b.publish(t, "field/tk1", sample(5, noon))
		b.publish(t, "field/tk1", sample(5, noon)) // a gateway that repeats itself
		b.publish(t, "field/tk1", sample(5, noon.Add(time.Second)))
		momentarily()
		if got := h.all("radio/level"); len(got) != 2 || !got[0].At.Equal(noon) || !got[1].At.Equal(noon.Add(time.Second)) {
			t.Errorf("%v", got)
		}
	})
}

func TestRetainedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		d := timed("field/tk1")
		d.Points = append(d.Points, Point{Name: "plain", Topic: "field/tk2", Unit: "in"})
		retain := func(topic, payload string) {
			if err := b.server.Publish(topic, []byte(payload), true, 1); err != nil {
				t.Error(err)
			}
		}
		retain("field/tk1", sample(1, noon))
		retain("field/tk2", "9")
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		momentarily()
		if r := h.all("radio/level"); len(r) != 1 || r[0].Quality != collectors.Good || !r[0].At.Equal(noon) {
			t.Fatalf("with a time: %+v", r)
		}
		if r := h.all("radio/plain"); len(r) != 1 || r[0].Quality != collectors.Uncertain || r[0].Value != 9 {
			t.Fatalf("without a time: %+v", r)
		}
		b.publish(t, "field/tk1", sample(2, noon.Add(time.Minute)))
		b.publish(t, "field/tk2", "10")
		momentarily()
		b.cut() // with the new subscription both retained messages come again
		later(time.Minute)
		if r := h.all("radio/level"); len(r) != 2 {
			t.Errorf("an old retained message counted: %+v", r)
		}
		if got := h.goods("radio/plain"); !slices.Equal(got, []float64{10}) {
			t.Errorf("without a time: %v", got)
		}
	})
}

// A restart makes a device that has died no younger: what the broker had kept says when it last sent.
func TestWhatTheBrokerKeptSaysSinceWhenADeviceIsSilent(t *testing.T) {
	for _, c := range []struct {
		age    time.Duration
		silent bool
	}{{2 * time.Hour, true}, {time.Hour, false}} {
		synctest.Test(t, func(t *testing.T) {
			<-time.After(time.Until(noon)) // the box's own clock is right
			b, h := newBroker(t), newMemo()
			d := timed("field/tk1")
			d.Points[0].ExpectEvery = time.Hour
			sent := time.Now().Add(-c.age)
			if err := b.server.Publish("field/tk1", []byte(sample(1, sent)), true, 1); err != nil {
				t.Fatal(err)
			}
			start(t, h, collect(t, Session{Dial: b.dial}, d))
			later(time.Minute)
			n, all := h.noticed("silent"), h.all("radio/level")
			if told := len(n) == 1 && n[0].Since.Equal(sent.Truncate(time.Millisecond)) && all[len(all)-1].Quality == collectors.Bad; told != c.silent || len(n) > 1 {
				t.Errorf("of %s: told %+v, readings %+v", c.age, n, all)
			}
			b.publish(t, "field/tk1", sample(2, time.Now()))
			later(time.Minute)
			if n = h.noticed("silent"); c.silent && (len(n) != 2 || n[1].Until.IsZero()) {
				t.Errorf("heard again, and told %+v", n)
			}
		})
	}
}

func TestWhatWaitedAtTheBrokerWithoutATimeIsUncertain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		stop := start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		momentarily()
		stop()
		for i := range 30 {
			b.publish(t, "field/tk1", fmt.Sprint(200-5*i))
		}
		later(time.Hour)
		start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		later(5 * time.Second)
		b.publish(t, "field/tk1", "55")
		momentarily()
		all := h.all("radio/field-tk1")
		if len(all) != 31 {
			t.Fatalf("%d of 31 readings", len(all))
		}
		for i, r := range all[:30] {
			if r.Quality != collectors.Uncertain || r.Err == nil {
				t.Errorf("message %d, an hour old: %+v", i, r)
			}
		}
		if r := all[30]; r.Quality != collectors.Good || r.Value != 55 {
			t.Errorf("the live one: %+v", r)
		}
	})
}

func TestUndecodableMessagesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := listen(t, timed("field/tk1"))
		fail := errors.New("disk full")
		h.mu.Lock()
		h.emitting = func([]collectors.Reading) error { err := fail; fail = nil; return err }
		h.mu.Unlock()
		for _, payload := range []string{`{"v": "E05", "ts": 1772366400}`, `{"v": 5`, `{"level": 5}`, `{"v": [1]}`} {
			b.publish(t, "field/tk1", payload)
		}
		later(refusedWait + time.Second)
		if len(h.kept()) != 4 {
			t.Fatalf("kept %d of 4 once each: %v", len(h.kept()), h.kept())
		}
		if r := h.kept()[0]; r.Source != "field/tk1" || string(r.Raw) != `{"v": "E05", "ts": 1772366400}` || !strings.Contains(r.Err.Error(), "E05") {
			t.Errorf("kept %+v", r)
		}
		for _, r := range h.all("radio/level") {
			if r.Quality != collectors.Bad || r.Err == nil {
				t.Errorf("reading %+v", r)
			}
		}
		if n := b.unacknowledged("gauger-test"); n != 0 {
			t.Errorf("%d stay unacknowledged", n)
		}
	})
}

// recalled is a host's memory under a name.
func recalled(h *memo, name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.memory[name])
}

func TestOldSubscriptionsEnd(t *testing.T) {
	for _, remembers := range []bool{true, false} {
		t.Run(fmt.Sprint("remembers ", remembers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, h := newBroker(t), newMemo()
				stop := start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/old", "field/tk1")))
				momentarily()
				stop()
				for range 30 {
					b.publish(t, "field/old", "1")
				}
				if !remembers {
					h = newMemo()
				}
				start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
				later(10 * time.Second)
				for i := range 100 {
					b.publish(t, "field/tk1", fmt.Sprint(i))
				}
				momentarily()
				if got := h.goods("radio/field-tk1"); len(got) != 100 {
					t.Errorf("%d of 100 messages came", len(got))
				}
				// This broker ignores what has the packet id of a message in flight; it is asked again.
				later(unsubscribeEvery)
				b.publish(t, "field/old", "1")
				momentarily()
				c, _ := b.server.Clients.Get("gauger-test")
				if subs := c.State.Subscriptions.GetAll(); len(subs) != 1 {
					t.Errorf("subscriptions at the broker: %v", subs)
				}
				n := h.noticed("unknown-topic")
				if len(n) != 2 || n[0].Source != "radio field/old" || !strings.HasPrefix(n[1].Note, "10 messages") {
					t.Errorf("told: %+v", n)
				}
				want := `"topics":["field/tk1"]`
				if m := recalled(h, "mqtt gauger-test "+address); !strings.Contains(m, want) {
					t.Errorf("remembered %s, not %s", m, want)
				}
			})
		})
	}
}

func TestOverlappingFiltersDeliverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		d := at(address, "field/tk1", "field/+", "field/#")
		for i, name := range []string{"one", "level", "all"} {
			d.Points[i].Name = name
		}
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		momentarily()
		b.publish(t, "field/tk1", "5")
		momentarily()
		for _, name := range []string{"one", "level", "all"} {
			if got := h.goods("radio/" + name); len(got) != 1 {
				t.Errorf("%s: %v", name, got)
			}
		}
	})
}

func TestAnOldRetainedMessageIsNoNews(t *testing.T) {
	sessions, err := newSessions([]Device{timed("t")}, Session{})
	if err != nil {
		t.Fatal(err)
	}
	digest := func(retained bool, at time.Time) int {
		readings, why := sessions[0].committer.decodeMessage(arrival{Message: bare{payload: []byte(sample(1, at)), retained: retained}, at: at})
		if why != nil {
			t.Error(why)
		}
		return len(readings)
	}
	for _, c := range []struct {
		retained bool
		at       time.Time
		want     int
	}{
		{true, noon, 1},
		{false, noon.Add(time.Hour), 1},
		{true, noon.Add(time.Minute), 0},
		{false, noon.Add(2 * time.Minute), 1}, // late, but sent to be read
		{true, noon.Add(2 * time.Hour), 1},
		{true, noon.Add(90 * time.Minute), 0},
	} {
		if got := digest(c.retained, c.at); got != c.want {
			t.Errorf("retained %v at %s: %d readings, want %d", c.retained, c.at, got, c.want)
		}
	}
}

func TestWhatIsBeingKeptWhenWeStopIsAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		h.emitting = func([]collectors.Reading) error {
			<-time.After(100 * time.Millisecond) // a slow disk
			return nil
		}
		stop := start(t, h, collect(t, Session{Dial: b.dial}, at(address, "field/tk1")))
		momentarily()
		b.publish(t, "field/tk1", "5")
		momentarily()
		stop()
		if got, left := h.goods("radio/field-tk1"), b.unacknowledged("gauger-test"); len(got) != 1 || left != 0 {
			t.Errorf("kept %v, and %d unacknowledged: it would come twice", got, left)
		}
	})
}
