package ledger

import (
	"slices"

	"gauger/collectors"
)

// withoutHistorical is a batch without what devices kept and tell afterwards; the batch itself, mostly.
func withoutHistorical(batch []collectors.Reading) []collectors.Reading {
	for i := range batch { // by its place: a reading is large, and a site has thousands a second
		if batch[i].Past {
			return slices.DeleteFunc(slices.Clone(batch), func(r collectors.Reading) bool { return r.Past })
		}
	}
	return batch
}

// applyHistorical takes a reading of the past. It says nothing about now, so tanks, rules and meters do not see it; a value of
// which every reading is a record has it under its own time.
func (d *txn) applyHistorical(r collectors.Reading) {
	f := d.l.routes[r.Point]
	if f == nil || r.At.IsZero() {
		return
	}
	for _, i := range f.values {
		if d.l.site.Values[i].Every == 0 {
			d.sendValue(i, r)
		}
	}
}
