package modbus

import (
	"sync"

	"gauger/collectors"
)

// batchPool are slices that polls have filled and hosts have read. A host keeps nothing of a batch (collectors.Host),
// so the next poll of whatever device fills it again: a box that reads many devices at once has few answers to decode
// at once.
var batchPool sync.Pool

// borrowBatch is a slice of so many empty readings.
func borrowBatch(n int) []collectors.Reading {
	b, ok := batchPool.Get().(*[]collectors.Reading)
	if !ok || cap(*b) < n {
		return make([]collectors.Reading, n)
	}
	batch := (*b)[:n]
	clear(batch)
	return batch
}

// returnBatch takes a slice back that nobody reads any more.
func returnBatch(batch []collectors.Reading) {
	if cap(batch) > 0 {
		batchPool.Put(&batch)
	}
}
