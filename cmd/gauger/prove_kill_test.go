package main

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gauger/agent/ledger"
)

// seeded is a source of chance for one case.
func (p *proof) seeded() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(p.name())) // never fails
	return rand.New(rand.NewPCG(proveNumber("GAUGER_SEED", 1), h.Sum64()))
}

// victim is a row after which gauger dies: any row, or three times of four one of the time about a load.
func (p *proof) victim(rng *rand.Rand, tickets []json.RawMessage) int {
	k := 1 + rng.IntN(len(p.rows)-1)
	if len(tickets) == 0 || rng.IntN(4) == 0 {
		return k
	}
	var one proven
	if err := json.Unmarshal(tickets[rng.IntN(len(tickets))], &one); err != nil {
		p.t.Fatal(err)
	}
	row := func(at time.Time) int {
		stamp := at.UTC().Format(time.RFC3339)
		return sort.Search(len(p.rows)-1, func(i int) bool { return p.rows[i] >= stamp })
	}
	from, to := row(one.Start.Add(-45*time.Minute)), row(one.End.Add(50*time.Minute))
	return max(1, from+rng.IntN(max(1, to-from)))
}

// The real program plays a recording up to a row, dies by SIGKILL, and its next process goes on, time after time; every
// third time it dies while it plays. At the end the service has the tickets of a run that never died, each under its
// number, and never two that differ under one.
func TestProveKills(t *testing.T) {
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GAUGER_KEY", primaryKey)
	kinds := 2
	if os.Getenv("GAUGER_KILLS") != "" {
		kinds = 10
	}
	cases := proveCases(t, kinds)
	each := max(1, int(proveNumber("GAUGER_KILLS", uint64(3*len(cases))))/len(cases))
	kills, resent, same := 0, 0, 0
	for _, folder := range cases {
		p := newProof(t, folder)
		rng := p.seeded()
		made := p.play(t.TempDir(), p.recording(t.TempDir(), p.rows), nil)
		whole := made[ledger.Tickets]
		var rows []int
		for range each {
			rows = append(rows, p.victim(rng, whole))
		}
		slices.Sort(rows)
		out := p.killed(program, rows, rng, made)
		got := out.tickets
		kills, resent = kills+len(rows), resent+out.again
		if diff := alike(got, whole); diff != "" {
			t.Errorf("%s killed at rows %d: %s", p.name(), rows, diff)
		}
		for i := range min(len(got), len(whole)) {
			if string(got[i]) == string(whole[i]) {
				same++
			}
		}
	}
	t.Logf("%d kills over %d recordings; %d tickets the same to the byte; %d sent again because the program died before the answer was stored", kills, len(cases), same, resent)
}

// arrived counts at the service, in the end.
type arrived struct {
	tickets, events []json.RawMessage
	again           int // tickets that came once more
}

// killed plays the case with a process that dies after each of the rows, then to its end, until the service has all.
func (p *proof) killed(program string, rows []int, rng *rand.Rand, whole map[string][]json.RawMessage) arrived {
	p.t.Helper()
	dir, office := p.t.TempDir(), newOffice(p.t)
	yaml, err := os.ReadFile(filepath.Join(p.folder, "gauger.yaml"))
	if err != nil {
		p.t.Fatal(err)
	}
	text := strings.NewReplacer("127.0.0.1:9", office.address, "{path: state}", "{path: "+dir+", max_bytes: 2MiB}").Replace(string(yaml))
	file := filepath.Join(dir, "gauger.yaml")
	if err := os.WriteFile(file, []byte(text+"link: {rate: off}\n"), 0o600); err != nil {
		p.t.Fatal(err)
	}
	run := func(n int, until string) *process {
		p.recording(dir, p.rows[:n])
		gauger := launch(p.t, nil, program, "run", "-c", file, "--strict", "--socket", filepath.Join(dir, "s"))
		wait(p.t, p.name()+": "+until, func() bool { return strings.Contains(gauger.said(), until) })
		return gauger
	}
	for i, k := range rows {
		until := "the recording has been played"
		if i%3 == 2 {
			until, k = "gauger is at work", len(p.rows)
		}
		gauger := run(k, until)
		if i%3 == 2 {
			<-time.After(time.Duration(rng.IntN(60)) * time.Millisecond)
		}
		gauger.stop(syscall.SIGKILL)
	}
	gauger := run(len(p.rows), "the recording has been played")
	wait(p.t, p.name()+": everything is at the service", func() bool {
		out := p.counted(office)
		return len(out.tickets) >= len(whole[ledger.Tickets]) && len(out.events) >= len(whole[ledger.Events])
	})
	gauger.stop(syscall.SIGTERM)
	return p.counted(office)
}

// counted at the service by now, each ticket once.
func (p *proof) counted(office *office) arrived {
	p.t.Helper()
	var out arrived
	numbers := map[string]string{}
	for _, k := range office.store.Tickets() {
		first, known := numbers[k.TicketNumber]
		if !known {
			numbers[k.TicketNumber] = string(k.Raw)
			out.tickets = append(out.tickets, k.Raw)
			continue
		}
		out.again++
		if first != string(k.Raw) {
			p.t.Errorf("%s: ticket %s came twice, and not the same", p.name(), k.TicketNumber)
		}
	}
	for _, e := range office.store.Events() {
		out.events = append(out.events, e.Raw)
	}
	return out
}

// Gauger dies after a row, and what it had not stored is lost, as with live readings: those of up to half an
// hour where nothing happened, of a minute in a load. The box is back at once. The tickets are those of a run that never
// died; the few that are not are counted, and no ticket is ever missing or double.
func TestProveLostRows(t *testing.T) {
	kills, off := 0, 0
	cases := proveCases(t, 10)
	each := max(1, int(proveNumber("GAUGER_KILLS", 20))/len(cases))
	for _, folder := range cases {
		p := newProof(t, folder)
		rng := p.seeded()
		whole := p.play(t.TempDir(), p.recording(t.TempDir(), p.rows), nil)[ledger.Tickets]
		for range each {
			k := p.victim(rng, whole)
			got := p.play(t.TempDir(), p.recording(t.TempDir(), reboot(p.rows, k)), nil)[ledger.Tickets]
			kills++
			if diff := alike(got, whole); diff != "" {
				off++
				t.Logf("%s killed at row %d: %s", p.name(), k, diff)
			}
			if len(got) != len(whole) {
				t.Errorf("%s killed at row %d: %d tickets, want %d", p.name(), k, len(got), len(whole))
			}
		}
	}
	if off > max(1, kills/20) {
		t.Errorf("%d of %d kills moved a ticket by more than they may", off, kills)
	}
	t.Logf("%d kills with rows lost, %d of them moved a ticket", kills, off)
}

// reboot lets the box restart after row k: the boot count rises and the clock that never steps begins anew.
func reboot(rows []string, k int) []string {
	out := slices.Clone(rows[:k])
	var zero float64
	old := ""
	for i, r := range rows[k:] {
		f := strings.SplitN(r, ",", 4)
		mono, _ := strconv.ParseFloat(f[1], 64) // it was parsed when the whole was played
		boot, _ := strconv.Atoi(f[2])
		if i == 0 {
			zero, old = mono, f[2]
		}
		if f[2] == old {
			mono += 5 - zero
		}
		out = append(out, f[0]+","+strconv.FormatFloat(mono, 'f', -1, 64)+","+strconv.Itoa(boot+1)+","+f[3])
	}
	return out
}
