package collectorstest

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// pair is the smallest collector with a device that answers and one that does not.
type pair struct{}

var errAway = errors.New("away")

func (pair) Run(ctx context.Context, host collectors.Host) error {
	polls := 0
	return collectors.Poll(ctx, 10*time.Millisecond, func(ctx context.Context) {
		now := time.Now()
		if host.Emit(ctx, []collectors.Reading{
			{Point: "live/a", Value: 1, Quality: collectors.Good, At: now}, {Point: "live/b", Value: 2, Quality: collectors.Good, At: now},
			{Point: "away/c", Value: math.NaN(), At: now, Err: errAway},
		}) != nil {
			return
		}
		if polls++; polls == 1 && host.Notice(ctx, collectors.Notice{Rule: "comm-loss", Source: "away", Note: "away", Since: now}) != nil {
			polls = 0
		}
	})
}

func TestTheSuiteAcceptsARightCollector(t *testing.T) {
	Run(t, Subject{
		New:    func(*testing.T) collectors.Collector { return pair{} },
		Live:   []collectors.Point{"live/a", "live/b"},
		Absent: []collectors.Point{"away/c"}, Source: "away",
	})
}

func TestUnsound(t *testing.T) {
	right := collectors.Reading{Point: "d/p", Value: 1, Quality: collectors.Good, At: time.Unix(1, 0)}
	if why := unsound(right); why != "" {
		t.Error(why)
	}
	wrong := map[string]func(*collectors.Reading){
		"no point":             func(r *collectors.Reading) { r.Point = "p" },
		"no time":              func(r *collectors.Reading) { r.At = time.Time{} },
		"good with an error":   func(r *collectors.Reading) { r.Err = errAway },
		"bad without a reason": func(r *collectors.Reading) { r.Quality = collectors.Bad },
		"good without a value": func(r *collectors.Reading) { r.Value = math.NaN() },
		"infinite":             func(r *collectors.Reading) { r.Value = math.Inf(1) },
	}
	for name, spoil := range wrong {
		r := right
		spoil(&r)
		if unsound(r) == "" {
			t.Errorf("%s: passed for sound", name)
		}
	}
}

func TestHostKeepsAndForgets(t *testing.T) {
	host := &Host{}
	for _, v := range [][]byte{[]byte("a"), []byte("b"), nil} {
		if err := host.Remember("x", v); err != nil {
			t.Fatal(err)
		}
		if got, err := host.Recall("x"); err != nil || string(got) != string(v) {
			t.Errorf("recalled %q (%v), want %q", got, err, v)
		}
	}
	if len(host.Memory()) != 0 {
		t.Errorf("still remembered: %v", host.Memory())
	}
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if (&Host{}).Await(ctx, func() bool { return false }) {
			t.Error("true without a reason")
		}
	})
}

func TestALeftGoroutineIsSeen(t *testing.T) {
	before := goroutines()
	stay := make(chan struct{})
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		_ = collectors.Poll(ctx, time.Hour, func(context.Context) { close(stay) })
	}()
	<-stay
	gone, done := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer done()
	left := awaitGone(gone, before)
	cancel()
	<-ended
	if left == "" {
		t.Error("a goroutine inside collectors.Poll was overlooked")
	}
}
