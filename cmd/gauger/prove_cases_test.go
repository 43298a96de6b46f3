package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"gauger/collectors/sim"
)

// A proof plays recordings. Its cases are folders that hold a gauger.yaml and a readings.csv: those of GAUGER_CASES,
// else ten scenarios that are made here, with the physics of collectors/sim and knowing nothing of the detector.

// scenario is a site of one or two tanks for some hours, and how it is read. Times are seconds.
type scenario struct {
	name   string
	every  float64
	noise  float64 // in
	slosh  float64 // in, while a truck pumps
	inflow float64 // bbl/min
	tanks  int
	draws  []haul
	silent [2]float64   // nothing is read between these
	boots  []float64    // the box restarts, and is away for half a minute
	steps  [][2]float64 // when the clock is set, and by how much
	hours  float64      // 0: proveHours
}

// haul is one truck at one tank.
type haul struct {
	tank     int
	at       float64
	bbl, per float64 // barrels, barrels a minute
	pauses   []sim.Pause
}

const proveHours = 9.0

func scenarios() []scenario {
	one := []haul{{0, 14423, 175, 6.5, nil}}
	return []scenario{
		{name: "plain", every: 10, noise: 0.05, inflow: 0.1, draws: one},
		{name: "slosh", every: 2, noise: 0.05, slosh: 1.5, inflow: 0.2, draws: one},
		{name: "paused", every: 10, noise: 0.05, inflow: 0.15, draws: []haul{{0, 14423, 170, 7, []sim.Pause{{After: 60, For: 5 * time.Minute}, {After: 120, For: 8 * time.Minute}}}}},
		{name: "trucks", every: 10, noise: 0.05, inflow: 0.2, draws: []haul{{0, 10823, 160, 6, nil}, {0, 15000, 150, 8, nil}}},
		{name: "sparse", every: 300, noise: 0.05, inflow: 0.1, draws: one},
		{name: "twins", every: 10, noise: 0.08, inflow: 0.1, tanks: 2, draws: []haul{{0, 10823, 95, 6, nil}, {1, 13000, 90, 6, nil}}},
		{name: "noisy", every: 10, noise: 0.35, inflow: 0.1, draws: one},
		{name: "silent", every: 10, noise: 0.05, inflow: 0.2, draws: one, silent: [2]float64{4*3600 + 600, 4*3600 + 1080}},
		{name: "clock", every: 10, noise: 0.05, inflow: 0.1, draws: one, steps: [][2]float64{{4*3600 + 500, 3300}, {6 * 3600, -2400}}},
		{name: "storm", every: 10, noise: 0.05, inflow: 0.1, draws: one, boots: []float64{4*3600 + 200, 4*3600 + 420, 4*3600 + 900, 4*3600 + 1300, 4*3600 + 1500}},
	}
}

// proveCases are the folders to play, at most n of them.
func proveCases(t *testing.T, n int) []string {
	t.Helper()
	if dir := os.Getenv("GAUGER_CASES"); dir != "" {
		found, err := filepath.Glob(filepath.Join(dir, "*", "readings.csv"))
		if err != nil || len(found) == 0 {
			t.Fatalf("GAUGER_CASES=%s holds no folder with a readings.csv: %v", dir, err)
		}
		for i := range found {
			found[i] = filepath.Dir(found[i])
		}
		return found
	}
	dir := t.TempDir()
	var out []string
	for k, s := range scenarios()[:min(n, len(scenarios()))] {
		folder := filepath.Join(dir, s.name)
		if err := s.write(folder, proveNumber("GAUGER_SEED", 1)+uint64(k)); err != nil {
			t.Fatal(err)
		}
		out = append(out, folder)
	}
	return out
}

// proveNumber is a number of the environment, by which the long form differs from the short one.
func proveNumber(name string, short uint64) uint64 {
	if v, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return v
	}
	return short
}

// write makes the case's folder.
func (s scenario) write(folder string, seed uint64) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	s.tanks = max(1, s.tanks)
	yaml := fmt.Sprintf("site: %s\nid: PROOF\nobject: 11111111-2222-3333-4444-555555555555\ntime_zone: America/Chicago\n"+
		"service: {url: \"http://127.0.0.1:9\", primary_key: {env: GAUGER_KEY}}\nstore: {path: state}\n"+
		"devices:\n  - name: rec\n    recording: readings.csv\n    every: %gs\n    points:\n", s.name, s.every)
	tanks := "tanks:\n"
	for i := range s.tanks {
		yaml += fmt.Sprintf("      - {name: t%d, unit: in}\n", i)
		tanks += fmt.Sprintf("  - {id: TK-%d, level: rec/t%d, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme}\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(folder, "gauger.yaml"), []byte(yaml+tanks), 0o644); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(folder, "readings.csv"))
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	fmt.Fprintln(w, "ts,mono_s,boot,point,value,quality")
	s.play(w, rand.New(rand.NewPCG(seed, 7)))
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// play writes the rows.
func (s scenario) play(w io.Writer, rng *rand.Rand) {
	tanks := make([]*sim.Tank, s.tanks)
	for i := range tanks {
		tanks[i] = &sim.Tank{PerInch: 2, Height: 240, Heel: 6, Inflow: s.inflow}
		tanks[i].Fill(170 + 20*rng.Float64())
	}
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	draws := slices.Clone(s.draws)
	boot, born, offset := 0, 0.0, 0.0
	for now := 0.0; now < cmp.Or(s.hours, proveHours)*3600; now += s.every {
		for len(draws) > 0 && draws[0].at <= now {
			d := draws[0]
			tanks[d.tank].Begin(sim.Draw{Barrels: d.bbl, Rate: d.per, Pauses: d.pauses})
			draws = draws[1:]
		}
		for boot < len(s.boots) && s.boots[boot] <= now {
			boot, born = boot+1, now-20
		}
		for _, st := range s.steps {
			if st[0] <= now && now < st[0]+s.every {
				offset += st[1]
			}
		}
		for i, tank := range tanks {
			tank.Advance(time.Duration(s.every * float64(time.Second)))
			v := tank.Level() + s.noise*rng.NormFloat64()
			if tank.Drawing() {
				v += s.slosh * (0.7*math.Sin(now/1.3) + 0.5*rng.NormFloat64())
			}
			if now >= s.silent[0] && now < s.silent[1] || boot > 0 && now < s.boots[boot-1]+30 {
				continue
			}
			at := begin.Add(time.Duration((now + offset) * float64(time.Second)))
			fmt.Fprintf(w, "%s,%g,%d,rec/t%d,%.3f,good\n", at.Format(time.RFC3339), now-born, boot, i, v)
		}
	}
}
