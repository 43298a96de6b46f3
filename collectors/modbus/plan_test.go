package modbus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
)

func everyPoint(*point) bool { return true }

// pointAt is a point of which only the place matters.
func pointAt(s line.Span) point {
	return point{table: s.Table, from: uint16(s.From), count: uint16(s.Count), conversion: &conversion{}}
}

// wordsAt are uint16 points at the given addresses.
func wordsAt(addresses ...int) []point {
	var points []point
	for _, a := range addresses {
		points = append(points, pointAt(line.Span{Table: line.Holding, From: a, Count: 1}))
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

func termsFor(t *testing.T, url string, holes ...hole) planLimits {
	t.Helper()
	at, err := line.ParseEndpoint(url)
	if err != nil {
		t.Fatal(err)
	}
	return planLimits{cost: at.Cost(0), holes: holes}
}

func TestRequestsPerPoll(t *testing.T) {
	tests := []struct {
		name   string
		url    string
		points []point
		want   int
	}{
		{"30 in a row", "tcp://s", wordsAt(steps(30, 1)...), 1},
		{"every second one", "tcp://s", wordsAt(steps(30, 2)...), 1},
		{"every tenth one", "tcp://s", wordsAt(steps(30, 10)...), 3},
		{"300 in a row", "tcp://s", wordsAt(steps(300, 1)...), 3},
		{"a gap of 14 at 19200", "rtu:///dev/x?parity=E", wordsAt(0, 15), 1},
		{"a gap of 15 at 19200", "rtu:///dev/x?parity=E", wordsAt(0, 16), 2},
		{"a gap of 12 at 9600", "rtu:///dev/x?baud=9600&parity=E", wordsAt(0, 13), 1},
		{"a gap of 13 at 9600", "rtu:///dev/x?baud=9600&parity=E", wordsAt(0, 14), 2},
		{"a gap of 51 at 115200", "rtu:///dev/x?baud=115200", wordsAt(0, 52), 1},
		{"a gap of 52 at 115200", "rtu:///dev/x?baud=115200", wordsAt(0, 53), 2},
		{"a gap of 20 on a socket", "tcp://s", wordsAt(0, 21), 1},
		{"a gap of 22 on a socket", "tcp://s", wordsAt(0, 23), 2},
		{"two tables", "tcp://s", append(wordsAt(0), pointAt(line.Span{Table: line.Input, From: 1, Count: 1})), 2},
		{"bits of one word", "tcp://s", []point{pointAt(line.Span{Table: line.Holding, From: 5, Count: 1}), pointAt(line.Span{Table: line.Holding, From: 5, Count: 1})}, 1},
		{"2000 coils", "tcp://s", coils(2000), 1},
		{"2001 coils", "tcp://s", coils(2001), 2},
	}
	for _, tt := range tests {
		got := plan(tt.points, everyPoint, termsFor(t, tt.url))
		if len(got) != tt.want {
			t.Errorf("%s: %d requests, want %d: %+v", tt.name, len(got), tt.want, got)
		}
	}
}

func coils(n int) []point {
	var points []point
	for a := range n {
		points = append(points, pointAt(line.Span{Table: line.Coil, From: a, Count: 1}))
	}
	return points
}

func TestAValueIsNeverCutInTwo(t *testing.T) {
	var points []point
	for a := range 40 {
		points = append(points, pointAt(line.Span{Table: line.Holding, From: 4 * a, Count: 4}))
	}
	blocks := plan(points, everyPoint, termsFor(t, "tcp://s"))
	checkPlan(t, points, planLimits{}, blocks)
	if len(blocks) != 2 {
		t.Errorf("160 registers in %d requests, want 2", len(blocks))
	}
}

// checkPlan says what holds for every plan: each point in exactly one request that covers it, no request too
// long, none with more than one place across a hole.
func checkPlan(t *testing.T, points []point, terms planLimits, blocks []block) {
	t.Helper()
	seen := make([]int, len(points))
	for _, b := range blocks {
		if b.Count > terms.maxQuantity(b.Table) {
			t.Errorf("%+v is too long", b)
		}
		for _, i := range b.points {
			seen[i]++
			if !b.Span.Covers(points[i].span()) {
				t.Errorf("point %d at %+v is not in %+v", i, points[i].span(), b)
			}
		}
		if b.spans > 1 && !terms.allows(b.Span) {
			t.Errorf("%+v runs across one of %+v", b, terms.holes)
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("point %d is in %d requests", i, n)
		}
	}
}

// cheapestOfAll tries every way to cut the places into runs; for a few places only.
func cheapestOfAll(places []place, t planLimits) time.Duration {
	if len(places) == 0 {
		return 0
	}
	best := time.Duration(math.MaxInt64)
	for n := 1; n <= len(places); n++ {
		b := blockOf(places[:n])
		if n == 1 || t.allows(b.Span) {
			best = min(best, t.cost.Price(b.Span)+cheapestOfAll(places[n:], t))
		}
	}
	return best
}

func TestThePlanIsTheCheapestOne(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 2))
		var points []point
		for range 1 + random.IntN(11) {
			points = append(points, pointAt(line.Span{Table: line.Holding, From: random.IntN(200), Count: 1 + random.IntN(4)}))
		}
		terms := planLimits{maxRegisters: []int{0, 8, 40}[random.IntN(3)]}
		for range random.IntN(3) {
			terms.holes = append(terms.holes, hole{Table: line.Holding, From: random.IntN(200), Count: random.IntN(3)})
		}
		terms.cost = line.Cost{Turnaround: time.Duration(1000 + random.IntN(30_000)), CharTime: 500, CharsPerByte: 1}
		blocks := plan(points, everyPoint, terms)
		checkPlan(t, points, terms, blocks)
		var sum time.Duration
		for _, b := range blocks {
			sum += terms.cost.Price(b.Span)
		}
		if least := cheapestOfAll(placesOf(points, everyPoint), terms); sum != least {
			t.Errorf("seed %d: the plan costs %v, the cheapest %v", seed, sum, least)
		}
	}
}

func TestAPlaceInAHoleIsAskedForAlone(t *testing.T) {
	points := wordsAt(steps(10, 1)...)
	blocks := plan(points, everyPoint, termsFor(t, "tcp://s", hole{Table: line.Holding, From: 4, Count: 1}))
	var spans []line.Span
	for _, b := range blocks {
		spans = append(spans, b.Span)
	}
	if want := []line.Span{{Table: line.Holding, From: 0, Count: 4}, {Table: line.Holding, From: 4, Count: 1}, {Table: line.Holding, From: 5, Count: 5}}; !slices.Equal(spans, want) {
		t.Errorf("%+v, want %+v", spans, want)
	}
}

func TestHolesAreRemembered(t *testing.T) {
	d := &device{name: "d", line: linetest.Open(t, &line.Lines{}, "tcp://h"), points: wordsAt(1, 2, 3)}
	d.holes = []hole{{Table: line.Holding, From: 2, Count: 1}, {Table: line.Coil, From: 7, Count: 0}}
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

func BenchmarkPlanOf100Points(b *testing.B) {
	points := wordsAt(steps(100, 3)...)
	at, err := line.ParseEndpoint("tcp://s")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(plan(points, everyPoint, planLimits{cost: at.Cost(0)})) != 3 {
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
