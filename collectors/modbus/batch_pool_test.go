package modbus

import (
	"testing"

	"gauger/collectors"
)

func TestABorrowedBatchIsEmpty(t *testing.T) {
	for _, n := range []int{3, 2, 5, 1} {
		batch := borrowBatch(n)
		if len(batch) != n {
			t.Fatalf("%d readings, want %d", len(batch), n)
		}
		for i := range batch {
			if batch[i] != (collectors.Reading{}) {
				t.Errorf("%d of %d still says %+v", i, n, batch[i])
			}
			batch[i] = collectors.Reading{Point: "d/p", Value: 7, Quality: collectors.Good}
		}
		returnBatch(batch)
	}
	returnBatch(nil)
}
