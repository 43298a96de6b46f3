// Command mqtt, built as mqttbench, measures how fast messages of quality of service 1 come from a Mosquitto onto gauger's disk, beside
// the least program that there can be: a paho client that acknowledges at once and keeps nothing. A message counts for
// gauger when its own record is in the outbox. With -wear it measures what garbage at several rates costs the flash (wear.go).
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
	bare := flag.String("bare", "", "be the bare consumer of this broker")
	flag.Parse()
	var err error
	switch {
	case *bare != "":
		err = consume(*bare, *messages)
	case *wear != "":
		err = measureWear(*gauger, *wear, *seconds)
	default:
		err = compare(*gauger, *messages, *rounds)
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

// goals of performance.md's row 11. Minimal Telegraf needs 30.8 us a message and the least program with a disk 16.1 where
// the figures come from; the bare consumer is the measure that can be had everywhere.
const wantRate = 20_000

func compare(gauger string, n, rounds int) error {
	all := map[string][]result{}
	for range rounds {
		for _, who := range []string{"gauger", "bare"} {
			r, err := round(who, gauger, n)
			if err != nil {
				return fmt.Errorf("round of %s: %w", who, err)
			}
			fmt.Printf("%-7s %8.0f messages/s  %6.1f us of CPU a message  %5.1f MiB\n", who, r.rate(n), r.each(n), float64(r.rss)/1024)
			all[who] = append(all[who], r)
		}
	}
	ours, bare := median(all["gauger"]), median(all["bare"])
	verdict := "met"
	if ours.rate(n) < wantRate {
		verdict = "MISSED"
	}
	fmt.Printf("median: gauger %.0f messages/s with each record on disk (goal %d: %s), %.2f of the bare consumer's rate, %.2f of its CPU a message\n",
		ours.rate(n), wantRate, verdict, ours.rate(n)/bare.rate(n), ours.each(n)/bare.each(n))
	return nil
}

// median is the round in the middle by time.
func median(all []result) result {
	sort.Slice(all, func(i, j int) bool { return all[i].took < all[j].took })
	return all[len(all)/2]
}
