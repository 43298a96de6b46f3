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

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// spoiler damages the answers of a line: spoil says of each request, with the one before it, whether its answer is
// to be damaged.
type spoiler struct {
	line.Stream
	spoil  func(before, now line.Request) bool
	before line.Request
	now    line.Request
	hit    atomic.Int64
	mu     sync.Mutex
	asked  []line.Request
}

// requests are all that went out so far.
func (s *spoiler) requests() []line.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func (s *spoiler) under(dial func(context.Context, string) (line.Stream, error)) func(context.Context, string) (line.Stream, error) {
	return func(ctx context.Context, url string) (_ line.Stream, err error) {
		s.Stream, err = dial(ctx, url)
		return s, err
	}
}

func (s *spoiler) Write(b []byte) (int, error) {
	s.before, s.now = s.now, line.Request{Unit: b[0], Table: line.Holding, Address: binary.BigEndian.Uint16(b[2:]), Quantity: binary.BigEndian.Uint16(b[4:])}
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
func touches(r line.Request, address int) bool {
	return int(r.Address) <= address && address < int(r.Address)+int(r.Quantity)
}

// gappy is a device whose plan reads across a gap at 5, and has another request behind that.
func gappy() Device {
	return Device{Name: "d", URL: "rtu+tcp://site:4001", Every: 10 * time.Second,
		Points: []Point{holding("a", 3), holding("b", 4), holding("c", 7), holding("e", 40), holding("f", 60)}}
}

func TestAReadAcrossAGapThatSpoilsTheNextAnswerIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		damage := &spoiler{spoil: func(before, _ line.Request) bool { return touches(before, 5) }}
		lines := pipeLines(t, linetest.Only(slave))
		lines.Dial = damage.under(lines.Dial)
		host := &collectorstest.Host{}
		s := runSite(t, lines, host, gappy())
		linetest.Await(t, time.Minute)
		hits := damage.hit.Load()
		if hits == 0 || hits > 4 {
			t.Errorf("%d answers were spoilt until the read was cut, want three or four", hits)
		}
		for p, r := range byPoint(slices.Concat(host.Batches()...)) {
			if err := sound(r); err != nil || r.Value != float64(linetest.Word(1, line.Holding, *pointNamed(t, p))) {
				t.Errorf("%s: %v, %v", p, r.Value, r.Err)
			}
		}
		if got := string(host.Memory()["modbus/d/holes"]); got != "[[0,5,2]]" {
			t.Errorf("remembered %q", got)
		}
		linetest.Await(t, 10*time.Minute)
		if now := damage.hit.Load(); now != hits {
			t.Errorf("%d more answers were spoilt", now-hits)
		}
		s.stop()

		// After a restart it is not tried again.
		again := &spoiler{spoil: damage.spoil}
		lines = pipeLines(t, linetest.Only(slave))
		lines.Dial = again.under(lines.Dial)
		s = runSite(t, lines, host, gappy())
		linetest.Await(t, 10*time.Minute)
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
	for name, spoil := range map[string]func(n int, before, now line.Request) bool{
		"always":            func(_ int, _, now line.Request) bool { return touches(now, 40) },
		"every fourth time": func(n int, _, now line.Request) bool { return n%4 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slave := linetest.NumberedSlave()
				damage, n := &spoiler{}, 0
				damage.spoil = func(before, now line.Request) bool { n++; return spoil(n, before, now) }
				lines := pipeLines(t, linetest.Only(slave))
				lines.Dial = damage.under(lines.Dial)
				host := &collectorstest.Host{}
				s := runSite(t, lines, host, gappy())
				linetest.Await(t, 2*time.Hour)
				s.stop()
				if got := host.Memory(); len(got) != 0 && name == "always" {
					t.Errorf("remembered %q", got)
				}
				cuts := 0
				for _, r := range damage.asked[len(damage.asked)/2:] {
					if touches(r, 4) && !touches(r, 5) {
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
		slave := linetest.NumberedSlave()
		damage := &spoiler{spoil: func(before, now line.Request) bool { return touches(now, 40) && touches(before, 7) }}
		lines := pipeLines(t, linetest.Only(slave))
		lines.Dial = damage.under(lines.Dial)
		host := &collectorstest.Host{}
		s := runSite(t, lines, host, gappy())
		linetest.Await(t, 5*time.Minute)
		if got := host.Memory(); len(got) != 0 {
			t.Errorf("remembered %q", got)
		}
		before := len(damage.requests())
		linetest.Await(t, 10*time.Minute)
		for _, r := range damage.requests()[before:] {
			if touches(r, 4) && !touches(r, 7) {
				t.Fatal("the read is cut again though it did not help")
			}
		}
		s.stop()
	})
}

func TestOnlyADamagedAnswerIsAskedForAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		fault    modbustest.Fault
		retries  *int
		requests int // for one round
		quality  collectors.Quality
	}{
		"damaged once":             {modbustest.Fault{Flip: 4, Times: 1}, nil, 2, collectors.Good},
		"damaged for ever":         {modbustest.Fault{Flip: 4}, nil, 2, collectors.Bad},
		"damaged, never repeated":  {modbustest.Fault{Flip: 4, Times: 1}, new(0), 1, collectors.Bad},
		"damaged for long":         {modbustest.Fault{Flip: 4, Times: 5}, new(5), 6, collectors.Good},
		"a refusal":                {modbustest.Fault{Exception: 4, Times: 1}, nil, 1, collectors.Bad},
		"silence":                  {modbustest.Fault{Silent: true, Times: 1}, nil, 1, collectors.Bad},
		"an answer of another one": {modbustest.Fault{Unitshift: 1, Times: 1}, nil, 1, collectors.Bad},
	} {
		for _, url := range linetest.MemoryURLs {
			synctest.Test(t, func(t *testing.T) {
				slave := linetest.NumberedSlave()
				if tt.fault.Flip > 0 && linetest.FramingOf(url) == modbustest.ASCII {
					tt.fault.Flip = 8 // the first character of the data, as 4 is the first byte of RTU's
				}
				slave.SetFaults(tt.fault)
				lines := pipeLines(t, linetest.Only(slave))
				defer linetest.Close(t, lines)
				d := Device{Name: "d", URL: url, Retries: tt.retries, Points: []Point{holding("p", 7)}}
				if r := readings(t, lines, d)["d/p"]; r.Quality != tt.quality {
					t.Errorf("%s, %s: %+v", name, url, r)
				}
				if n := slave.Requests(1); n != tt.requests {
					t.Errorf("%s, %s: %d requests, want %d", name, url, n, tt.requests)
				}
			})
		}
	}
}
