package keys

import "testing"

// A copy that was laid beside the file has its generation too: then the file counts, not the copy.
func TestOfOneGenerationTheFileCounts(t *testing.T) {
	disk := newDisk()
	f := keyFile{"keys", disk}
	for _, value := range []string{"of the copy", "of the file"} {
		if err := f.save(ringState{Generation: 7, Slots: [2]slotState{{Entries: []entry{{Value: value}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	if s, found, err := f.load(); err != nil || !found || s.Slots[0].Entries[0].Value != "of the file" {
		t.Errorf("%+v, %v", s.Slots[0].Entries, err)
	}
}
