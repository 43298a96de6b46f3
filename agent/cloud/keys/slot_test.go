package keys

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A candidate may be unknown to the gateway for half an hour, by this process's time where the clock was set meanwhile.
func TestHowLongACandidateIsYoung(t *testing.T) {
	for _, c := range []struct {
		since, open, wait time.Duration // when it came and when the ring was opened, from now; and how long until it is tried
		want              valueState
	}{
		{0, -time.Hour, 0, untried}, {0, -time.Hour, candidateYouth - 1, untried}, {0, -time.Hour, candidateYouth, refused},
		{3650 * day, 0, candidateYouth - 1, untried}, {3650 * day, 0, candidateYouth, refused}, {3650 * day, -candidateYouth, 0, refused},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := openFile(keyFile{}, time.Now, Seeds{testKey, otherKey})
			r.opened = time.Now().Add(c.open)
			r.state.Slots[Primary].add("candidate", "file", time.Now().Add(c.since))
			<-time.After(c.wait)
			r.Rejected(Key{Primary, "candidate"})
			if got := r.state.Slots[Primary].Entries[0].State; got != c.want {
				t.Errorf("%+v: %d, want %d", c, got, c.want)
			}
		})
	}
}

// The only value of a slot is refused at once: there is nothing to fall back to.
func TestAnOnlyValueIsNeverYoung(t *testing.T) {
	r := openFile(keyFile{}, time.Now, Seeds{Primary: testKey})
	r.Rejected(Key{Primary, testKey})
	r.Rejected(Key{Primary, "nobody's"})
	r.Accepted(Key{Primary, "nobody's"}, true)
	if e := r.state.Slots[Primary].Entries; len(e) != 1 || e[0].State != refused {
		t.Errorf("%+v", e)
	}
}

// A slot keeps sixteen values that the service never accepted. Refused ones go before untried ones, the oldest first.
func TestWhatASlotForgets(t *testing.T) {
	now := time.Now()
	var s slotState
	s.add("accepted", "file", now)
	s.Entries[0].State, s.Entries[0].OK = refused, now
	s.add("renewed", "renewal", now)
	for i := range candidatesPer - 1 {
		s.add(Secret(fmt.Sprint("candidate-", i)), "file", now)
	}
	if len(s.Entries) != candidatesPer+1 {
		t.Fatalf("%d values, want %d", len(s.Entries), candidatesPer+1)
	}
	s.Entries[s.find("candidate-9")].State = refused
	s.Entries[s.find("candidate-4")].State = refused
	for i, gone := range []Secret{"candidate-4", "candidate-9", "candidate-0", "candidate-1"} {
		if s.find(gone) < 0 {
			t.Errorf("%s is gone before its time", gone)
		}
		s.add(Secret(fmt.Sprint("later-", i)), "file", now)
		for what, right := range map[string]bool{
			"how many":               len(s.Entries) == candidatesPer+1,
			"the oldest is gone":     s.find(gone) < 0,
			"the renewed one stays":  s.find("renewed") >= 0,
			"the accepted one stays": s.find("accepted") >= 0,
			"the newest is first":    s.find(Secret(fmt.Sprint("later-", i))) == 0,
		} {
			if !right {
				t.Errorf("%s, when %s should be gone: %+v", what, gone, s.Entries)
			}
		}
	}
}

// A value that the slot has already goes first and keeps what it has proven; only a refusal is forgotten.
func TestAValueThatComesAgain(t *testing.T) {
	now := time.Now()
	before := now.Add(-day)
	s := slotState{Entries: []entry{
		{Value: "a", State: untried, Since: before}, {Value: "b", State: proven, Since: before, OK: before}, {Value: "c", State: refused, Since: before, OK: before},
	}}
	s.add("b", "renewal", now)
	s.add("c", "renewal", now)
	want := []entry{{Value: "c", State: untried, Since: now, OK: before}, {Value: "b", State: proven, Since: before, OK: before}, {Value: "a", State: untried, Since: before}}
	if fmt.Sprint(s.Entries) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", s.Entries, want)
	}
}
