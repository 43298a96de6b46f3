package control

import (
	"strings"
	"testing"

	"gauger/agent/cloud"
)

// TestAQueryOfManyPagesHasALimit: pages that never end are given up before they fill the memory, and of elements that cannot be
// read some are told.
func TestAQueryOfManyPagesHasALimit(t *testing.T) {
	var f QueryResult[cloud.Device]
	page := make([]byte, 1<<20)
	for n := range 9 {
		err := f.addPage(cloud.Page[cloud.Device]{Items: []cloud.Device{{ID: "1"}}, Odd: make([]int, 15), Raw: page}, nil)
		if full := n == 8; (err != nil) != full || full && !strings.Contains(err.Error(), "more than 8 MB") {
			t.Errorf("page %d: %v", n+1, err)
		}
	}
	if len(f.Odd) != mostOdd || f.Odd[15] != "element [0] of page 2 has none of the fields that service.wire names" {
		t.Errorf("%q", f.Odd)
	}
}
