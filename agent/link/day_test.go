package link

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"
)

// limited is a link of a thousand bytes a day, at noon of the first of January 2000 in UTC.
func limited(t *testing.T) *Link {
	t.Helper()
	<-time.After(12 * time.Hour)
	return New(Options{MaxBytes: 1000, Streams: streams})
}

// heldOf lists the classes that are held, in letters.
func heldOf(l *Link) string {
	held := ""
	for _, stream := range []string{"tickets", "events", "targets", "tagvalues"} {
		if why(l, stream) != "" {
			held += stream[:2] + " "
		}
	}
	return held
}

func TestWhatIsLeftOfTheDayGoesToTheMostUrgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		for _, step := range []struct {
			bytes int64
			held  string
		}{{799, ""}, {1, "ta "}, {99, "ta "}, {1, "ta ta "}, {50, "ev ta ta "}, {49, "ev ta ta "}, {1, "ev ta ta "}} {
			l.count(step.bytes)
			if got := heldOf(l); got != step.held {
				t.Errorf("after %d bytes %q is held, want %q", l.day.Bytes, got, step.held)
			}
		}
		if s := l.Status(time.Now()); s.Date != "2000-01-01" || s.Bytes != 1000 || s.Left != 0 || len(s.Held) != 3 {
			t.Errorf("%+v", s)
		}
		if why := why(l, "tagvalues"); why != "the day's bytes (link.max_bytes_per_day) are spent; leaves from Sun 00:00" {
			t.Errorf("the reason is %q", why)
		}
		if got := took(t, l, "tagvalues", 1); got != 12*time.Hour {
			t.Errorf("a value waited %s, want until midnight", got)
		}
		if s := l.Status(time.Now()); s.Date != "2000-01-02" || s.Bytes != 0 || s.Left != 1000 || len(s.Held) != 0 {
			t.Errorf("on the next day: %+v", s)
		}
	})
}

// What is kept back of the day is said to be, with its share.
func TestWhyValuesWaitWhileSomethingIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		l.count(920)
		for stream, share := range map[string]string{"tagvalues": "80 %", "targets": "90 %"} {
			want := share + " of the day's bytes (link.max_bytes_per_day) are used, and the rest is kept for what is more urgent; leaves from Sun 00:00"
			if why := why(l, stream); why != want {
				t.Errorf("%s: the reason is %q, want %q", stream, why, want)
			}
		}
	})
}

// When the day is spent a ticket still leaves, and the next one a quarter of an hour later.
func TestATicketLeavesWhateverIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		l.count(5000)
		if got := took(t, l, "tickets", 1); got != 0 {
			t.Errorf("the first ticket over the day's bytes waited %s", got)
		}
		if why := why(l, "tickets"); !strings.HasSuffix(why, "the next ticket leaves at Sat 12:15") {
			t.Errorf("the reason is %q", why)
		}
		if got := took(t, l, "tickets", 3); got != 3*overdraft {
			t.Errorf("three more waited %s, want %s", got, 3*overdraft)
		}
	})
}

func TestTheCountSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		l.o.MaxBytes = 1 << 20
		saved := make(chan []byte, 100)
		kept := func(after time.Duration) int {
			<-time.After(after)
			synctest.Wait()
			return len(saved)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- l.Run(ctx, func(b []byte) { saved <- b }) }()
		if n := kept(3 * time.Hour); n != 0 {
			t.Errorf("nothing was sent, and kept %d times", n)
		}
		for range 12 {
			l.count(1000)
			kept(keepLook)
		}
		if n := len(saved); n != 1 {
			t.Errorf("a little was kept %d times in an hour, want once", n)
		}
		l.count(keepBytes)
		if n := kept(keepLook); n != 2 {
			t.Errorf("64 KiB were not kept: %d times", n)
		}
		l.count(5)
		stop()
		l.Keep(func(b []byte) { saved <- b })
		if err := <-ended; err != nil || len(saved) != 3 {
			t.Errorf("at the end: %v, kept %d times", err, len(saved))
		}
		<-saved
		<-saved
		last := <-saved
		again := New(l.o)
		if err := again.Resume(last); err != nil || again.day.Bytes != l.day.Bytes || l.day.Bytes < 12000+keepBytes {
			t.Errorf("after a restart: %v, %+v, want %+v", err, again.day, l.day)
		}
		<-time.After(12 * time.Hour)
		again = New(l.o)
		if err := again.Resume(last); err != nil || again.day.Date != "2000-01-02" || again.day.Bytes != 0 {
			t.Errorf("the next day: %v, %+v", err, again.day)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		if err := l.Resume([]byte(`{"date":"2000-01-01","bytes":950}`)); err != nil || heldOf(l) != "ev ta ta " {
			t.Errorf("%v, held %q", err, heldOf(l))
		}
		for _, bad := range []string{"x", `{"bytes":-1}`} {
			if err := l.Resume([]byte(bad)); err == nil {
				t.Errorf("%s was taken for a count", bad)
			}
		}
	})
}

// The count is kept when it is worth a write to the flash, and not before.
func TestTheCountIsKeptWhenItIsWorthAWrite(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		after time.Duration // since it was kept last
		kept  int
	}{
		{0, 2 * keepAfter, 0}, {1, keepAfter - 1, 0}, {1, keepAfter, 1}, {keepBytes - 1, time.Second, 0}, {keepBytes, time.Second, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Options{MaxBytes: 1 << 30})
			l.count(7)
			l.Keep(func([]byte) {})
			l.Keep(func([]byte) { t.Error("kept again, though nothing came") })
			l.count(c.bytes)
			<-time.After(c.after)
			kept := 0
			l.keep(func([]byte) { kept++ }, keepBytes, keepAfter)
			if kept != c.kept {
				t.Errorf("%d bytes, %s after the last time: kept %d times, want %d", c.bytes, c.after, kept, c.kept)
			}
		})
	}
}

func TestADayWithoutLimitIsNotKept(t *testing.T) {
	l := New(Options{})
	l.count(1 << 30)
	never := func([]byte) { t.Error("kept") }
	l.Keep(never)
	if err := l.Run(t.Context(), never); err != nil {
		t.Error(err)
	}
}

// A count that has just begun is a count.
func TestACountOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		if err := l.Resume([]byte(`{"date":"2000-01-01","bytes":0}`)); err != nil {
			t.Error(err)
		}
		if err := l.Resume(nil); err != nil || l.Status(time.Now()).Left != 1000 {
			t.Errorf("%v, %+v", err, l.Status(time.Now()))
		}
	})
}

// A clock that shows an earlier day than the count keeps it, since it may be wrong, but no longer than a day runs.
func TestAWrongClockLocksNothingForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		if err := l.Resume([]byte(`{"date":"2099-05-05","bytes":2000}`)); err != nil {
			t.Fatal(err)
		}
		if got := took(t, l, "tagvalues", 1); got < 24*time.Hour || got > longestDay+look {
			t.Errorf("a count of the year 2099 held values for %s", got)
		}
		if l.day.Date != "2000-01-02" || l.day.Bytes != 0 {
			t.Errorf("%+v", l.day)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		l := limited(t)
		if err := l.Resume([]byte(`{"date":"2099-05-05","bytes":2000}`)); err != nil {
			t.Fatal(err)
		}
		<-time.After(longestDay - 1)
		if s := l.Status(time.Now()); s.Left != 0 {
			t.Errorf("before the longest day is over: %+v", s)
		}
		<-time.After(1)
		if s := l.Status(time.Now()); s.Left != 1000 {
			t.Errorf("when it is over: %+v", s)
		}
	})
}

// On the wire a byte is a packet, with its headers and the acknowledgement.
func TestBytesAndTheirPackets(t *testing.T) {
	for n, want := range map[int]int64{0: 0, 1: 105, packetBytes: 1504, packetBytes + 1: 1609, 3 * packetBytes: 4512} {
		l := New(Options{})
		l.carried(n)
		if l.day.Bytes != want {
			t.Errorf("%d bytes count as %d, want %d", n, l.day.Bytes, want)
		}
	}
}

// Days are the site's, also those of 23 and 25 hours.
func TestDaysOfTheSitesZone(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		noon string
		left time.Duration
	}{{"2026-03-07T12:00:00-06:00", 12 * time.Hour}, {"2026-03-08T00:00:00-06:00", 23 * time.Hour}, {"2026-11-01T00:00:00-05:00", 25 * time.Hour}} {
		now, err := time.Parse(time.RFC3339, c.noon)
		if err != nil {
			t.Fatal(err)
		}
		if got := New(Options{Zone: zone}).tomorrow(now); got != c.left {
			t.Errorf("%s: midnight in %s, want %s", c.noon, got, c.left)
		}
	}
}

func TestAMeterCountsWhatCrosses(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	l := New(Options{})
	c := l.Meter(near)
	defer c.Close()
	echoed := make(chan error, 1)
	go func() {
		_, err := io.CopyN(far, far, 3000)
		echoed <- err
	}()
	sent := make(chan error, 1)
	go func() {
		_, err := c.Write(make([]byte, 3000))
		sent <- err
	}()
	n, err := io.ReadFull(c, make([]byte, 3000))
	if err != nil || n != 3000 || <-sent != nil || <-echoed != nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	// Three packets there; the pipe gives back as many reads as there were writes.
	if least := int64(openBytes + 6000 + 2*3*2*headerBytes); l.day.Bytes < least || l.day.Bytes > least+1000 {
		t.Errorf("counted %d bytes, want about %d", l.day.Bytes, least)
	}
}
