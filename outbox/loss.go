package outbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// noteMended tells what is lost by the file's own counts and by what the marks and receipts beside it know besides, and what was
// carried over.
func (v *salvager) noteMended(besides uint64, told string) {
	doubt := ""
	if v.staleCopies > 0 {
		doubt = fmt.Sprintf(", %d records are in doubt and became dead letters", v.staleCopies)
	}
	v.b.note(Note{Kind: NoteSalvaged, Count: v.records}, "the outbox file was damaged and was mended: %s%s%s; %d records, %d dead letters and %d pieces of state were carried over%s; "+
		"the damaged file is kept as %s; what was found: %v", lostText(v.lost+besides, v.unknown(), v.vague), told, v.describeStateLoss(),
		v.records, v.deadLetters, len(v.state), doubt, filepath.Base(v.aside), v.cause)
}

// unknown are the streams of which nobody knows how many records are lost.
func (v *salvager) unknown() (names []string) {
	v.b.mu.Lock()
	defer v.b.mu.Unlock()
	for name, s := range v.b.streams {
		if s.counts.LostUnknown {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// lostText says how many are lost, as far as that is known.
func lostText(n uint64, unknown, vague []string) string {
	of := strings.Join(unknown, ", ")
	switch {
	case len(unknown) == 0 && len(vague) > 0:
		slices.Sort(vague)
		return fmt.Sprintf("at least %d are lost, and of %s perhaps what came in the last seconds before it stopped, which the marks do not count", n, strings.Join(vague, ", "))
	case len(unknown) == 0:
		return fmt.Sprintf("%d are lost", n)
	case n == 0:
		return "how many of " + of + " are lost is not known, since the counts were damaged too"
	}
	return fmt.Sprintf("at least %d are lost, and how many more of %s is not known, since the counts were damaged too", n, of)
}

// lossUncertain reports whether more may be lost of a stream than its counts say: they were not found where both meta pages
// lead, and the marks beside the file do not know them either. Of a stream that gives way they may not
// know the last ones, where the box was not closed.
func (v *salvager) lossUncertain(r *salvagedStream) bool {
	if r.current || !r.known && v.countsReached && !v.countsDamaged && v.p.Metas == 2 {
		return false
	}
	if s := v.b.streams[r.name]; s != nil && s.Keep != Never && v.b.highWater != nil && !v.b.highWater.Closed {
		v.vague = append(v.vague, r.name)
	}
	_, _, marked := v.b.highWater.markOf(r.name)
	return !v.b.highWater.covers(v.generation) || !marked && (r.known || r.highest > 0)
}

// sumState sums up the state that was found so far.
func (v *salvager) sumState() (t stateChecksum) {
	for _, a := range v.state {
		t.replace(nil, a.value)
	}
	return t
}

// stateComplete reports whether exactly the state that was written last was found. Older copies are not looked at then: a
// piece that was deleted must not come back.
func (v *salvager) stateComplete() bool {
	want, ok := decodeStateChecksum(v.written)
	return ok && want == v.sumState()
}

// describeStateLoss says in words what is not certain about the state; "": all of it is as it was.
func (v *salvager) describeStateLoss() string {
	if v.stateComplete() {
		return ""
	}
	var old []string
	for name, a := range v.state {
		if a.old {
			old = append(old, name)
		}
	}
	slices.Sort(old)
	if len(old) > 5 {
		old = append(old[:5], fmt.Sprintf("%d more", len(old)-5))
	}
	want, ok := decodeStateChecksum(v.written)
	switch {
	case len(v.state) == 0:
		return "; all the state beside the records is lost: what was known of tickets and tanks"
	case ok && int(want.n) > len(v.state):
		return fmt.Sprintf("; %d pieces of state are lost", int(want.n)-len(v.state))
	case len(old) > 0:
		return "; some state may be older than it was: " + strings.Join(old, ", ")
	case v.walkProblems > 0:
		return "; some state may be lost or older than it was"
	}
	return ""
}
