package proof

import "testing"

func TestACaseIsTheSameInEveryStretch(t *testing.T) {
	whole, part := map[int]uint64{}, map[int]uint64{}
	for i, r := range (Stretch{Seed: 7, N: 10}).Cases() {
		whole[i] = r.Uint64()
	}
	for i, r := range (Stretch{Seed: 7, From: 4, N: 3}).Cases() {
		part[i] = r.Uint64()
	}
	if len(whole) != 10 || len(part) != 3 {
		t.Fatalf("%d and %d cases, want 10 and 3", len(whole), len(part))
	}
	for i, v := range part {
		if v != whole[i] {
			t.Errorf("case %d is another one in a part", i)
		}
	}
	if whole[4] == whole[5] {
		t.Error("two cases are the same")
	}
}

func TestStretchOfTheEnvironment(t *testing.T) {
	t.Setenv("GAUGER_SEED", "3")
	t.Setenv("GAUGER_FROM", "500")
	t.Setenv("GAUGER_N", "20")
	if got, want := Of(t, 5), (Stretch{Seed: 3, From: 500, N: 20, Long: true}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
