package outbox_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// growing is a box whose tags go 20 to a request at first, and up to 500.
func growing(t *testing.T, path string, linger time.Duration) *outbox.Box {
	t.Helper()
	return open(t, path, outbox.Options{Streams: []outbox.Stream{{Name: "tags", Batch: 20, Most: 500, Linger: linger}}})
}

// request is one that a service was sent.
type request struct {
	size  int
	first uint64 // number of its first record
}

// asked drains n records of which the answer to some requests is odd, and tells what was sent.
func asked(t *testing.T, n int, odd func(nth int, batch []outbox.Record) (outbox.Class, time.Duration)) (all []request) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := growing(t, boxPath(t), time.Second)
		put(t, b, "tags", slices.Repeat([]string{"x"}, n)...)
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			all = append(all, request{len(batch), batch[0].Seq})
			class, takes := odd(len(all), batch)
			wait(takes)
			return slices.Repeat([]outbox.Answer{answer(class, 0)}, len(batch))
		}))
		wait(24 * time.Hour)
		stop()
		if c := counts(t, b, "tags"); c.Delivered != uint64(n) {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
	return all
}

func sizes(all []request) (n []int) {
	for _, r := range all {
		n = append(n, r.size)
	}
	return n
}

// Requests double while full ones are taken within a second, and are as small as at first behind any other answer.
func TestRequestsGrowWhileTheyAreTakenFast(t *testing.T) {
	for _, c := range []struct {
		name  string
		class outbox.Class // of the fifth answer
		takes time.Duration
		sizes []int
	}{
		{"taken", outbox.Stored, time.Second, []int{20, 40, 80, 160, 320, 500, 500, 80}},
		{"taken slowly", outbox.Stored, time.Second + 1, []int{20, 40, 80, 160, 320, 20, 40, 80, 160, 320, 460}},
		{"not taken", outbox.Wait, 0, []int{20, 40, 80, 160, 320, 20, 40, 80, 160, 320, 500, 280}},
		{"no clear answer", outbox.Ambiguous, 0, []int{20, 40, 80, 160, 320, 320, 20, 40, 80, 160, 320, 460}},
		{"too large", outbox.TooLarge, 0, []int{20, 40, 80, 160, 320, 20, 40, 80, 160, 160, 160, 160, 160, 160, 160, 140}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := asked(t, 1700, func(nth int, _ []outbox.Record) (outbox.Class, time.Duration) {
				if nth == 5 {
					return c.class, c.takes
				}
				return outbox.Stored, 0
			})
			if !slices.Equal(sizes(all), c.sizes) {
				t.Errorf("requests of %v, want %v", sizes(all), c.sizes)
			}
			if again := all[4] == all[5]; again != (c.class == outbox.Ambiguous) {
				t.Errorf("%v went, and then %v", all[4], all[5])
			}
		})
	}
}

// A service that takes no more than 100 at once costs one request of each run, and nothing is kept of it in the file.
func TestTooLargeGrownIsNotRemembered(t *testing.T) {
	path := boxPath(t)
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			n := &notes{}
			b := open(t, path, outbox.Options{Notify: n.add, Streams: []outbox.Stream{{Name: "tags", Batch: 20, Most: 500}}})
			put(t, b, "tags", slices.Repeat([]string{"x"}, 2000)...)
			refused := 0
			stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				a := answer(outbox.Stored, 200)
				if len(batch) > 100 {
					a = answer(outbox.TooLarge, 413)
					refused++
				}
				return slices.Repeat([]outbox.Answer{a}, len(batch))
			}))
			wait(time.Hour)
			stop()
			if s := b.DrainStatus("tags"); refused != 1 || s.Limit != 0 || n.count(outbox.NoteShrunk) != 0 {
				t.Errorf("%d refused, %+v, told %+v", refused, s, n.all)
			}
			if c := counts(t, b, "tags"); c.Waiting != 0 {
				t.Errorf("%+v", c)
			}
			shut(t, b)
		})
	}
}

// What never comes through as a whole is not sent as a whole for ever: a second time without a clear answer it goes in parts.
func TestAGrownRequestThatNeverComesThroughIsGivenUp(t *testing.T) {
	all := asked(t, 1000, func(_ int, batch []outbox.Record) (outbox.Class, time.Duration) {
		if len(batch) > 100 {
			return outbox.Ambiguous, time.Minute
		}
		return outbox.Stored, 0
	})
	want := []int{20, 40, 80, 160, 160, 20, 40, 80, 80, 80, 80, 80, 80, 80, 80, 80, 80}
	if got := sizes(all); !slices.Equal(got[:len(want)-1], want[:len(want)-1]) || all[3] != all[4] || all[5].first != all[4].first {
		t.Errorf("requests of %v, want %v", got, want)
	}
}

// A request that is not full changes nothing: what comes slowly goes as it comes.
func TestAFewRecordsNeverGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := growing(t, boxPath(t), 0)
		var sent []int
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			sent = append(sent, len(batch))
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		for range 5 {
			put(t, b, "tags", slices.Repeat([]string{"x"}, 19)...)
			wait(time.Second)
		}
		put(t, b, "tags", slices.Repeat([]string{"x"}, 60)...)
		wait(time.Second)
		put(t, b, "tags", slices.Repeat([]string{"x"}, 81)...)
		wait(time.Second)
		stop()
		if want := []int{19, 19, 19, 19, 19, 20, 40, 80, 1}; !slices.Equal(sent, want) {
			t.Errorf("requests of %v, want %v", sent, want)
		}
		shut(t, b)
	})
}

// A grown request is bound by its bytes, too, and what one refused record costs is known: it is found by halving.
func TestAGrownRequestIsBoundByItsBytesAndTakenApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := open(t, boxPath(t), outbox.Options{MaxBytes: 16 << 20, Streams: []outbox.Stream{{Name: "tags", Batch: 20, Most: 500}}})
		large := string(make([]byte, 4<<10))
		for i := range 300 {
			body := large
			if i == 200 {
				body = "bad"
			}
			put(t, b, "tags", body)
		}
		largest, refused := 0, 0
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			size, class := 0, outbox.Stored
			for _, r := range batch {
				size += len(r.Body)
				if string(r.Body) == "bad" {
					class = outbox.Poison
				}
			}
			largest = max(largest, len(batch))
			if class == outbox.Poison {
				refused++
			}
			if size > outbox.MaxRequest {
				t.Errorf("%d bytes in one request", size)
			}
			return slices.Repeat([]outbox.Answer{answer(class, 0)}, len(batch))
		}))
		wait(time.Hour)
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 299 || c.Dead != 1 || largest < 60 || refused > 10 {
			t.Errorf("%+v, the largest request had %d, %d were refused", c, largest, refused)
		}
		shut(t, b)
	})
}
