package sites

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Site is a recording with its truth.
type Site struct {
	Name      string
	Movements []Movement

	plan    *plan
	rows    []reading
	battery *battery
	heard   []heard
}

// Save writes gauger.yaml and readings.csv into a folder.
func (s *Site) Save(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "gauger.yaml"), []byte(s.Config()), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, "readings.csv"))
	if err != nil {
		return err
	}
	if err := s.WriteReadings(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// WriteReadings writes the recording in the order of arrival. A thermometer's row comes every five minutes.
func (s *Site) WriteReadings(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(out, "ts,mono_s,boot,point,value,quality")
	warm := make([]int, len(s.plan.tanks))
	for i := range warm {
		warm[i] = -day
	}
	for _, row := range s.rows {
		head := fmt.Sprintf("%s,%d,%d,rec/t%d-", s.plan.instant(row.second).Format(time.RFC3339), row.mono, row.boot, row.tank+1)
		value, quality := strconv.FormatFloat(row.value, 'f', 4, 64), "good"
		if row.missing {
			value = "NaN"
		}
		if row.bad {
			quality = "bad"
		}
		fmt.Fprintf(out, "%slevel,%s,%s\n", head, value, quality)
		if row.second-warm[row.tank] >= 300 {
			warm[row.tank] = row.second
			fmt.Fprintf(out, "%stemperature,%.1f,good\n", head, 62+float64(row.second%day)/9000)
		}
	}
	return out.Flush()
}

// Config is the site's gauger.yaml.
func (s *Site) Config() string {
	var y strings.Builder
	y.WriteString("site: Tank bench\nid: BENCH\nobject: 11111111-2222-3333-4444-555555555555\nobject_type: Device\ntime_zone: America/Denver\nproduction_day: \"07:00\"\n")
	y.WriteString("service:\n  url: http://127.0.0.1:9\n  primary_key: {env: GAUGER_KEY}\nstore: {path: state}\ndevices:\n  - name: rec\n    recording: readings.csv\n")
	fmt.Fprintf(&y, "    every: %ds\n    points:\n", s.plan.recorder.poll)
	for i := range s.plan.tanks {
		fmt.Fprintf(&y, "      - {name: t%d-level, unit: in}\n      - {name: t%d-temperature, unit: degF}\n", i+1, i+1)
	}
	fmt.Fprintf(&y, "loads: {group_settle: %s}\ntanks:\n", GroupSettle)
	for i, t := range s.plan.tanks {
		fmt.Fprintf(&y, "  - id: %s\n    level: rec/t%d-level\n    top_temperature: rec/t%d-temperature\n", s.plan.tankID(i), i+1, i+1)
		fmt.Fprintf(&y, "    height: %gft\n    diameter: %gft\n    sensor: %s\n    sales: truck\n    purchaser: Test Purchaser\n", t.height/12, t.diameter, t.gauge.class)
		if t.group != "" {
			fmt.Fprintf(&y, "    group: %s\n", t.group)
		}
		y.WriteString("    strapping:   # inches, barrels\n")
		for _, row := range t.strapping() {
			fmt.Fprintf(&y, "      - [%.4f, %.3f]\n", row[0], row[1])
		}
	}
	return y.String()
}

// GroupSettle is what gauger.yaml says of the rest before a group's closing gauge: the truth has it as soon as the equaliser is quiet.
const GroupSettle = time.Minute

// Tank is what gauger.yaml says of a tank.
type Tank struct {
	ID, Sensor, Group string
	Height            float64      // in
	Strapping         [][2]float64 // in, bbl
}

// Tanks lists the tanks of the site.
func (s *Site) Tanks() []Tank {
	var list []Tank
	for i, t := range s.plan.tanks {
		list = append(list, Tank{s.plan.tankID(i), t.gauge.class, t.group, t.height, t.strapping()})
	}
	return list
}

// Poll is the time between two readings, as gauger.yaml says it.
func (s *Site) Poll() time.Duration { return time.Duration(s.plan.recorder.poll) * time.Second }

// Reading is one level of the recording.
type Reading struct {
	Tank  int
	Value float64 // in; NaN where no number came
	Good  bool
	At    time.Time
	Mono  time.Duration // since the box started
	Boot  int
}

// Readings gives the levels in the order of arrival.
func (s *Site) Readings(yield func(Reading) bool) {
	for _, row := range s.rows {
		r := Reading{Tank: row.tank, Value: row.value, Good: !row.bad, At: s.plan.instant(row.second), Mono: time.Duration(row.mono) * time.Second, Boot: row.boot}
		if row.missing {
			r.Value = math.NaN()
		}
		if !yield(r) {
			return
		}
	}
}

// Barrels is what a tank's strapping table says of two readings of its gauge, in.
func (s *Site) Barrels(tank string, open, shut float64) float64 {
	for i, t := range s.plan.tanks {
		if s.plan.tankID(i) == tank {
			return t.volume(open) - t.volume(shut)
		}
	}
	return 0
}

// WriteTruth writes the truth of several sites, a line for each movement.
func WriteTruth(w io.Writer, all []*Site) error {
	out := csv.NewWriter(w)
	if err := out.Write(strings.Split("site,tank,kind,class,start,end,time_tol_s,gauge_bbl,tol_bbl,really_left_bbl,sensor,scan_s,feeding,expert_bbl", ",")); err != nil {
		return err
	}
	bbl := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	for _, s := range all {
		for _, m := range s.Movements {
			err := out.Write([]string{s.Name, m.Tank, m.Kind, m.Class, m.Start.Format(time.RFC3339), m.End.Format(time.RFC3339),
				strconv.Itoa(int(m.TimeTol.Seconds())), bbl(m.Gauge), bbl(m.Tol), bbl(m.Left), m.Sensor, strconv.Itoa(m.Scan), m.Feeding, bbl(m.Expert)})
			if err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
