package modbus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func everyPoint(*point) bool { return true }

// registers are uint16 points at the given addresses.
func registers(addresses ...int) []point {
	var points []point
	for _, a := range addresses {
		points = append(points, point{span: span{Holding, a, 1}, kind: kindUint16})
	}
	return points
}

func steps(n, step int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i * step
	}
	return all
}

func costFor(t *testing.T, url string) cost {
	t.Helper()
	at, err := parseEndpoint(url)
	if err != nil {
		t.Fatal(err)
	}
	return at.cost()
}

func TestRequestsPerPoll(t *testing.T) {
	tests := []struct {
		name   string
		url    string
		points []point
		want   int
	}{
		{"30 in a row", "tcp://s", registers(steps(30, 1)...), 1},
		{"every second one", "tcp://s", registers(steps(30, 2)...), 1},
		{"every tenth one", "tcp://s", registers(steps(30, 10)...), 3},
		{"300 in a row", "tcp://s", registers(steps(300, 1)...), 3},
		{"a gap of 14 at 19200", "rtu:///dev/x?parity=E", registers(0, 15), 1},
		{"a gap of 15 at 19200", "rtu:///dev/x?parity=E", registers(0, 16), 2},
		{"a gap of 12 at 9600", "rtu:///dev/x?baud=9600&parity=E", registers(0, 13), 1},
		{"a gap of 13 at 9600", "rtu:///dev/x?baud=9600&parity=E", registers(0, 14), 2},
		{"a gap of 40 at 115200", "rtu:///dev/x?baud=115200", registers(0, 41), 1},
		{"two tables", "tcp://s", append(registers(0), point{span: span{Input, 1, 1}}), 2},
		{"bits of one word", "tcp://s", []point{{span: span{Holding, 5, 1}, bit: 0}, {span: span{Holding, 5, 1}, bit: 1}}, 1},
		{"2000 coils", "tcp://s", coils(2000), 1},
		{"2001 coils", "tcp://s", coils(2001), 2},
	}
	for _, tt := range tests {
		got := plan(tt.points, everyPoint, nil, costFor(t, tt.url))
		if len(got) != tt.want {
			t.Errorf("%s: %d requests, want %d: %+v", tt.name, len(got), tt.want, got)
		}
	}
}

func coils(n int) []point {
	var points []point
	for a := range n {
		points = append(points, point{span: span{Coil, a, 1}})
	}
	return points
}

func TestAValueIsNeverCutInTwo(t *testing.T) {
	var points []point
	for a := range 40 {
		points = append(points, point{span: span{Holding, 4 * a, 4}})
	}
	blocks := plan(points, everyPoint, nil, costFor(t, "tcp://s"))
	checkPlan(t, points, nil, blocks)
	if len(blocks) != 2 {
		t.Errorf("160 registers in %d requests, want 2", len(blocks))
	}
}

// checkPlan says what holds for every plan: each point in exactly one request that covers it, no request too
// long, none with more than one place across a hole.
func checkPlan(t *testing.T, points []point, holes []hole, blocks []block) {
	t.Helper()
	seen := make([]int, len(points))
	for _, b := range blocks {
		if b.count > b.table.most() {
			t.Errorf("%+v is too long", b)
		}
		for _, i := range b.points {
			seen[i]++
			if !covers(b.span, points[i].span) {
				t.Errorf("point %d at %+v is not in %+v", i, points[i].span, b)
			}
		}
		if b.spans > 1 && !allowed(b.span, holes) {
			t.Errorf("%+v runs across one of %+v", b, holes)
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("point %d is in %d requests", i, n)
		}
	}
}

// cheapestOfAll tries every way to cut the places into runs; for a few places only.
func cheapestOfAll(places []place, holes []hole, c cost) float64 {
	if len(places) == 0 {
		return 0
	}
	best := math.Inf(1)
	for n := 1; n <= len(places); n++ {
		b := blockOf(places[:n])
		if n == 1 || allowed(b.span, holes) {
			best = min(best, c.of(b.span)+cheapestOfAll(places[n:], holes, c))
		}
	}
	return best
}

func TestThePlanIsTheCheapestOne(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		var points []point
		for range 1 + random.IntN(11) {
			points = append(points, point{span: span{Holding, random.IntN(200), 1 + random.IntN(4)}})
		}
		var holes []hole
		for range random.IntN(3) {
			holes = append(holes, hole{Holding, random.IntN(200), random.IntN(3)})
		}
		c := cost{request: 1 + 30*random.Float64(), register: 1}
		blocks := plan(points, everyPoint, holes, c)
		checkPlan(t, points, holes, blocks)
		sum := 0.0
		for _, b := range blocks {
			sum += c.of(b.span)
		}
		if least := cheapestOfAll(placesOf(points, everyPoint), holes, c); math.Abs(sum-least) > 1e-9 {
			t.Errorf("seed %d: the plan costs %v, the cheapest %v", seed, sum, least)
		}
	}
}

func TestAPlaceInAHoleIsAskedForAlone(t *testing.T) {
	points := registers(steps(10, 1)...)
	blocks := plan(points, everyPoint, []hole{{Holding, 4, 1}}, costFor(t, "tcp://s"))
	var spans []span
	for _, b := range blocks {
		spans = append(spans, b.span)
	}
	if want := []span{{Holding, 0, 4}, {Holding, 4, 1}, {Holding, 5, 5}}; !slices.Equal(spans, want) {
		t.Errorf("%+v, want %+v", spans, want)
	}
}

func TestHolesAreRemembered(t *testing.T) {
	d := &device{name: "d", line: newLine(endpoint{scheme: "tcp", serial: defaultSerial}, nil), points: registers(1, 2, 3)}
	d.holes = []hole{{Holding, 2, 1}, {Coil, 7, 0}}
	b, err := d.saveHoles()
	if err != nil {
		t.Fatal(err)
	}
	other := &device{name: "d", line: d.line, points: d.points}
	if err := other.loadHoles(b); err != nil || !slices.Equal(other.holes, d.holes) || len(other.blocks) != 3 {
		t.Errorf("%s: %v, %+v, %d requests", b, err, other.holes, len(other.blocks))
	}
	for _, junk := range []string{"x", "[[9,1,1]]", "[[-1,1,1]]", "{}"} {
		fresh := &device{name: "d", line: d.line, points: d.points}
		if _ = fresh.loadHoles([]byte(junk)); len(fresh.holes) != 0 {
			t.Errorf("%s was taken for %+v", junk, fresh.holes)
		}
	}
}

func TestCostOfASerialLine(t *testing.T) {
	// 19200 baud, 11 bits a character: 20 characters and 5 ms for a request, two characters for a register.
	c := costFor(t, "rtu:///dev/x")
	if request := time.Duration(c.request); request < 16400*time.Microsecond || request > 16500*time.Microsecond {
		t.Errorf("a request costs %s, want 16.46 ms", request)
	}
	if register := time.Duration(c.register); register < 1145*time.Microsecond || register > 1147*time.Microsecond {
		t.Errorf("a register costs %s, want 1.146 ms", register)
	}
}

func BenchmarkPlanOf100Points(b *testing.B) {
	points := registers(steps(100, 3)...)
	at, err := parseEndpoint("tcp://s")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(plan(points, everyPoint, nil, at.cost())) != 3 {
			b.Fatal("want three requests")
		}
	}
}

func BenchmarkDecode100Floats(b *testing.B) {
	var d Device
	for a := range 100 {
		d.Points = append(d.Points, holding(fmt.Sprint(a), 2*a, typed("float32", "CDAB")))
	}
	points, err := compile(d)
	if err != nil {
		b.Fatal(err)
	}
	data := make([]byte, 4)
	for b.Loop() {
		for i := range points {
			points[i].decode(data, testTime)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/register")
}
