package modbus

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/collectorstest"
)

// spoiler damages the answers of a line: spoil says of each request, with the one before it, whether its answer is
// to be damaged.
type spoiler struct {
	Stream
	spoil  func(before, now Request) bool
	before Request
	now    Request
	hit    atomic.Int64
	mu     sync.Mutex
	asked  []Request
}

// requests are all that went out so far.
func (s *spoiler) requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *spoiler) under(dial func(context.Context, string) (Stream, error)) func(context.Context, string) (Stream, error) {
	return func(ctx context.Context, url string) (_ Stream, err error) {
		s.Stream, err = dial(ctx, url)
		return s, err
	}
}

func (s *spoiler) Write(b []byte) (int, error) {
	s.before, s.now = s.now, Request{Unit: b[0], Table: Holding, Address: binary.BigEndian.Uint16(b[2:]), Quantity: binary.BigEndian.Uint16(b[4:])}
	s.mu.Lock()
	s.asked = append(s.asked, s.now)
	s.mu.Unlock()
	return s.Stream.Write(b)
}

func (s *spoiler) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	if n > 3 && s.spoil(s.before, s.now) {
		b[n-1] ^= 0x55
		s.hit.Add(1)
	}
	return n, err
}

// touches says whether a request covers an address.
func (r Request) touches(address int) bool {
	return int(r.Address) <= address && address < int(r.Address)+int(r.Quantity)
}

// gappy is a device whose plan reads across a gap at 5, and has another request behind that.
func gappy() Device {
	return Device{Name: "d", URL: "rtu+tcp://site:4001", Every: 10 * time.Second,
		Points: []Point{holding("a", 3), holding("b", 4), holding("c", 7), holding("e", 40), holding("f", 60)}}
}

func TestAReadAcrossAGapThatSpoilsTheNextAnswerIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := numberedSlave()
		damage := &spoiler{spoil: func(before, _ Request) bool { return before.touches(5) }}
		lines := pipeLines(t, only(slave))
		lines.Dial = damage.under(lines.Dial)
		host := &collectorstest.Host{}
		s := runSite(t, lines, host, gappy())
		await(t, time.Minute)
		hits := damage.hit.Load()
		if hits == 0 || hits > 4 {
			t.Errorf("%d answers were spoilt until the read was cut, want three or four", hits)
		}
		for p, r := range byPoint(slices.Concat(host.Batches()...)) {
			if err := sound(r); err != nil || r.Value != float64(word(1, Holding, *pointNamed(t, p))) {
				t.Errorf("%s: %v, %v", p, r.Value, r.Err)
			}
		}
		if got := string(host.Memory()["modbus/d/holes"]); got != "[[0,5,2]]" {
			t.Errorf("remembered %q", got)
		}
		await(t, 10*time.Minute)
		if now := damage.hit.Load(); now != hits {
			t.Errorf("%d more answers were spoilt", now-hits)
		}
		s.stop()

		// After a restart it is not tried again.
		again := &spoiler{spoil: damage.spoil}
		lines = pipeLines(t, only(slave))
		lines.Dial = again.under(lines.Dial)
		s = runSite(t, lines, host, gappy())
		await(t, 10*time.Minute)
		s.stop()
		if again.hit.Load() != 0 || len(again.asked) != 4*60 {
			t.Errorf("%d spoilt, %d requests in 60 polls; want four each", again.hit.Load(), len(again.asked))
		}
	})
}

// pointNamed is the address of a point of gappy.
func pointNamed(t *testing.T, id any) *int {
	t.Helper()
	for _, p := range gappy().Points {
		if strings.TrimPrefix(fmt.Sprint(id), "d/") == p.Name {
			return p.Holding
		}
	}
	t.Fatalf("no point %v", id)
	return nil
}

// TestDamageThatComesAnywayCutsNothing: the second request is damaged now and then, whatever was asked before it.
func TestDamageThatComesAnywayCutsNothing(t *testing.T) {
	for name, spoil := range map[string]func(n int, before, now Request) bool{
		"always":            func(_ int, _, now Request) bool { return now.touches(40) },
		"every fourth time": func(n int, _, now Request) bool { return n%4 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slave := numberedSlave()
				damage, n := &spoiler{}, 0
				damage.spoil = func(before, now Request) bool { n++; return spoil(n, before, now) }
				lines := pipeLines(t, only(slave))
				lines.Dial = damage.under(lines.Dial)
				host := &collectorstest.Host{}
				s := runSite(t, lines, host, gappy())
				await(t, 2*time.Hour)
				s.stop()
				if got := host.Memory(); len(got) != 0 && name == "always" {
					t.Errorf("remembered %q", got)
				}
				cuts := 0
				for _, r := range damage.asked[len(damage.asked)/2:] {
					if r.touches(4) && !r.touches(5) {
						cuts++
					}
				}
				if name == "always" && cuts > 0 {
					t.Errorf("the read across the gap was cut in %d polls", cuts)
				}
			})
		})
	}
}

// TestACutThatDidNotHelpIsUndone: the damage looks as if the read across the gap made it, and goes on without it.
func TestACutThatDidNotHelpIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := numberedSlave()
		damage := &spoiler{spoil: func(before, now Request) bool { return now.touches(40) && before.touches(7) }}
		lines := pipeLines(t, only(slave))
		lines.Dial = damage.under(lines.Dial)
		host := &collectorstest.Host{}
		s := runSite(t, lines, host, gappy())
		await(t, 5*time.Minute)
		if got := host.Memory(); len(got) != 0 {
			t.Errorf("remembered %q", got)
		}
		before := len(damage.requests())
		await(t, 10*time.Minute)
		for _, r := range damage.requests()[before:] {
			if r.touches(4) && !r.touches(7) {
				t.Fatal("the read is cut again though it did not help")
			}
		}
		s.stop()
	})
}
