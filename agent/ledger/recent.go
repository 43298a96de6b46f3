package ledger

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"gauger/collectors"
)

// A broker delivers again what it has no acknowledgement of: as many messages as were on the way when the link broke or
// gauger was killed, which is at most what two commits take. So the readings of a value that is sent every time are
// remembered in pages of their own, of which a commit rewrites the last.
const (
	recentPages = 20
	recentPage  = 128 // readings
)

// recentReadings are the readings that were sent last, by their fingerprints.
type recentReadings struct {
	pages [recentPages][]uint64
	at    int // the page that is being filled
}

// add remembers a reading, and forgets the oldest page when there is no room.
func (r *recentReadings) add(sum uint64) {
	if len(r.pages[r.at]) >= recentPage {
		r.at = (r.at + 1) % recentPages
		r.pages[r.at] = nil
	}
	if r.pages[r.at] == nil {
		r.pages[r.at] = make([]uint64, 0, recentPage)
	}
	// What the state before sees of the page ends before this place, and a transaction that was given up is never continued.
	r.pages[r.at] = append(r.pages[r.at], sum)
}

// knows says whether a reading was sent before.
func (r *recentReadings) knows(sum uint64) bool {
	if r == nil {
		return false
	}
	for i := range r.pages {
		if slices.Contains(r.pages[i], sum) {
			return true
		}
	}
	return false
}

// fingerprint tells a reading from another by its device's time and its value.
func fingerprint(r collectors.Reading) uint64 {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(r.At.UnixNano()))
	binary.BigEndian.PutUint64(b[8:], math.Float64bits(r.Value))
	h := fnv.New64a()
	h.Write(b[:])
	return h.Sum64()
}

func encodePage(page []uint64) []byte {
	b := make([]byte, 0, 8*len(page))
	for _, sum := range page {
		b = binary.BigEndian.AppendUint64(b, sum)
	}
	return b
}

func decodePage(b []byte) []uint64 {
	page := make([]uint64, 0, max(recentPage, len(b)/8))
	for ; len(b) >= 8; b = b[8:] {
		page = append(page, binary.BigEndian.Uint64(b))
	}
	return page
}

// pageName is where a page of a value's readings is kept.
func pageName(v Value, page int) string {
	return stateName(fmt.Sprintf("%s%s/%d", recentKey, v.key(), page))
}

// loadRecent reads the pages of a value. The version before kept 256 readings with the value itself.
func (l *Ledger) loadRecent(v Value, last *lastValue) error {
	last.recent = &recentReadings{}
	for page := range last.recent.pages {
		b, err := l.box.Get(pageName(v, page))
		if err != nil {
			return fmt.Errorf("read what was sent of %s: %w", v.Point, err)
		}
		if b != nil {
			last.recent.pages[page] = decodePage(b)
		}
	}
	if last.recent.at = last.Page; last.Page < 0 || last.Page >= recentPages {
		last.recent.at = 0
	}
	for _, sum := range decodePage(last.Recent) {
		last.recent.add(sum)
	}
	last.Recent = nil
	return nil
}

// putValues stages what was last sent of the values that this transaction has sent.
func (d *txn) putValues() {
	for i, sent := range d.sentValues {
		if !sent {
			continue
		}
		v, last := d.l.site.Values[i], d.lastValues[i]
		var old recentReadings
		if known := d.l.state.lastValues[i].recent; known != nil {
			old = *known
		}
		last.Page = last.recent.at
		d.putJSON(valueKey+v.key(), last)
		for n, page := range last.recent.pages {
			if !slices.Equal(page, old.pages[n]) {
				d.putState(pageName(v, n), encodePage(page))
			}
		}
	}
}
