package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

const small = `ts,mono_s,boot,point,value,quality
2026-03-02T07:00:00Z,100,0,rec/t1-level,120.5000,good
2026-03-02T07:00:00Z,100,0,rec/t1-temperature,68.0,good
2026-03-02T07:00:10Z,110,0,rec/t1-level,NaN,good
2026-03-02T07:00:10Z,110,0,rec/t1-temperature,68.1,bad
2026-03-02T07:00:10Z,110,0,rec/t9-level,3,good
this is not a row
2026-03-02T07:00:20Z,120,0,rec/t1-level,120.4,uncertain
2026-03-02T01:00:30-06:00,5.25,1,rec/t1-level,120.3,good
2026-03-02T07:00:30Z,5.25,1,rec/t1-temperature,,good
`

func TestPlaysInOrderAndGroupsByPoll(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		rec, a := recording(t, strings.ReplaceAll(small, "\n", end)), &agent{}
		if err := rec.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC)
		type want struct {
			point   collectors.Point
			value   float64
			unit    collectors.Unit
			quality collectors.Quality
			at      time.Time
			boot    int64
			mono    time.Duration
		}
		nan := math.NaN()
		polls := [][]want{
			{{"rec/t1-level", 120.5, "in", collectors.Good, at, 1, 100 * time.Second}, {"rec/t1-temperature", 68, "degF", collectors.Good, at, 1, 100 * time.Second}},
			{{"rec/t1-level", nan, "in", collectors.Bad, at.Add(10 * time.Second), 1, 110 * time.Second}, {"rec/t1-temperature", 68.1, "degF", collectors.Bad, at.Add(10 * time.Second), 1, 110 * time.Second}},
			{{"rec/t1-level", 120.4, "in", collectors.Uncertain, at.Add(20 * time.Second), 1, 120 * time.Second}},
			{{"rec/t1-level", 120.3, "in", collectors.Good, at.Add(30 * time.Second), 2, 5250 * time.Millisecond}, {"rec/t1-temperature", nan, "degF", collectors.Bad, at.Add(30 * time.Second), 2, 5250 * time.Millisecond}},
		}
		if len(a.batches) != len(polls) {
			t.Fatalf("%d batches, want %d: %v", len(a.batches), len(polls), a.batches)
		}
		for i, poll := range polls {
			if len(a.batches[i]) != len(poll) {
				t.Fatalf("batch %d has %d readings, want %d", i, len(a.batches[i]), len(poll))
			}
			for j, w := range poll {
				g := a.batches[i][j]
				same := g.Value == w.value || math.IsNaN(g.Value) && math.IsNaN(w.value)
				if g.Point != w.point || !same || g.Unit != w.unit || g.Quality != w.quality || !g.At.Equal(w.at) || g.Boot != w.boot || g.Mono != w.mono {
					t.Errorf("batch %d reading %d is %+v, want %+v", i, j, g, w)
				}
				if (g.Err == nil) != (g.Quality == collectors.Good) {
					t.Errorf("batch %d reading %d is %v with error %v", i, j, g.Quality, g.Err)
				}
			}
		}
		if len(a.refused) != 1 || a.refused[0].source != "rec line 7" || a.refused[0].raw != "this is not a row" {
			t.Errorf("refused %+v, want line 7 only", a.refused)
		}
		if got, want := rec.counts, (counts{played: 7, batches: 4, skipped: 1, refused: 1}); got != want {
			t.Errorf("counts %+v, want %+v", got, want)
		}
		if len(a.notices) != 0 {
			t.Errorf("notices %v", a.notices)
		}
	}
}

func TestMalformedRowsCostNothingElse(t *testing.T) {
	good := "2026-03-02T07:00:%02dZ,%d,0,rec/t1-level,%d,good\n"
	bad := []struct{ line, why string }{
		{"", ""},
		{"2026-03-02T07:00:00Z,1,0,rec/t1-level,5", "5 columns, not 6"},
		{"2026-03-02T07:00:00Z,1,0,rec/t1-level,5,good,", "more than 6 columns"},
		{"2026-03-02T07:00:00Z,1,0,rec/t1-level,5,goo", "quality"},
		{"2026-03-02T07:00:00Z,1,0,rec/t1-level,five,good", "not a number"},
		{"2026-03-02T07:00:60Z,1,0,rec/t1-level,5,good", "ts"},
		{"2026-02-30T07:00:00Z,1,0,rec/t1-level,5,good", "ts"},
		{"2026-03-02T07:00:00Z,-1e99,0,rec/t1-level,5,good", "mono_s"},
		{"2026-03-02T07:00:00Z,1e99,0,rec/t1-level,5,good", "mono_s"},
		{"2026-03-02T07:00:00Z,,0,rec/t1-level,5,good", "mono_s"},
		{"2026-03-02T07:00:00Z,1,-1,rec/t1-level,5,good", "boot"},
		{"2026-03-02T07:00:00Z,1,0,,5,good", "point"},
		{strings.Repeat("x", 3*lineLimit), "longer than 65536 bytes"},
		{"2026-03-02T07:00:00Z,1,0,rec/t1-level,5,good" + strings.Repeat(" ", lineLimit), "longer than"},
	}
	text := header + "\n"
	for i, b := range bad {
		text += fmt.Sprintf(good, i, i, i) + b.line + "\n"
	}
	a := &agent{}
	if err := recording(t, text).Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if len(a.batches) != len(bad) {
		t.Fatalf("%d batches, want every one of the %d good rows", len(a.batches), len(bad))
	}
	for i, b := range a.batches {
		if len(b) != 1 || b[0].Value != float64(i) {
			t.Errorf("batch %d is %+v", i, b)
		}
	}
	if len(a.refused) != len(bad)-1 {
		t.Fatalf("%d refused, want %d: %+v", len(a.refused), len(bad)-1, a.refused)
	}
	for i, r := range a.refused {
		line := fmt.Sprintf("rec line %d", 2*(i+1)+3)
		if r.source != line || !strings.Contains(r.why, bad[i+1].why) || len(r.raw) > lineLimit {
			t.Errorf("refusal %d: %s, %d bytes, %s; want %s, %s", i, r.source, len(r.raw), r.why, line, bad[i+1].why)
		}
	}
}

func TestGoesOnAfterEveryKill(t *testing.T) {
	text := header + "\n"
	for i := range 30 {
		boot, mono := i/12, i%12*10
		text += fmt.Sprintf("2026-03-02T07:00:%02dZ,%d,%d,rec/t1-level,%d,good\n2026-03-02T07:00:%02dZ,%d,%d,rec/t1-temperature,%d,good\n", i, mono, boot, i, i, mono, boot, i)
	}
	rec := recording(t, text)
	whole := &agent{}
	if err := rec.Run(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	for kill := range len(whole.batches) {
		ctx, stop := context.WithCancel(t.Context())
		a := &agent{}
		a.emit = func([]collectors.Reading) error {
			if len(a.batches) == kill {
				stop()
				return errors.New("the power is off")
			}
			return nil
		}
		if err := over(t, rec.device.File).Run(ctx, a); err != nil {
			t.Fatalf("killed after %d batches: %v", kill, err)
		}
		a.emit = nil
		again := over(t, rec.device.File)
		if err := again.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a.batches, whole.batches) {
			t.Fatalf("killed after %d batches: %d batches in all, want the same %d", kill, len(a.batches), len(whole.batches))
		}
		if got := again.counts.resumed; got != 2*kill {
			t.Errorf("killed after %d batches: %d rows passed over, want %d", kill, got, 2*kill)
		}
	}
}

func TestARefusedBatchIsTriedAgainAndNeverPassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec, a, tries := recording(t, small), &agent{}, 0
		a.emit = func([]collectors.Reading) error {
			if tries++; tries >= 2 && tries <= 4 {
				return errors.New("disk full")
			}
			return nil
		}
		start := time.Now()
		if err := rec.Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if len(a.batches) != 4 || tries != 7 {
			t.Errorf("%d batches in %d tries, want 4 in 7", len(a.batches), tries)
		}
		if took := time.Since(start); took != 700*time.Millisecond {
			t.Errorf("waited %s, want 0.1+0.2+0.4 s", took)
		}
	})
}

func TestAHostThatNeverTakesABatchEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		a := &agent{emit: func([]collectors.Reading) error { return full }}
		err := recording(t, small).Run(t.Context(), a)
		if !errors.Is(err, full) || !strings.Contains(err.Error(), "line 4: hand over a batch") {
			t.Errorf("got %v", err)
		}
	})
}

func TestEndsWithTheContextWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer stop()
		a := &agent{emit: func([]collectors.Reading) error { return errors.New("disk full") }}
		start := time.Now()
		if err := recording(t, small).Run(ctx, a); err != nil || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("ended with %v after %s", err, time.Since(start))
		}
	})
}

func TestWhatIsNoRecording(t *testing.T) {
	for name, text := range map[string]string{
		"other columns": "seq,ts,level\n1,2026-03-02T07:00:00Z,5\n",
		"one long line": strings.Repeat("\x00", 2*lineLimit),
	} {
		a := &agent{}
		err := recording(t, text).Run(t.Context(), a)
		if err == nil || !strings.Contains(err.Error(), "not a recording") || !strings.Contains(err.Error(), header) {
			t.Errorf("%s: %v", name, err)
		}
		if len(a.refused) != 0 {
			t.Errorf("%s: %d dead letters", name, len(a.refused))
		}
	}
	if err := over(t, "/nowhere/readings.csv").Run(t.Context(), &agent{}); err == nil || !strings.Contains(err.Error(), "/nowhere/readings.csv") {
		t.Errorf("a missing file: %v", err)
	}
	if err := recording(t, "").Run(t.Context(), &agent{}); err != nil {
		t.Errorf("an empty recording: %v", err)
	}
	broken := errors.New("store closed")
	if err := recording(t, small).Run(t.Context(), &agent{recall: broken}); !errors.Is(err, broken) {
		t.Errorf("a host without memory: %v", err)
	}
	if err := recording(t, small).Run(t.Context(), &agent{memory: map[string][]byte{collectors.ReplayPosition: []byte("yesterday")}}); err == nil {
		t.Error("a position that is none was believed")
	}
}

func TestTellsWhenNoRowNamesAPoint(t *testing.T) {
	a := &agent{}
	text := header + "\n2026-03-02T07:00:00Z,1,0,plc/t1-level,5,good\n2026-03-02T07:00:01Z,2,0,plc/t1-level,5,good\n"
	if err := recording(t, text).Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if len(a.notices) != 1 || a.notices[0].Rule != "recording-unmatched" || !strings.Contains(a.notices[0].Note, "none of the 2 rows") {
		t.Errorf("notices %+v", a.notices)
	}
}

func TestTellsWhenThereIsNoRow(t *testing.T) {
	for _, text := range []string{"", header + "\n"} {
		a := &agent{}
		if err := recording(t, text).Run(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if len(a.notices) != 1 || !strings.Contains(a.notices[0].Note, "holds no rows that can be read") {
			t.Errorf("%q: notices %+v", text, a.notices)
		}
	}
}

func TestPlaysWhatWasRecordedOfSeveralDevices(t *testing.T) {
	file := recording(t, header+"\n2026-03-02T07:00:00Z,1,0,plc/tk1,5,good\n2026-03-02T07:00:00Z,1,0,radio/tk2,6,good\n").device.File
	d := Device{Name: "recording", File: file, Points: []Point{{Name: "plc/tk1"}, {Name: "radio/tk2"}}}
	c, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{}
	if err := c.Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if len(a.batches) != 1 || len(a.batches[0]) != 2 {
		t.Fatalf("batches %+v, want one of two readings", a.batches)
	}
	if one, two := a.batches[0][0].Point, a.batches[0][1].Point; one != "plc/tk1" || two != "radio/tk2" {
		t.Errorf("%s and %s, want plc/tk1 and radio/tk2", one, two)
	}
	if len(d.Check()) != 2 {
		t.Errorf("in a configuration such names are mistakes: %+v", d.Check())
	}
}

// rows makes a recording of n rows without holding it.
type rows struct {
	n, done int
	read    int // bytes taken so far
	rest    []byte
	t       time.Time
}

func (r *rows) Read(p []byte) (int, error) {
	if len(r.rest) == 0 && r.done < r.n {
		r.rest = r.rest[:0]
		for range min(1000, r.n-r.done) {
			at := r.t.Add(time.Duration(r.done/2) * 10 * time.Second)
			name := [2]string{"rec/t1-level", "rec/t1-temperature"}[r.done%2]
			r.rest = at.AppendFormat(r.rest, time.RFC3339)
			r.rest = fmt.Appendf(r.rest, ",%d,0,%s,%.4f,good\n", r.done/2*10, name, 100+float64(r.done%5000)/100)
			r.done++
		}
	}
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	r.read += n
	return n, nil
}

func TestReadsNoFurtherThanItPlays(t *testing.T) {
	in := &rows{n: 100_000, t: time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC)}
	most, batches := 0, 0
	a := &agent{}
	a.emit = func(b []collectors.Reading) error {
		batches++
		ahead := in.read - batches*2*45
		most = max(most, ahead)
		a.batches = nil
		return nil
	}
	if err := over(t, "unused").play(t.Context(), a, in); err != nil {
		t.Fatal(err)
	}
	// rows are 45 to 60 bytes long: the difference of the longer ones adds up over the file
	if batches != 50_000 || most > 2*lineLimit+batches*2*15 {
		t.Errorf("%d batches, read up to %d bytes ahead", batches, most)
	}
}

func BenchmarkPlay(b *testing.B) {
	var text strings.Builder
	in := &rows{n: 200_000, t: time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC)}
	if _, err := io.Copy(&text, in); err != nil {
		b.Fatal(err)
	}
	a := &agent{}
	a.emit = func([]collectors.Reading) error { a.batches = a.batches[:0]; return nil }
	b.ReportAllocs()
	played := 0
	for b.Loop() {
		rec := over(b, "unused")
		a.memory = nil
		if err := rec.play(context.Background(), a, strings.NewReader(text.String())); err != nil {
			b.Fatal(err)
		}
		played += rec.counts.played
	}
	b.ReportMetric(float64(played)/b.Elapsed().Seconds(), "rows/s")
}

func TestARowMayLeaveTheDeviceOut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "readings.csv")
	rows := "ts,mono_s,boot,point,value,quality\n2026-03-01T06:00:00Z,0,0,t1-level,1,good\n2026-03-01T06:00:10Z,10,0,plc/t1-level,2,good\n" +
		"2026-03-01T06:00:20Z,20,0,both,3,good\n2026-03-01T06:00:30Z,30,0,radio/both,4,good\n"
	if err := os.WriteFile(file, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := New(Device{Name: "rec", File: file, Points: []Point{{Name: "plc/t1-level"}, {Name: "plc/both"}, {Name: "radio/both"}}})
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{}
	if err := c.Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range a.batches {
		got = append(got, fmt.Sprint(b[0].Point, b[0].Value))
	}
	if want := []string{"plc/t1-level1", "plc/t1-level2", "radio/both4"}; !slices.Equal(got, want) {
		t.Errorf("played %v; expected %v", got, want)
	}
}
