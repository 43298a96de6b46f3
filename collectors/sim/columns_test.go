package sim

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
)

// TestReadsUglyRecordings plays the same three readings as people and programs write them.
func TestReadsUglyRecordings(t *testing.T) {
	chicago, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"byte order mark": "\xef\xbb\xbfts,mono_s,boot,point,value,quality\n2026-03-02T13:00:00Z,0,0,rec/t1-level,120.5,good\n2026-03-02T13:00:10Z,10,0,rec/t1-level,120.25,good\n2026-03-02T13:00:20Z,20,0,rec/t1-level,9,bad\n",
		"mark, no header": "\xef\xbb\xbf2026-03-02T13:00:00Z,0,0,rec/t1-level,120.5,good\n2026-03-02T13:00:10Z,10,0,rec/t1-level,120.25,good\n2026-03-02T13:00:20Z,20,0,rec/t1-level,9,bad",
		"blanks, CRLF":    " ts , mono_s,boot , point,value,quality\r\n2026-03-02T13:00:00Z, 0, 0, rec/t1-level , 120.5 , good\r\n\r\n  \r\n2026-03-02T13:00:10Z ,10,0,rec/t1-level, 120.25, Good \r\n2026-03-02T13:00:20Z,20,0,rec/t1-level,9,BAD\r\n",
		"quotes":          "\"ts\",\"mono_s\",\"boot\",\"point\",\"value\",\"quality\"\n\"2026-03-02T13:00:00Z\",\"0\",\"0\",\"rec/t1-level\",\"120.5\",\"good\"\n\"2026-03-02 13:00:10Z\",10,0,\"rec/t1-level\",120.25,good\n2026-03-02T13:00:20Z,20,0,rec/t1-level,9,bad\n",
		"other order":     "Quality,note,Value,point,boot,mono_s,TS\ngood,a,120.5,rec/t1-level,0,0,2026-03-02T13:00:00Z\ngood,,120.25,rec/t1-level,0,10,2026-03-02T13:00:10Z\nbad,,9,rec/t1-level,0,20,2026-03-02T13:00:20Z\n",
		"the site's time": "ts,mono_s,boot,point,value,quality\n2026-03-02T07:00:00,0,0,rec/t1-level,120.5,good\n2026-03-02 07:00:10,10,0,rec/t1-level,120.25,good\n2026-03-02T07:00:20-06:00,20,0,rec/t1-level,9,bad\n",
		"epoch":           "ts,mono_s,boot,point,value,quality\n1772456400,0,0,rec/t1-level,120.5,good\n1772456410.000,10,0,rec/t1-level,120.25,good\n1772456420,20,0,rec/t1-level,9,bad\n",
		"times only":      "ts,point,value,quality\n2026-03-02T13:00:00Z,rec/t1-level,120.5,good\n2026-03-02T13:00:10Z,rec/t1-level,120.25,good\n2026-03-02T13:00:20Z,rec/t1-level,9,bad\n",
		"no quality":      "ts,point,value\n2026-03-02T13:00:00Z,rec/t1-level,120.5\n2026-03-02T13:00:10Z,rec/t1-level,120.25\n2026-03-02T13:00:20Z,rec/t1-level,\n",
	} {
		rec, a := recording(t, text), &agent{}
		rec.device.Zone = chicago
		if err := rec.Run(t.Context(), a); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(a.batches) != 3 || len(a.refused) != 0 {
			t.Errorf("%s: %d polls, want 3; refused %+v", name, len(a.batches), a.refused)
			continue
		}
		first := a.batches[0][0]
		for i, want := range []struct {
			value   float64
			quality collectors.Quality
		}{{120.5, collectors.Good}, {120.25, collectors.Good}, {9, collectors.Bad}} {
			got := a.batches[i][0]
			at := time.Date(2026, 3, 2, 13, 0, 10*i, 0, time.UTC)
			if got.Point != "rec/t1-level" || !got.At.Equal(at) {
				t.Errorf("%s: reading %d is of %s at %s, want rec/t1-level at %s", name, i, got.Point, got.At, at)
			}
			if got.Quality != want.quality || got.Quality == collectors.Good && got.Value != want.value {
				t.Errorf("%s: reading %d is %v, %s; want %v, %s", name, i, got.Value, got.Quality, want.value, want.quality)
			}
			if got.Mono-first.Mono != time.Duration(10*i)*time.Second || got.Boot != 1 {
				t.Errorf("%s: reading %d is %s after the first, boot %d", name, i, got.Mono-first.Mono, got.Boot)
			}
		}
	}
}

func TestARecordingWithoutMonoNeverRunsBack(t *testing.T) {
	a := &agent{}
	text := "ts,point,value\n2026-03-02T13:00:10Z,rec/t1-level,1\n2026-03-02T13:00:00Z,rec/t1-level,2\n2026-03-02T13:00:20Z,rec/t1-level,3\n1969-12-31T23:00:00Z,rec/t1-level,4\n"
	if err := recording(t, text).Run(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if len(a.batches) != 3 || a.batches[1][0].Mono != a.batches[0][0].Mono || a.batches[2][0].Mono <= a.batches[1][0].Mono {
		t.Errorf("batches %+v", a.batches)
	}
	if len(a.refused) != 1 || a.refused[0].source != "rec line 5" || !strings.Contains(a.refused[0].why, "clock that was set") {
		t.Errorf("refused %+v", a.refused)
	}
}

func TestHeadersThatAreMistakes(t *testing.T) {
	for head, why := range map[string]string{
		"ts,mono_s,boot,value,quality":               "there is no column point",
		"ts,mono_s,point,value,quality":              "mono_s and boot only make sense together",
		"ts,ts,point,value":                          "the column ts stands there twice",
		"ts,point,value" + strings.Repeat(",x", 100): "103 columns; at most 32",
		"ts;mono_s;boot;point;value;quality":         "1 columns, not 6",
	} {
		err := recording(t, head+"\n").Run(t.Context(), &agent{})
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), header) {
			t.Errorf("%s: %v, want %s", head, err, why)
		}
	}
	err := over(t, filepath.Join(t.TempDir(), "none.csv")).Run(t.Context(), &agent{})
	if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "name a CSV file") {
		t.Errorf("a missing file: %v", err)
	}
}
