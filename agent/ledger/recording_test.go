package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/recorder"
	"gauger/collectors"
	"gauger/collectors/sim"
)

// recording gives the bench a recorder in dir.
func (b *bench) record(dir string) *recorder.Ring {
	b.t.Helper()
	ring, err := recorder.Open(dir, recorder.Options{MaxBytes: 4 << 20, Days: 30})
	if err != nil {
		b.t.Fatal(err)
	}
	b.UseRecorder(ring, 4<<20)
	return ring
}

// export is what the recorder holds, as a recording has it.
func (b *bench) export() string {
	b.t.Helper()
	ring, err := b.Recorder()
	b.must(err)
	var lines recorder.CSV
	for row, err := range ring.Rows(time.Time{}, time.Time{}) {
		b.must(err)
		lines.Add(row)
	}
	return recorder.CSVHeader + string(lines.Text)
}

// backtested is the tickets that a recording makes on a box of its own, without what differs by the clock's grade.
func (b *bench) backtested(csv string) []map[string]any {
	b.t.Helper()
	again := newBench(b.t, func(s *Site) { *s = b.site })
	player, err := sim.New(sim.Device{Name: "rec", File: "rec.csv", From: strings.NewReader(csv), Every: time.Second,
		Points: []sim.Point{{Name: "plc/level", Unit: "in"}, {Name: "plc/oil", Unit: "bbl"}}})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := player.Run(b.t.Context(), again.Host("rec")); err != nil {
		b.t.Fatal(err)
	}
	return withoutComments(again.bodies(Tickets))
}

func withoutComments(tickets []map[string]any) []map[string]any {
	for _, t := range tickets {
		delete(t, "comments")
	}
	return tickets
}

// TestTheRecorderGivesTheSameTickets: a live site is recorded, and the recording makes its tickets again, numbers, levels
// and times: of a run without a stop, and of one in which the program was ended and started inside the load.
func TestTheRecorderGivesTheSameTickets(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			dir := t.TempDir()
			ring := b.record(dir)
			begin := time.Now()
			for i := 0; time.Since(begin) < 3*time.Hour; i++ {
				pumped := min(max(time.Since(begin)-time.Hour, 0), 25*time.Minute)
				ripple := 0.03 * float64(i*7%5-2)
				b.emit("level", 180-4*pumped.Minutes()+ripple)
				pass(10*time.Second + time.Duration(i%7)*1234567)
				if err := b.Tick(time.Now()); err != nil {
					t.Fatal(err)
				}
				if restart && i == 430 {
					if err := ring.Close(); err != nil {
						t.Fatal(err)
					}
					b.again()
					ring = b.record(dir)
				}
			}
			want := withoutComments(b.bodies(Tickets))
			if len(want) != 1 {
				t.Fatalf("%d tickets, want 1", len(want))
			}
			if got := b.backtested(b.export()); !reflect.DeepEqual(got, want) {
				t.Errorf("restart %v: the recording gives\n%v, live was\n%v", restart, got, want)
			}
			if err := ring.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestOnlyReadingsThatCountAreRecorded: neither of a point that nothing hangs on, nor of a batch that was not stored.
func TestOnlyReadingsThatCountAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) {
			s.Values = []Value{{Well: "w", Code: "Production Target Oil", Point: "plc/oil", Every: 0}}
		})
		ring := b.record(t.TempDir())
		b.emit("level", 171.25)
		b.emit("spare", 1)
		b.emit("oil", 412, func(r *collectors.Reading) { r.Unit = "bbl" })
		b.emit("level", 0, func(r *collectors.Reading) { r.Quality, r.Err = collectors.Bad, errors.New("no answer") })
		if err := b.box.Close(); err != nil {
			t.Fatal(err)
		}
		reading := collectors.Reading{Point: "plc/oil", Value: 413, Quality: collectors.Good, At: time.Now()}
		if err := b.Host("plc").Emit(t.Context(), []collectors.Reading{reading}); err == nil {
			t.Fatal("a batch was stored in a closed box")
		}
		want := recorder.CSVHeader + "2000-01-01T00:00:00Z,0,1,plc/level,171.25,good\n" +
			"2000-01-01T00:00:00Z,0,1,plc/oil,412,good\n2000-01-01T00:00:00Z,0,1,plc/level,0,bad\n"
		if got := b.export(); got != want {
			t.Errorf("recorded:\n%swant:\n%s", got, want)
		}
		if s := b.RecorderStatus(); s.Rows != 3 || s.Lost != 0 || s.Error != "" {
			t.Errorf("status %+v", s)
		}
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestARecordingOfARecordingIsTheSame: what plays inside a run is exported byte for byte as it was, also rows of a device
// that knew them before the box started.
func TestARecordingOfARecordingIsTheSame(t *testing.T) {
	b := newBench(t, nil)
	ring := b.record(t.TempDir())
	text := recorder.CSVHeader
	for _, line := range []string{
		"2026-03-02T07:00:00Z,12,0", "2026-03-02T06:00:00Z,-3588.000001,0", "2026-03-02T07:00:10.000123Z,22.000123,0",
		"1970-01-01T00:00:07Z,7,1", "2026-03-02T07:10:00Z,2600000.123456,1", "2026-03-02T07:10:00.5Z,1.25,2147483646",
	} {
		text += line + ",plc/level,171.25,good\n" + line + ",plc/level,NaN,bad\n"
	}
	player, err := sim.New(sim.Device{Name: "plc", File: "it", From: strings.NewReader(text), Every: time.Second, Points: []sim.Point{{Name: "level"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := player.Run(t.Context(), b.Host("plc")); err != nil {
		t.Fatal(err)
	}
	if got := b.export(); got != text {
		t.Errorf("exported:\n%swant:\n%s", got, text)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestADiskThatTakesNoReadingsStopsNothing: the load is ticketed, and status says what is wrong.
func TestADiskThatTakesNoReadingsStopsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		dir := filepath.Join(t.TempDir(), "recorder")
		ring := b.record(dir)
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		b.haul(50 * time.Minute)
		if n := len(b.bodies(Tickets)); n != 1 {
			t.Errorf("%d tickets, want 1", n)
		}
		s := b.RecorderStatus()
		if s.Lost == 0 || s.Error == "" || !b.recording.failing {
			t.Errorf("status %+v", s)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		b.haul(0)
		if s := b.RecorderStatus(); s.Error != "" || b.recording.failing {
			t.Errorf("after the disk came back: %+v", s)
		}
		if err := ring.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
