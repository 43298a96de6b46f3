package line

import (
	"slices"
	"testing"

	"gauger/collectors/modbus/linetest"
)

func TestLinesAreShared(t *testing.T) {
	lines := &Lines{}
	one, other := linetest.Open(t, lines, "tcp://H:502"), linetest.Open(t, lines, "tcp://h")
	if one != other {
		t.Error("one place has two lines")
	}
	if _, err := lines.Open("rtu+tcp://h:502"); err == nil {
		t.Error("another protocol on the same place was taken")
	}
	linetest.Open(t, lines, "rtu:///dev/ttyS9")
	var urls []string
	lines.Each(func(l *Line) { urls = append(urls, l.URL()) })
	if want := []string{"rtu:///dev/ttyS9?baud=19200&parity=E&stop=1", "tcp://h:502"}; !slices.Equal(urls, want) {
		t.Errorf("%q, want %q", urls, want)
	}
	for _, raw := range []string{"tcp://a", "rtu+tcp://b:9?baud=300", "rtu:///dev/x?parity=O&stop=2"} {
		first, err := ParseEndpoint(raw)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseEndpoint(first.String()); err != nil || again != first {
			t.Errorf("%s is written %s, which is read as %+v (%v)", raw, first, again, err)
		}
	}
}
