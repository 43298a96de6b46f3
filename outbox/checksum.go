package outbox

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// stateChecksum sums up all pieces of state: how many there are, and their checksums in one. It is written with each generation,
// so that a piece that is lost, or that a lost write has left older than it was, is noticed.
type stateChecksum struct {
	n, sum uint32
}

// replace takes one sealed value out and another in; nil: there is none.
func (t *stateChecksum) replace(old, fresh []byte) {
	if len(old) >= sealHeader {
		t.n--
		t.sum ^= binary.LittleEndian.Uint32(old)
	}
	if len(fresh) >= sealHeader {
		t.n++
		t.sum ^= binary.LittleEndian.Uint32(fresh)
	}
}

func (t stateChecksum) encode() []byte {
	v := binary.LittleEndian.AppendUint32(make([]byte, 0, 8), t.n)
	return binary.LittleEndian.AppendUint32(v, t.sum)
}

// decodeStateChecksum reads what a generation says of the state; one that an older program wrote says nothing.
func decodeStateChecksum(v []byte) (t stateChecksum, ok bool) {
	if len(v) < 8 {
		return stateChecksum{}, false
	}
	return stateChecksum{n: binary.LittleEndian.Uint32(v), sum: binary.LittleEndian.Uint32(v[4:])}, true
}

// compare compares the state that is there with what was written of it.
func (t stateChecksum) compare(written []byte) error {
	if want, ok := decodeStateChecksum(written); ok && t != want {
		return fmt.Errorf("the state is not what was written: %d pieces, there were %d: %w", t.n, want.n, ErrDamaged)
	}
	return nil
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
	case ok && int(want.n) > len(v.state):
		return fmt.Sprintf("; %d pieces of state are lost", int(want.n)-len(v.state))
	case len(old) > 0:
		return "; some state may be older than it was: " + strings.Join(old, ", ")
	case v.walkProblems > 0:
		return "; some state may be lost or older than it was"
	}
	return ""
}
