package modbus

import (
	"sync"

	"gauger/collectors"
)

// batchPool are slices that polls have filled and hosts have read. A host keeps nothing of a batch (collectors.Host),
// so the next poll of whatever device fills it again: a box that reads many devices at once has few answers to decode
// at once. (A sync.Pool is emptied by the collector, which a large site calls every second: each poll made garbage of its batch.)
var batchPool struct {
	mu   sync.Mutex
	free [][]collectors.Reading
}

// batchesKept at most while nobody fills them.
const batchesKept = 16

// borrowBatch is a slice of so many empty readings.
func borrowBatch(n int) []collectors.Reading {
	batchPool.mu.Lock()
	defer batchPool.mu.Unlock()
	last := len(batchPool.free) - 1
	if last < 0 || cap(batchPool.free[last]) < n {
		return make([]collectors.Reading, n)
	}
	batch := batchPool.free[last][:n]
	batchPool.free = batchPool.free[:last]
	return batch
}

// returnBatch takes a slice back that nobody reads any more.
func returnBatch(batch []collectors.Reading) {
	clear(batch)
	batchPool.mu.Lock()
	defer batchPool.mu.Unlock()
	if cap(batch) > 0 && len(batchPool.free) < batchesKept {
		batchPool.free = append(batchPool.free, batch)
	}
}
