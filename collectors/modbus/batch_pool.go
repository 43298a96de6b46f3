package modbus

import (
	"context"
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

// decodingMost devices may have an answer decoded and not yet given to the host at once, of those that have one request a round: on
// a busy box a thousand answers come in the time that one commit takes, and a batch is fifty times as large as its answer.
const decodingMost = 32

// awaitDecoding waits for a turn to decode the last answer of a round.
func (s *round) awaitDecoding(ctx context.Context) {
	if s.device.decoding == nil || len(s.device.blocks) > 1 || len(s.device.rereadPlaces) > 0 || s.hasTurn {
		return // there is more to ask for, which nobody else is to wait for
	}
	select {
	case s.device.decoding <- struct{}{}:
		s.hasTurn = true
	case <-ctx.Done():
	}
}

// giveBack ends the round's use of its batch.
func (s *round) giveBack() {
	returnBatch(s.batch)
	s.batch = nil
	if s.hasTurn {
		s.hasTurn = false
		<-s.device.decoding
	}
}

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
