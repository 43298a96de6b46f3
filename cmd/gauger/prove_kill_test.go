package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"gauger/agent"
)

// seeded is a source of chance for one case.
func (p *proof) seeded() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(p.name())) // never fails
	return rand.New(rand.NewPCG(proveNumber("GAUGER_SEED", 1), h.Sum64()))
}

// Gauger dies after a row and another process goes on: with the rows that it had not stored, when a recording plays;
// without them, when the rows are live. Each case is killed some times, once each.
func TestProveLostState(t *testing.T) {
	if os.Getenv("GAUGER_KILLS") == "" {
		t.Skip("make prove-judgement runs it")
	}
	kills := int(proveNumber("GAUGER_KILLS", 3))
	resumed, bad, rebooted, worse := 0, 0, 0, 0
	for _, folder := range proveCases(t, 10) {
		p := newProof(t, folder)
		rng := p.seeded()
		whole := p.play(t.TempDir(), p.recording(t.TempDir(), p.rows), nil)
		for range kills {
			k := p.victim(rng, whole[agent.Tickets])
			store := t.TempDir()
			p.play(store, p.recording(t.TempDir(), p.rows[:k]), nil)
			got := p.play(store, p.recording(t.TempDir(), p.rows), nil)
			resumed++
			if diff := alike(got[agent.Tickets], whole[agent.Tickets]); diff != "" {
				bad++
				t.Logf("%s killed at row %d, resumed: %s", p.name(), k, diff)
			} else if fmt.Sprintf("%s", got) != fmt.Sprintf("%s", whole) {
				t.Logf("%s killed at row %d, resumed: not the same bytes", p.name(), k)
			}
			got = p.play(t.TempDir(), p.recording(t.TempDir(), reboot(p.rows, k)), nil)
			rebooted++
			if diff := alike(got[agent.Tickets], whole[agent.Tickets]); diff != "" {
				worse++
				t.Logf("%s killed at row %d, rows lost: %s", p.name(), k, diff)
			}
		}
	}
	t.Logf("%d resumed, %d of them bad; %d rebooted, %d of them bad", resumed, bad, rebooted, worse)
}

// victim is a row after which gauger dies: any row, or one of the time about a load, turn and turn about.
func (p *proof) victim(rng *rand.Rand, tickets []json.RawMessage) int {
	k := 1 + rng.IntN(len(p.rows)-1)
	if len(tickets) == 0 || rng.IntN(4) == 0 {
		return k
	}
	var one proven
	if err := json.Unmarshal(tickets[rng.IntN(len(tickets))], &one); err != nil {
		p.t.Fatal(err)
	}
	from, to := one.Start.Add(-45*time.Minute), one.End.Add(50*time.Minute)
	at := from.Add(time.Duration(rng.Float64() * float64(to.Sub(from)))).UTC().Format(time.RFC3339)
	return max(1, sort.Search(len(p.rows)-1, func(i int) bool { return p.rows[i] >= at }))
}

// reboot lets the box restart after row k: the boot count rises and the clock that never steps begins anew.
func reboot(rows []string, k int) []string {
	out := append([]string(nil), rows[:k]...)
	var zero float64
	var old string
	for i, r := range rows[k:] {
		f := strings.SplitN(r, ",", 4)
		mono, _ := strconv.ParseFloat(f[1], 64)
		if i == 0 {
			zero, old = mono, f[2]
		}
		boot, _ := strconv.Atoi(f[2])
		if f[2] == old {
			mono -= zero
		}
		out = append(out, fmt.Sprintf("%s,%g,%d,%s", f[0], mono+5, boot+1, f[3]))
	}
	return out
}
