// Command sites, built as sitesbench, plays the recordings of collectors/sim/sites through gauger's backtest and compares
// the tickets with the truth. Held-out kinds are shown as totals only, unless asked for by -held: who tunes does not ask.
//
// Order of files: play.go (the program on one site), inside.go (the detector alone on one), match.go (tickets and truth), figures.go (what is counted), table.go,
// calibrate.go (the factors of the detector's error).
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gauger/collectors/sim/sites"
)

type options struct {
	gauger, only, keep string
	seeds              []uint64
	each, jobs         int
	held, loads        bool
	alone, calibrate   bool
}

func main() {
	var o options
	seeds := flag.String("seed", "1", "seeds, comma separated")
	flag.StringVar(&o.gauger, "gauger", "bin/gauger", "the program to judge")
	flag.StringVar(&o.only, "only", "", "kinds whose name contains this")
	flag.StringVar(&o.keep, "keep", "", "leave the sites, tickets and truth.csv in this folder")
	flag.IntVar(&o.each, "n", 2, "sites of each kind and seed")
	flag.IntVar(&o.jobs, "j", 2, "sites at once")
	flag.BoolVar(&o.held, "held", false, "show the held-out kinds one by one too; not while tuning")
	flag.BoolVar(&o.loads, "loads", false, "show every load")
	flag.BoolVar(&o.alone, "alone", false, "judge the detector without the program around it, which is faster")
	flag.BoolVar(&o.calibrate, "calibrate", false, "learn the detector's factors of error on the tuning kinds, and print them as its Go file")
	flag.Parse()
	for _, text := range strings.Split(*seeds, ",") {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			fail(fmt.Errorf("seed %q: a whole number is wanted", text))
		}
		o.seeds = append(o.seeds, seed)
	}
	run := bench
	if o.calibrate {
		run = calibrate
	}
	if err := run(o); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sitesbench:", err)
	os.Exit(1)
}

// job is one site to play.
type job struct {
	kind         sites.Kind
	seed, number uint64
}

func bench(o options) error {
	exe, err := filepath.Abs(o.gauger)
	if err != nil {
		return err
	}
	folder := o.keep
	if folder == "" {
		if folder, err = os.MkdirTemp("", "sites"); err != nil {
			return err
		}
		defer os.RemoveAll(folder)
	}
	began := time.Now()
	way := func(s *sites.Site) (outcome, error) {
		return play(exe, filepath.Join(folder, slug(s.Name)), s, o.keep != "")
	}
	if o.alone {
		way = inside
	}
	outcomes, all, err := playAll(jobs(o), o.jobs, way)
	if err != nil {
		return err
	}
	if o.keep != "" {
		if err := saveTruth(folder, all); err != nil {
			return err
		}
	}
	fmt.Printf("%d sites in %.0f s\n", len(all), time.Since(began).Seconds())
	report(os.Stdout, outcomes, o)
	return nil
}

func jobs(o options) []job {
	var list []job
	for _, k := range append(sites.Kinds(true), sites.Kinds(false)...) {
		if !strings.Contains(k.Name, o.only) {
			continue
		}
		for _, seed := range o.seeds {
			for number := range o.each {
				list = append(list, job{k, seed, uint64(number)})
			}
		}
	}
	return list
}

// playAll plays every site; what it returns is in the order of the jobs, however many ran at once.
func playAll(todo []job, at int, play func(*sites.Site) (outcome, error)) ([]outcome, []*sites.Site, error) {
	played := make([]outcome, len(todo))
	made := make([]*sites.Site, len(todo))
	wrong := make([]error, len(todo))
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(1, at) {
		workers.Go(func() {
			for i := range next {
				made[i] = todo[i].kind.Make(todo[i].seed, todo[i].number)
				played[i], wrong[i] = play(made[i])
				made[i] = &sites.Site{Name: made[i].Name, Movements: made[i].Movements} // its readings are megabytes
				played[i].kind, played[i].held = todo[i].kind.Name, todo[i].kind.HeldOut()
			}
		})
	}
	for i := range todo {
		next <- i
	}
	close(next)
	workers.Wait()
	if at := slices.IndexFunc(wrong, func(err error) bool { return err != nil }); at >= 0 {
		return nil, nil, fmt.Errorf("%s: %w", made[at].Name, wrong[at])
	}
	return played, made, nil
}

func saveTruth(folder string, all []*sites.Site) error {
	f, err := os.Create(filepath.Join(folder, "truth.csv"))
	if err != nil {
		return err
	}
	if err := sites.WriteTruth(f, all); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func slug(name string) string { return strings.NewReplacer(" ", "-", ",", "").Replace(name) }
