// Command mqtt, built as mqttbench, measures how fast messages of quality of service 1 come from a Mosquitto onto gauger's disk, beside
// the least program that there can be: a paho client that acknowledges at once and keeps nothing. A message counts for
// gauger when its own record is in the outbox. With -wear it measures what garbage at several rates costs the flash (wear.go),
// with -garbage what it costs in a day.
package main

import (
	"flag"
	"fmt"
	"os"
	"sort"
	"time"
)

func main() {
	gauger := flag.String("gauger", "bin/gauger", "the program to measure")
	messages := flag.Int("n", 100_000, "messages of a round")
	rounds := flag.Int("rounds", 5, "rounds of each, in turn")
	wear := flag.String("wear", "", "instead: measure what messages that cannot be decoded write to the disk of this folder")
	seconds := flag.Int("seconds", 60, "of -wear: how long at each rate")
	telegraf := flag.String("telegraf", "", "a minimal Telegraf to measure beside; empty: none")
	garbage := flag.String("garbage", "", "instead: row 17, what messages that cannot be decoded write in a day to the disk of this folder")
	table := flag.Bool("tab", false, "print the rows alone, with tabs between, for a program to read")
	bare := flag.String("bare", "", "be the bare consumer of this broker")
	flag.Parse()
	var err error
	switch {
	case *bare != "":
		err = consume(*bare, *messages)
	case *garbage != "":
		err = measureGarbage(*gauger, *garbage, *seconds)
	case *wear != "":
		err = measureWear(*gauger, *wear, wearRates, *seconds)
	default:
		err = compare(*gauger, *telegraf, *messages, *rounds, *table)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mqttbench:", err)
		os.Exit(1)
	}
}

// result is one round.
type result struct {
	took time.Duration // from the first message to the last that counts
	cpu  time.Duration // of the consumer alone
	rss  int64         // of the consumer at the end, KiB
}

func (r result) rate(n int) float64 { return float64(n) / r.took.Seconds() }

func (r result) each(n int) float64 { return float64(r.cpu.Microseconds()) / float64(n) }

// goals of performance.md's row 11. Minimal Telegraf delivers what it has; so does gauger as "gauger-sink", while as "gauger" it stores
// each record for a service that is nowhere.
const (
	wantRate  = 20_000
	wantRatio = 0.7
)

func compare(gauger, telegraf string, n, rounds int, tabs bool) error {
	names := []string{"gauger", "gauger-sink", "bare"}
	if telegraf != "" {
		names = append(names, "telegraf")
	}
	all := map[string][]result{}
	for range rounds {
		for _, name := range names {
			program := gauger
			if name == "telegraf" {
				program = telegraf
			}
			r, err := round(name, program, n)
			if err != nil {
				return fmt.Errorf("round of %s: %w", name, err)
			}
			all[name] = append(all[name], r)
			if tabs {
				continue
			}
			fmt.Printf("%-11s %8.0f messages/s  %6.1f us of CPU a message  %5.1f MiB\n", name, r.rate(n), r.each(n), float64(r.rss)/1024)
		}
	}
	report(all, n, telegraf != "")
	return nil
}

// report prints the row's figures, each with its goal.
func report(all map[string][]result, n int, beside bool) {
	rate := func(r result) float64 { return r.rate(n) }
	low, mid, high := spread(all["gauger"], rate)
	fmt.Printf("11\tMQTT QoS 1, each record on disk, messages/s\t%.0f (%.0f to %.0f)\t>= %d\t%s\n", mid, low, high, wantRate, verdict(mid >= wantRate))
	each := func(name string) float64 {
		_, mid, _ := spread(all[name], func(r result) float64 { return r.each(n) })
		return mid
	}
	fmt.Printf("11\tCPU a message, bare consumer 1: to the disk, to the sink\t%.2f, %.2f\t\t-\n", each("gauger")/each("bare"), each("gauger-sink")/each("bare"))
	if !beside {
		fmt.Printf("11\tCPU a message, minimal Telegraf 1: to the disk, to the sink\tnot measured (TELEGRAF=)\t<= %g\t-\n", wantRatio)
		return
	}
	disk, sink := each("gauger")/each("telegraf"), each("gauger-sink")/each("telegraf")
	fmt.Printf("11\tCPU a message, minimal Telegraf 1: to the disk, to the sink\t%.2f, %.2f\t<= %g\t%s\n", disk, sink, wantRatio, verdict(max(disk, sink) <= wantRatio))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "MISSED"
}

// spread is the least, the middle and the greatest of a figure.
func spread(all []result, of func(result) float64) (low, mid, high float64) {
	figures := make([]float64, len(all))
	for i, r := range all {
		figures[i] = of(r)
	}
	sort.Float64s(figures)
	return figures[0], figures[len(figures)/2], figures[len(figures)-1]
}
