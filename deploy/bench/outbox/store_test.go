package main

import "testing"

// What is not given back whole must not be measured.
func TestEveryStoreGivesBackWhatItTook(t *testing.T) {
	for _, c := range contenders {
		t.Run(c.name, func(t *testing.T) {
			for _, use := range []struct {
				name string
				run  func(store) error
			}{
				{"drain", func(s store) error { _, err := drainAll(s, 2000); return err }},
				{"mixed", func(s store) error { _, err := mixed(s, 320); return err }},
			} {
				s, err := c.open(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				if err := use.run(s); err != nil {
					t.Errorf("%s: %v", use.name, err)
				}
				if err := s.close(); err != nil {
					t.Errorf("%s: close: %v", use.name, err)
				}
			}
		})
	}
}

func TestATallySeesWhatIsWrong(t *testing.T) {
	for name, change := range map[string]func([][]byte) [][]byte{
		"lost":    func(b [][]byte) [][]byte { return b[:9] },
		"doubled": func(b [][]byte) [][]byte { return append(b[:9], b[0]) },
		"changed": func(b [][]byte) [][]byte { b[3][100] ^= 1; return b },
	} {
		var sum tally
		sum.add(change(makeBodies(0, 10)))
		if sum.expect(10) == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
	var whole tally
	whole.add(makeBodies(0, 10))
	if err := whole.expect(10); err != nil {
		t.Error(err)
	}
}

func TestSpread(t *testing.T) {
	if got, want := spreadOf([]float64{5, 1, 3}), (spread{median: 3, least: 1, most: 5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
