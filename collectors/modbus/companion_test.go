package modbus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// radio is a gateway that keeps what a node sent at its last check-in.
type radio struct {
	bank  *modbustest.Bank
	began time.Time
	at    time.Time // of the last check-in
	level uint16
}

// The ways in which a gateway may count minutes.
var minutes = map[string]func(r *radio, now time.Time) uint16{
	"whole":   func(r *radio, now time.Time) uint16 { return uint16(now.Sub(r.at) / time.Minute) },
	"begun":   func(r *radio, now time.Time) uint16 { return uint16((now.Sub(r.at) + time.Minute - 1) / time.Minute) },
	"rounded": func(r *radio, now time.Time) uint16 { return uint16((now.Sub(r.at) + time.Minute/2) / time.Minute) },
	"ticks of its own": func(r *radio, now time.Time) uint16 {
		return uint16(now.Sub(r.began)/time.Minute - r.at.Sub(r.began)/time.Minute)
	},
}

const timeout = 60 // minutes after which the gateway gives a node up

func (r *radio) checkIn(now time.Time, level uint16) {
	r.at, r.level = now, level
	r.bank.Set(modbustest.Holding, 0, level)
}

func radioPoints(more ...func(*Point)) []Point {
	more = append(more, func(p *Point) {
		p.Age = &Age{Point: "left", Max: 30 * time.Minute, DownFrom: new(float64(timeout)), Unit: "min"}
	})
	return []Point{holding("level", 0, more...), holding("left", 2)}
}

func newRadio(t *testing.T, points ...Point) (*radio, *device, *modbustest.Slave) {
	t.Helper()
	slave := modbustest.NewSlave()
	r := &radio{bank: slave.Unit(1), began: time.Now()}
	lines := pipeLines(t, linetest.Only(slave))
	t.Cleanup(func() { linetest.Close(t, lines) })
	options := Device{Name: "d", URL: "tcp://gateway", Points: points}
	if err := optionsError([]Device{options}); err != nil {
		t.Fatal(err)
	}
	d, err := newDevice(lines, options)
	if err != nil {
		t.Fatal(err)
	}
	return r, d, slave
}

func TestAnAgeDatesEachSampleOnce(t *testing.T) {
	for name, count := range minutes {
		for _, every := range []time.Duration{time.Second, 10 * time.Second, 47 * time.Second, 3 * time.Minute} {
			t.Run(fmt.Sprint(name, " ", every), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { aDayByRadio(t, count, every) })
			})
		}
	}
}

// aDayByRadio polls for some hours, and compares what the readings say with when the node checked in.
func aDayByRadio(t *testing.T, count func(*radio, time.Time) uint16, every time.Duration) {
	r, d, _ := newRadio(t, radioPoints()...)
	random := rand.New(rand.NewPCG(1, uint64(every)))
	var next, told, sampled time.Time
	for range int(4 * time.Hour / every) {
		if now := time.Now(); !now.Before(next) {
			r.checkIn(now, r.level+uint16(random.IntN(3))) // every third with the value that was there before
			next = now.Add(4*time.Minute + time.Duration(random.Int64N(int64(40*time.Minute))))
		}
		r.bank.Set(modbustest.Holding, 2, timeout-count(r, time.Now()))
		got := byPoint(d.newRound().run(t.Context()).batch)["d/level"]
		if got.Quality == collectors.Bad && time.Since(r.at) > 29*time.Minute {
			told = got.At
			linetest.Await(t, every)
			continue
		}
		if got.Quality != collectors.Good || got.Value != float64(r.level) {
			t.Fatalf("%s old: %v %s (%v)", time.Since(r.at), got.Value, got.Quality, got.Err)
		}
		if time.Since(r.at) > 32*time.Minute {
			t.Fatalf("%s old, and good", time.Since(r.at))
		}
		if off := got.At.Sub(r.at).Abs(); off > time.Minute+ageSlack {
			t.Fatalf("dated %s, which is %s off", got.At, off)
		}
		if r.at.Equal(sampled) && !got.At.Equal(told) {
			t.Fatalf("one sample has two times: %s and then %s", told, got.At)
		}
		if !r.at.Equal(sampled) && got.At.Before(told) {
			t.Fatalf("a new sample is dated %s, the one before %s", got.At, told)
		}
		told, sampled = got.At, r.at
		linetest.Await(t, every)
	}
}

func TestACheckInBetweenTwoRequestsIsNotDatedBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		points := []Point{radioPoints()[0], holding("left", 100)}
		r, d, slave := newRadio(t, points...)
		slave.Turnaround = 100 * time.Millisecond
		r.checkIn(time.Now(), 500)
		r.bank.Set(modbustest.Holding, 100, timeout)
		d.newRound().run(t.Context())
		linetest.Await(t, 20*time.Minute)
		r.bank.Set(modbustest.Holding, 100, timeout-20)
		old := byPoint(d.newRound().run(t.Context()).batch)["d/level"]
		linetest.Await(t, 10*time.Second)
		began := time.Now()
		go func() {
			collectors.Wait(t.Context(), 50*time.Millisecond) // the age has been read, the level not yet
			r.checkIn(time.Now(), 300)
			r.bank.Set(modbustest.Holding, 100, timeout)
		}()
		now := byPoint(d.newRound().run(t.Context()).batch)["d/level"]
		if now.Value != 300 || now.At.Before(began.Add(-11*time.Second)) || now.At.After(time.Now()) {
			t.Errorf("%v at %s; the level before, %v, was still there at %s", now.Value, now.At, old.Value, began)
		}
		if n := slave.Requests(1); n != 6 {
			t.Errorf("%d requests in three rounds, want the two apart each time", n)
		}
	})
}

func TestAnAgeThatMakesNoSenseIsNotBelieved(t *testing.T) {
	plain := func(p *Point) { p.Age = &Age{Point: "left", Max: 30 * time.Minute, Unit: "min"} }
	signed := func(p *Point) { p.Type = "int16" }
	tests := []struct {
		name    string
		age     func(*Point)
		left    func(*Point)
		word    uint16
		quality collectors.Quality
		why     string
	}{
		{"fresh", plain, signed, 0, collectors.Good, ""},
		{"at its limit", plain, signed, 30, collectors.Good, ""},
		{"too old", plain, signed, 31, collectors.Bad, "31 min old by d/left; more than 30 min is not believed"},
		{"negative", plain, signed, 0xFFFF, collectors.Uncertain, "d/left says -1 min"},
		{"timed out", func(*Point) {}, signed, 0, collectors.Bad, "60 min old"},
		{"above the countdown's beginning", func(*Point) {}, signed, 61, collectors.Uncertain, "says 61, and counts down from 60"},
		{"below its end", func(*Point) {}, signed, 0xFFFE, collectors.Uncertain, "says -2, and counts down from 60"},
		{"never updated", plain, func(p *Point) { p.Bad = []float64{65535} }, 0xFFFF, collectors.Uncertain, "d/left is bad: the device says 65535, which means no value"},
		{"the time of the universe", plain, typed("uint64", ""), 0x7FFF, collectors.Uncertain, "d/left says"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				points := radioPoints(tt.age)
				tt.age(&points[0])
				tt.left(&points[1])
				r, d, _ := newRadio(t, points...)
				r.checkIn(time.Now(), 500)
				r.bank.Set(modbustest.Holding, 2, tt.word)
				got := byPoint(d.newRound().run(t.Context()).batch)["d/level"]
				checkReading(t, got, tt.quality, 500, tt.why)
			})
		})
	}
}

func checkReading(t *testing.T, got collectors.Reading, quality collectors.Quality, value float64, why string) {
	t.Helper()
	if err := sound(got); err != nil {
		t.Error(err)
	}
	if got.Quality != quality || quality != collectors.Bad && got.Value != value {
		t.Errorf("%s: %v %s (%v), want %v %s", got.Point, got.Value, got.Quality, got.Err, value, quality)
	}
	if why != "" && (got.Err == nil || !strings.Contains(got.Err.Error(), why)) {
		t.Errorf("%s: %v, want it to say %q", got.Point, got.Err, why)
	}
	if got.Asked.IsZero() || got.Asked.After(time.Now()) {
		t.Errorf("%s: asked at %s", got.Point, got.Asked)
	}
}

func TestAStatusDecidesWhetherAValueIsGood(t *testing.T) {
	tests := []struct {
		name   string
		when   GoodWhen
		status uint16
		why    string // empty: good
	}{
		{"is", GoodWhen{Is: []float64{0, 1}}, 1, ""},
		{"is not among them", GoodWhen{Is: []float64{0, 1}}, 2, "d/status says 2; the value is good at 0, 1 only"},
		{"not", GoodWhen{Not: []float64{3}}, 2, ""},
		{"one of not", GoodWhen{Not: []float64{3}}, 3, "d/status says 3; the value is no good then"},
		{"between", GoodWhen{Between: []float64{2, 4}}, 4, ""},
		{"not between", GoodWhen{Between: []float64{2, 4}}, 5, "says 5; the value is good from 2 to 4 only"},
		{"clear", GoodWhen{Clear: []int{0, 15}}, 0x7FFE, ""},
		{"a bit is set", GoodWhen{Clear: []int{0, 15}}, 0x8000, "says 0x8000; the value is no good while bit 15 is set"},
		{"the status itself is bad", GoodWhen{Is: []float64{9}}, 9, "d/status, which says whether this value is good, is bad: the device says 9"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tt.when.Point = "status"
				status := holding("status", 5)
				status.Bad = []float64{9}
				_, d, slave := newRadio(t, holding("level", 0, func(p *Point) { p.GoodWhen = &tt.when }), status)
				slave.Unit(1).Set(modbustest.Holding, 0, 77)
				slave.Unit(1).Set(modbustest.Holding, 5, tt.status)
				quality := collectors.Good
				if tt.why != "" {
					quality = collectors.Bad
				}
				checkReading(t, byPoint(d.newRound().run(t.Context()).batch)["d/level"], quality, 77, tt.why)
			})
		})
	}
}

func TestAnExceptionOnTheStatusMakesTheValueBad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, d, slave := newRadio(t, holding("level", 0, func(p *Point) { p.GoodWhen = &GoodWhen{Point: "status", Is: []float64{0}} }), holding("status", 500))
		slave.Unit(1).Strict(true)
		slave.Unit(1).Set(modbustest.Holding, 0, 77)
		checkReading(t, byPoint(d.newRound().run(t.Context()).batch)["d/level"], collectors.Bad, 0, "d/status, which says whether this value is good, is bad: read")
	})
}

// TestTwoRequestsAskTheCompanionsAgain: the level of the second request has the age of the second request, and a
// companion that counts on between the two is no contradiction.
func TestTwoRequestsAskTheCompanionsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		points := radioPoints(func(p *Point) { p.Verify, p.GoodWhen = "twice", &GoodWhen{Point: "status", Is: []float64{0}} })
		r, d, slave := newRadio(t, append(points, holding("status", 3))...)
		slave.Turnaround = time.Second / 2
		r.checkIn(time.Now(), 500)
		r.bank.Set(modbustest.Holding, 2, timeout-4)
		began := time.Now()
		go func() {
			collectors.Wait(t.Context(), time.Second/4)
			r.bank.Set(modbustest.Holding, 2, timeout-5)
		}()
		got := byPoint(d.newRound().run(t.Context()).batch)
		level := got["d/level"]
		checkReading(t, level, collectors.Good, 500, "")
		if want := began.Add(time.Second - 5*time.Minute); !level.At.Equal(want) || !level.Asked.Equal(began.Add(time.Second/2)) {
			t.Errorf("at %s, asked %s; want %s, from the second request", level.At, level.Asked, want)
		}
		checkReading(t, got["d/left"], collectors.Good, timeout-5, "")
		if slave.Requests(1) != 2 {
			t.Errorf("%d requests, want 2", slave.Requests(1))
		}
		go func() {
			collectors.Wait(t.Context(), time.Second/4)
			r.bank.Set(modbustest.Holding, 3, 2)
		}()
		checkReading(t, byPoint(d.newRound().run(t.Context()).batch)["d/level"], collectors.Bad, math.NaN(), "d/status says 2")
	})
}

func TestABadValueStaysWhatItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, d, _ := newRadio(t, radioPoints(func(p *Point) { p.Bad = []float64{9999} })...)
		r.checkIn(time.Now(), 9999)
		r.bank.Set(modbustest.Holding, 2, timeout)
		checkReading(t, byPoint(d.newRound().run(t.Context()).batch)["d/level"], collectors.Bad, 0, "9999, which means no value")
	})
}
