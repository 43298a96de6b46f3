package keys

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// wrong gives n keys of a slot that the service never knew, the newest last.
func wrong(t *testing.T, c *client, slot Slot, n int) {
	t.Helper()
	for i := range n {
		key := Secret(fmt.Sprintf("mistyped-%s-%d", slot, i))
		seeds := [...]Seeds{Primary: {Primary: key}, Secondary: {Secondary: key}}
		if fresh, err := c.keys.Seed(seeds[slot]); err != nil || !fresh {
			t.Fatalf("key %d: %v, %v", i, fresh, err)
		}
	}
}

// A gateway refuses every key for a while, and a person gives three wrong ones meanwhile. The secondary, which works as
// before, is the fifth that the ring knows.
func TestAKeyThatWorkedIsTriedHoweverManyAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out atomic.Bool
		s := &cloudtest.Service{Fault: func(cloudtest.Call) *cloudtest.Fault {
			if out.Load() {
				return &cloudtest.Fault{Status: 401}
			}
			return nil
		}}
		c := keyed(t, "", s)
		postTicket(t, c, "T-0")
		postTicket(t, c, "T-1") // now both have stored something
		out.Store(true)
		wrong(t, c, Primary, 3)
		for range 24 {
			postTicket(t, c, "T-2")
			<-time.After(time.Hour)
		}
		s.SetKey("primary", "replaced-at-the-portal", time.Now().AddDate(0, 6, 0))
		out.Store(false)
		if a := postTicket(t, c, "T-2"); a.Class != stored {
			t.Errorf("the secondary key works, and was not tried: %+v", a)
		}
	})
}

// What stored data once is kept, however many keys that never did come after it.
func TestAKeyThatWorkedOutlivesCandidates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		s.Adjust(func(s *cloudtest.Service) { s.RefuseSecondary = true })
		postTicket(t, c, "T-0")
		s.Adjust(func(s *cloudtest.Service) { s.RefusePrimary = true })
		if a := postTicket(t, c, "T-1"); a.Class != noKey {
			t.Fatalf("%+v", a)
		}
		wrong(t, c, Primary, 40)
		if st := c.keys.Status(); len(st) > 20 {
			t.Errorf("the ring holds %d values", len(st))
		}
		<-time.After(time.Hour)
		s.Adjust(func(s *cloudtest.Service) { s.RefusePrimary = false })
		if a := postTicket(t, c, "T-1"); a.Class != stored {
			t.Errorf("the key that worked is forgotten: %+v", a)
		}
	})
}

// While nothing is sent a person gives the right key and then nine others. Neither old key works any more.
func TestEveryCandidateHasItsTurn(t *testing.T) {
	for _, works := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &cloudtest.Service{}
			c := keyed(t, "", s)
			postTicket(t, c, "T-0")
			postTicket(t, c, "T-1")
			if _, err := c.keys.Seed(Seeds{Primary: "the-right-key"}); err != nil {
				t.Fatal(err)
			}
			wrong(t, c, Primary, 9)
			s.SetKey("primary", "the-right-key", time.Now().AddDate(0, 6, 0))
			s.Adjust(func(s *cloudtest.Service) { s.RefuseSecondary = !works })
			for i := range 12 {
				if a := postTicket(t, c, fmt.Sprintf("T-%d", 2+i)); a.Class != stored {
					t.Fatalf("request %d, secondary works %v: %+v", i, works, a)
				}
			}
			if carried := carried(s, "SaveRunTickets"); !strings.HasSuffix(carried, "primary,primary") {
				t.Errorf("secondary works %v: the right key did not take over: %s", works, carried)
			}
		})
	}
}

// After a start the keys that stored data go first; then each call puts one candidate on trial.
func TestKeysThatWorkedGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		s := &cloudtest.Service{PrimaryKey: testKey, SecondaryKey: otherKey}
		start := func() *client {
			ring := openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
			return clientOf(t, ring, s)
		}
		c := start()
		postTicket(t, c, "T-0")
		wrong(t, c, Primary, 3)
		wrong(t, c, Secondary, 3)
		c = start()
		before := len(s.Calls())
		for i := range 9 {
			if a := postTicket(t, c, fmt.Sprintf("T-%d", i)); a.Class != stored {
				t.Fatalf("%+v", a)
			}
		}
		var got []string
		for _, call := range s.Calls()[before:] {
			got = append(got, call.Key)
		}
		// The first call carries what has worked; then there are seven candidates, the fourth of which is the secondary key. The
		// wrong ones are left alone for five minutes.
		want := "primary" + strings.Repeat(",,primary", 3) + ",secondary" + strings.Repeat(",,primary", 3) + ",primary"
		if strings.Join(got, ",") != want {
			t.Errorf("the requests carried %q, want %q", strings.Join(got, ","), want)
		}
		s.Adjust(func(s *cloudtest.Service) { s.RefusePrimary, s.RefuseSecondary = true, true })
		before = len(s.Calls())
		postTicket(t, c, "T-10")
		tried := map[string]int{}
		for i, call := range s.Calls()[before:] {
			key := call.Header.Get(keyHeader)
			if call.Op == "SaveRunTickets" {
				tried[key]++
			}
			if worked := key == testKey || key == otherKey; i < 2 && !worked {
				t.Errorf("request %d carried %s before the keys that worked", i, key)
			}
		}
		if len(tried) != 8 {
			t.Errorf("not every key was tried: %v", tried)
		}
	})
}

// Whoever gives a key again that the service refused wants it tried again.
func TestAKeyGivenAgainIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		postTicket(t, c, "T-0")
		if err := c.keys.Set(Primary, "known-tomorrow"); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		postTicket(t, c, "T-1")
		if st := c.keys.Status(); st[0].State != "refused" {
			t.Fatalf("%+v", st)
		}
		s.SetKey("primary", "known-tomorrow", time.Now().AddDate(0, 6, 0))
		s.SetKey("secondary", "known-to-nobody", time.Now().AddDate(0, 6, 0))
		if err := c.keys.Set(Primary, "known-tomorrow"); err != nil {
			t.Fatal(err)
		}
		if st := c.keys.Status(); st[0].State != "untried" {
			t.Errorf("%+v", st)
		}
		if a := postTicket(t, c, "T-2"); a.Class != stored {
			t.Errorf("%+v", a)
		}
		if err := c.keys.Set(Primary, "two words"); err == nil {
			t.Error("a key with a space was taken")
		}
	})
}

// What the service says of an end may be no time that a file can hold. The renewed key is kept all the same.
func TestAnEndThatNoFileCanHold(t *testing.T) {
	for said, want := range map[string]string{
		`"9999-12-31T23:59:59-05:00"`:   "9999-12-31T23:59:59Z",
		`"9999-12-31T23:59:59.9999999"`: "9999-12-31T23:59:59Z",
		`999999999999999`:               "9999-12-31T23:59:59Z",
		`253402300800`:                  "1978-01-11T21:31:40Z", // read as milliseconds
		`"0001-01-01T00:00:00"`:         "assumed",              // what some libraries write for no time at all
		`"0000-01-01T00:00:00+05:00"`:   "assumed",
		`-62135596800000`:               "assumed",
		`"1969-12-31T23:59:59Z"`:        "assumed",
		`"1970-01-01T00:00:00Z"`:        "1970-01-01T00:00:00Z",
		`1e300`:                         "assumed",
		`0`:                             "assumed",
		`99999999999`:                   "5138-11-16T09:46:39Z", // seconds
		`100000000000`:                  "1973-03-03T09:46:40Z", // milliseconds
		`1000000000000000`:              "assumed",
	} {
		synctest.Test(t, func(t *testing.T) {
			disk := newDisk()
			s := &cloudtest.Service{PrimaryKey: testKey, SecondaryKey: otherKey}
			ring := openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
			ring.Notify = func(n Note) { t.Errorf("%s: %+v", said, n) }
			c := clientOf(t, ring, s)
			s.Next(cloudtest.Fault{Status: 200, Body: `{"subscriptionKey":"renewed-key","expirationDate":` + said + `}`})
			got, err := c.RenewAPIKey(t.Context(), Primary)
			if err != nil {
				t.Fatalf("%s: %v", said, err)
			}
			end := got.Expires.At.Format(time.RFC3339)
			if got.Expires.Assumed {
				end = "assumed"
			}
			if end != want || got.Expires.Assumed && !got.Expires.At.Equal(time.Now().UTC().AddDate(0, 6, -1)) {
				t.Errorf("%s: ends %s (%v), want %s", said, end, got.Expires.At, want)
			}
			again := openFile(keyFile{"keys", disk}, time.Now, Seeds{})
			if st := again.Status(); len(st) != 3 || st[0].Fingerprint != Secret("renewed-key").Fingerprint() || !st[0].Expires.Equal(got.Expires.At) {
				t.Errorf("%s: after a restart %+v", said, st)
			}
		})
	}
}

// Whatever clock a time came from, the file is written.
func TestEveryTimeCanBeWritten(t *testing.T) {
	late, early := time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-3, 1, 1, 0, 0, 0, 0, time.UTC)
	odd := time.Date(2026, 7, 1, 0, 0, 0, 0, time.FixedZone("nowhere", 30*3600))
	for at, want := range map[time.Time]time.Time{late: lastTime, early: firstTime, odd: time.Date(2026, 6, 29, 18, 0, 0, 0, time.UTC), {}: {}} {
		one := slotState{
			Expires: Expiry{At: at}, Renewed: at, Doubt: at,
			Entries: []entry{{Value: "k", Since: at, OK: at, Refused: at}},
		}
		f := keyFile{"keys", newDisk()}
		if err := f.save(ringState{Login: at, Slots: [2]slotState{one, one}}); err != nil {
			t.Fatalf("%v: %v", at, err)
		}
		s, found, err := f.load()
		if err != nil || !found {
			t.Fatalf("%v: %v", at, err)
		}
		for i, got := range s.Slots {
			e := got.Entries[0]
			for what, read := range []time.Time{s.Login, got.Expires.At, got.Renewed, got.Doubt, e.Since, e.OK, e.Refused} {
				if !read.Equal(want) {
					t.Errorf("time %d of slot %d is %v, want %v", what, i, read, want)
				}
			}
		}
		if one.Entries[0].Since != at {
			t.Error("the state itself was changed")
		}
	}
}

// A file of the version before, which called a key accepted only when data was stored with it, and kept a slot's order.
func TestAFileOfTheVersionBefore(t *testing.T) {
	body := `{"generation":7,"slots":[{"entries":[` +
		`{"value":"newest","source":"file","state":0,"since":"2026-03-04T05:06:07.5-06:00"},` +
		`{"value":"wrong","source":"file","state":2,"since":"2026-03-03T05:06:07Z","refused":"2026-03-03T06:00:00Z"},` +
		`{"value":"` + testKey + `","source":"renewal","state":2,"since":"2026-02-01T00:00:00Z","ok":"2026-03-01T00:00:00Z","refused":"2026-03-03T06:00:00Z"}],` +
		`"expires":{"Text":"8/1/2026","At":"2026-08-01T00:00:00Z","Assumed":false},"renewed":"2026-02-01T00:00:00Z","tries":2,"seed_sum":"` + Secret("newest").Fingerprint() + `","serial":5},` +
		`{"entries":[{"value":"` + otherKey + `","source":"file","state":1,"since":"2026-01-01T00:00:00Z","ok":"2026-03-02T00:00:00Z"}],` +
		`"expires":{"Text":"","At":"0001-01-01T00:00:00Z","Assumed":false},"doubt":"2026-03-03T00:00:00Z","seed_sum":"` + Secret(otherKey).Fingerprint() + `","warned":30}],` +
		`"login":"2025-12-31T00:00:00Z"}`
	disk := newDisk()
	disk.files["keys"] = []byte(fileHead([]byte(body)) + "\n" + body)
	ring := openFile(keyFile{"keys", disk}, time.Now, Seeds{"newest", otherKey})
	if len(ring.found) > 0 || string(disk.files["keys"]) != fileHead([]byte(body))+"\n"+body {
		t.Errorf("it was not taken as it is: %+v", ring.found)
	}
	keys, _ := ring.Order(true)
	var got []string
	for _, k := range keys {
		got = append(got, string(k.Value))
	}
	if want := otherKey + " " + testKey + " newest wrong"; strings.Join(got, " ") != want {
		t.Errorf("tried in the order %q, want %q", got, want)
	}
	if err := ring.save(); err != nil {
		t.Fatal(err)
	}
	s, _, err := ring.file.load()
	if err != nil || len(s.Slots[0].Entries) != 3 {
		t.Fatalf("written again: %+v, %v", s, err)
	}
	for what, right := range map[string]bool{
		"generation": s.Generation == 8,
		"since":      s.Slots[0].Entries[0].Since.Equal(ring.state.Slots[0].Entries[0].Since),
		"tries":      s.Slots[0].Tries == 2,
		"renewed":    s.Slots[1].Renewed.IsZero(),
		"warned":     s.Slots[1].Warned == 30,
		"doubt":      s.Slots[1].Doubt.Equal(ring.state.Slots[1].Doubt),
	} {
		if !right {
			t.Errorf("written again, %s: %+v", what, s)
		}
	}
}

// A young candidate that was refused is tried again five minutes later.
func TestWhenATrialIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := keyed(t, "", &cloudtest.Service{})
		postTicket(t, c, "T-0")
		if err := c.keys.Set(Primary, "candidate"); err != nil {
			t.Fatal(err)
		}
		first := func() string { keys, _ := c.keys.Order(true); return string(keys[0].Value) }
		if got := first(); got != "candidate" {
			t.Errorf("%s goes first, want the candidate", got)
		}
		postTicket(t, c, "T-1")
		postTicket(t, c, "T-2") // the secondary's trial
		<-time.After(trialPause - 1)
		if got := first(); got != testKey {
			t.Errorf("%s goes first, want the key that works", got)
		}
		<-time.After(1)
		if got := first(); got != "candidate" {
			t.Errorf("after five minutes %s goes first, want the candidate", got)
		}
	})
}
