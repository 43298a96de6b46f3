package outbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gauger/deploy/proof"
	"gauger/outbox"
	"gauger/outbox/outboxtest"
	"gauger/outbox/preflight"
)

// openLimit is within what time a box opens, whatever its file holds.
const openLimit = 30 * time.Second

// TestProveMutants damages box files of all kinds in all ways, opens each as the program does (the long form always lets
// a child examine it), sends what it holds, and judges: no hang, no crash, no wrong byte sent, nothing sent that the
// receipts show as delivered, the counts balance, what is gone was told, and of the healthy records at least 95 in a
// hundred are still there. Healthy is a record whose bytes stand unchanged anywhere in the damaged file, on a page that
// is in use or not.
func TestProveMutants(t *testing.T) {
	s := proof.Of(t, 120)
	p := &mutants{dir: scratch(t), bases: mutantBases(t), sums: map[string]*mutantSum{}}
	for i, rng := range s.Cases() {
		b := p.bases[rng.IntN(len(p.bases))]
		kind := mutantKinds[i%len(mutantKinds)]
		p.judge(t, i, b, kind.name, kind.mutate(rng, b), s.Long, i%25 == 0)
		if t.Failed() {
			t.Fatalf("seed %d, case %d: %s of box %q", s.Seed, i, kind.name, b.name)
		}
	}
	if s.Long {
		hangingChild(t, p)
	}
	var all mutantSum
	for _, name := range slices.Sorted(maps.Keys(p.sums)) {
		x := p.sums[name]
		t.Logf("%-16s %s", name, x)
		all.add(x)
		if x.untold > 0 && !slices.Contains(fellBack, name) {
			t.Errorf("%s: %d files lost something and did not say so", name, x.untold)
		}
		if x.again > 0 {
			t.Errorf("%s: %d records were sent again that were delivered long ago", name, x.again)
		}
	}
	s.Tell(t, "0 hangs, 0 crashes, 0 wrong bytes sent, 0 sent again that the receipts show\n%-16s %s", "all", &all)
	if all.share() < 95 {
		t.Errorf("only %.2f %% of the healthy records were salvaged, want 95", all.share())
	}
}

// mutants is one run of the proof.
type mutants struct {
	dir   string
	bases []*mutantBase
	sums  map[string]*mutantSum // per kind of damage
}

// mutantSum adds up what became of the records.
type mutantSum struct {
	files, mended          int
	healthy, sent, letters int // healthy records in all, of them sent, and kept as dead letters
	gone                   int // records that are not there any more, healthy ones or not
	again                  int // sent again that were delivered so long ago that no receipt shows it
	old                    int // pieces of state that are gone or older than they were
	untold                 int // files that lost records or state and did not say so
	longest                time.Duration
}

func (x *mutantSum) share() float64 {
	if x.healthy == 0 {
		return 100
	}
	return float64(x.sent+x.letters) * 100 / float64(x.healthy)
}

func (x *mutantSum) add(y *mutantSum) {
	x.files, x.mended, x.healthy, x.sent, x.letters = x.files+y.files, x.mended+y.mended, x.healthy+y.healthy, x.sent+y.sent, x.letters+y.letters
	x.gone, x.again, x.old, x.untold = x.gone+y.gone, x.again+y.again, x.old+y.old, x.untold+y.untold
	x.longest = max(x.longest, y.longest)
}

func (x *mutantSum) String() string {
	return fmt.Sprintf("%5d files, %5d mended; of %7d healthy records %6.2f %% salvaged (%d sent, %d dead letters); %d records gone, "+
		"%d delivered long ago sent again; %d pieces of state gone or older; %d files untold; longest start %s",
		x.files, x.mended, x.healthy, x.share(), x.sent, x.letters, x.gone, x.again, x.old, x.untold, x.longest.Round(time.Millisecond))
}

// judge opens one mutant and compares what comes out with what was in the sound file.
func (p *mutants) judge(t *testing.T, i int, base *mutantBase, kind string, file []byte, long, child bool) {
	t.Helper()
	path := filepath.Join(p.dir, fmt.Sprintf("mutant-%d.db", i))
	write(t, path, file)
	beside := maps.Clone(base.beside)
	if i%3 == 2 { // nothing tells then how far the box was
		delete(beside, ".high")
	}
	for suffix, content := range beside {
		write(t, path+suffix, content)
	}
	defer p.clear(t, path, file, beside)
	if long { // the short form runs on machines that do ten other things
		hangs := fmt.Sprintf("case %d, %s of box %q, hangs; its file is %s", i, kind, base.name, path)
		watchdog := time.AfterFunc(4*openLimit, func() { panic(hangs) })
		defer watchdog.Stop()
	}
	sum := p.sums[kind]
	if sum == nil {
		sum = &mutantSum{}
		p.sums[kind] = sum
	}
	n := &notes{}
	o := outbox.Options{MaxBytes: base.quota, Notify: n.add, Preflight: checkHere}
	if long || child {
		o.Preflight = preflight.InChild(os.Args[0], checkWord)
	}
	began := time.Now()
	b := open(t, path, o)
	took := time.Since(began)
	if long && took > openLimit {
		t.Errorf("the start took %s", took)
	}
	sum.files++
	sum.mended += n.count(outbox.NoteSalvaged)
	sum.longest = max(sum.longest, took)
	j := &judgement{t: t, base: base, b: b, sum: sum, healthy: base.healthy(file), told: n.count(outbox.NoteSalvaged) > 0,
		older: slices.Contains(fellBack, kind)}
	j.records()
	j.state()
	for _, stream := range mutantStreams {
		put(t, b, stream, "after")
		counts(t, b, stream)
	}
	shut(t, b)
	if _, err := outbox.Check(path); err != nil {
		t.Errorf("after mending: %v", err)
	}
}

// hangingChild opens a sound file whose examination does not end: that is an answer too (of a box that is too busy: none),
// and the box opens in time.
func hangingChild(t *testing.T, p *mutants) {
	t.Helper()
	path, n := filepath.Join(p.dir, "hanging.db"), &notes{}
	write(t, path, p.bases[3].file)
	began := time.Now()
	b := open(t, path, outbox.Options{Notify: n.add, Preflight: preflight.InChild("/bin/sh", "-c", "while :; do :; done")})
	took := time.Since(began)
	shut(t, b)
	if n.count(outbox.NoteSalvaged)+n.count(outbox.NoteTrouble) != 1 || took < 10*time.Second || took > openLimit {
		t.Errorf("with an examination that hangs the start took %s, notes %+v", took, n.all)
	}
	t.Logf("with an examination that hangs the start took %s", took.Round(time.Millisecond))
}

func checkHere(path string) error {
	_, err := outbox.Check(path)
	return err
}

// clear removes a case's files; those of a failed one are kept for a look.
func (p *mutants) clear(t *testing.T, path string, file []byte, beside map[string][]byte) {
	if t.Failed() {
		kept := filepath.Join(os.TempDir(), filepath.Base(path))
		err := os.WriteFile(kept, file, 0o640)
		for suffix, content := range beside {
			err = errors.Join(err, os.WriteFile(kept+suffix, content, 0o640))
		}
		t.Logf("the damaged file is kept as %s, %v", kept, err)
	}
	left, err := filepath.Glob(path + "*")
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		t.Error(err)
	}
}

// judgement of one mutant.
type judgement struct {
	t       *testing.T
	base    *mutantBase
	b       *outbox.Box
	sum     *mutantSum
	healthy map[recordID]bool
	told    bool
	older   bool // it may be a commit older than it was, and sound so far
}

// records sends what is there, and looks for every record of the sound file.
func (j *judgement) records() {
	j.t.Helper()
	letters, sent, lost := map[recordID]bool{}, map[recordID]bool{}, 0
	s := &outboxtest.Service{}
	for _, stream := range mutantStreams {
		c := counts(j.t, j.b, stream)
		if there := j.base.accepted(stream); j.told && !j.older && c.Accepted < there && !c.LostUnknown {
			j.t.Errorf("%s: %d records were there, and it is not said that it is unknown how many: %+v", stream, there, c)
		}
		for _, e := range j.all(stream, outbox.Dead) {
			id := recordID{stream, e.Record.Seq}
			letters[id] = e.Raw == nil && bytes.Equal(e.Record.Body, j.base.bodies[id])
		}
		waiting := j.all(stream, outbox.Waiting)
		if stream == "refused" {
			for _, e := range waiting {
				j.check(sent, stream, e.Record)
			}
			continue
		}
		drainSome(j.t, j.b, stream, s, uint64(len(waiting)))
		for _, r := range s.Taken(stream) {
			j.check(sent, stream, r)
		}
	}
	if s.Doubled() != 0 {
		j.t.Errorf("%d doubled", s.Doubled())
	}
	for id := range j.base.kept {
		switch {
		case j.healthy[id] && sent[id]:
			j.sum.sent++
		case j.healthy[id] && letters[id]:
			j.sum.letters++
		case !sent[id] && !letters[id]:
			lost++
		}
		if j.healthy[id] {
			j.sum.healthy++
		}
	}
	j.sum.gone += lost
	if lost > 0 && !j.told {
		j.sum.untold++
	}
}

// check judges one record that was sent.
func (j *judgement) check(sent map[recordID]bool, stream string, r outbox.Record) {
	id := recordID{stream, r.Seq}
	want, known := j.base.bodies[id]
	if !known || !bytes.Equal(r.Body, want) {
		j.t.Errorf("%s %d was sent with wrong bytes, %.60q", stream, r.Seq, r.Body)
	}
	if j.base.shown[id] {
		j.t.Errorf("%s %d was sent again: a receipt shows that it was delivered", stream, r.Seq)
	}
	if j.base.delivered[id] && !j.base.shown[id] {
		j.sum.again++
	}
	sent[id] = true
}

func (j *judgement) all(stream string, state outbox.State) []outbox.Entry {
	all, err := outboxtest.All(j.b, stream, state)
	if err != nil {
		j.t.Fatal(err)
	}
	return all
}

// state compares every piece of state: what is not as it was must have been told.
func (j *judgement) state() {
	j.t.Helper()
	old := 0
	for name, want := range j.base.state {
		v, err := j.b.Get(name)
		if err != nil {
			j.t.Fatal(err)
		}
		if string(v) == want[len(want)-1] {
			continue
		}
		old++
		if v != nil && !slices.Contains(want, string(v)) {
			j.t.Errorf("state %s is %q, which it never was", name, v)
		}
	}
	j.sum.old += old
	if old > 0 && !j.told {
		j.sum.untold++
	}
}

// mutantKind is one way in which a file goes bad.
type mutantKind struct {
	name   string
	mutate func(rng *rand.Rand, b *mutantBase) []byte
}
