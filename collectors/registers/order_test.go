package registers

import "testing"

// bytesOf gives each byte of a value its letter, A the most significant, laid out as the order's name says.
func bytesOf(order string) []byte {
	b := make([]byte, len(order))
	for i, letter := range order {
		b[i] = byte(letter-'A') + 1
	}
	return b
}

func TestOrdersAreSpelledAsOnTheWire(t *testing.T) {
	for _, name := range []string{"AB", "BA", "ABCD", "CDAB", "BADC", "DCBA", "ABCDEFGH", "GHEFCDAB", "BADCFEHG", "HGFEDCBA",
		"EFGHABCD", "CDABGHEF", "FEHGBADC", "DCBAHGFE"} {
		o, err := ParseOrder(name, len(name)/2)
		if err != nil {
			t.Error(err)
			continue
		}
		want := uint64(0)
		for i := range len(name) {
			want = want<<8 | uint64(i+1)
		}
		if got := o.Number(bytesOf(name)); got != want {
			t.Errorf("%s: %X, want %X", name, got, want)
		}
	}
}

func TestFourLettersGoOnByRule(t *testing.T) {
	for four, eight := range map[string]string{"ABCD": "ABCDEFGH", "CDAB": "GHEFCDAB", "BADC": "BADCFEHG", "DCBA": "HGFEDCBA"} {
		short, _ := ParseOrder(four, 4)
		if got := short.Number(bytesOf(eight)); got != 0x0102030405060708 {
			t.Errorf("%s for 64 bits: %X, want the same as %s", four, got, eight)
		}
	}
	for four, two := range map[string]string{"ABCD": "AB", "CDAB": "AB", "BADC": "BA", "DCBA": "BA"} {
		short, _ := ParseOrder(four, 1)
		if got := short.Number(bytesOf(two)); got != 0x0102 {
			t.Errorf("%s for 16 bits: %X, want the same as %s", four, got, two)
		}
	}
}
