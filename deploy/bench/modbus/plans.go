package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"time"

	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
)

// price of a request and of a register on a line, in milliseconds or in registers.
type price struct{ request, register float64 }

// endpointPrices are the lines of row 10. Over a socket a request counts as much as 21 registers, so that gaps of
// up to 20 are read through.
var endpointPrices = []struct {
	url   string
	price price
}{
	{"tcp://site:502", price{21, 1}},
	{"rtu:///dev/site?baud=9600", serialPrice(9600)},
	{"rtu:///dev/site?baud=19200", serialPrice(19200)},
	{"rtu:///dev/site?baud=115200", serialPrice(115200)},
}

func serialPrice(baud int) price {
	w := wire{Baud: baud, Turnaround: busTurnaround}
	return price{request: milliseconds(w.read(0)), register: milliseconds(w.chars(2))}
}

// mostRegisters in one request (Modbus Application Protocol V1.1b3, 6.3).
const mostRegisters = 125

// optimum is the least cost of reading the sorted addresses, and how many requests that takes: every place where a
// request may end is tried.
func optimum(addresses []int, p price) (cost float64, requests int) {
	best, count := make([]float64, len(addresses)+1), make([]int, len(addresses)+1)
	for n := 1; n <= len(addresses); n++ {
		best[n] = math.Inf(1)
		for from := n; from >= 1; from-- {
			registers := addresses[n-1] - addresses[from-1] + 1
			if registers > mostRegisters {
				break
			}
			if sum := best[from-1] + p.request + p.register*float64(registers); sum < best[n] {
				best[n], count[n] = sum, count[from-1]+1
			}
		}
	}
	return best[len(addresses)], count[len(addresses)]
}

// everyNth is n addresses so far apart.
func everyNth(n, step int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i * step
	}
	return all
}

// measurePlans is row 10: what one poll puts on the wire, against the cheapest way there is.
func measurePlans() ([]finding, error) {
	layouts := []struct {
		what      string
		addresses []int
	}{
		{"30 contiguous registers", everyNth(30, 1)}, {"every 2nd register, 30 of them", everyNth(30, 2)},
		{"every 10th register, 30 of them", everyNth(30, 10)}, {"300 contiguous registers", everyNth(300, 1)},
	}
	var all []finding
	for _, l := range layouts {
		f := finding{row: 10, what: l.what + ": requests a poll over tcp, rtu 9600, 19200, 115200", goal: "the optimum", judged: true, met: true}
		for _, e := range endpointPrices {
			_, least := optimum(l.addresses, e.price)
			got, err := pollOnce(e.url, l.addresses)
			if err != nil {
				return nil, err
			}
			f.theory, f.measured, f.met = f.theory+fmt.Sprintf(" %d", least), f.measured+fmt.Sprintf(" %d", got.Requests.Count), f.met && got.Requests.Count == least
		}
		all = append(all, f)
	}
	random, err := randomPlans()
	return append(all, random...), err
}

// randomPlans compares the cost of scattered layouts; where two plans cost the same, either may be taken.
func randomPlans() ([]finding, error) {
	var all []finding
	for _, e := range endpointPrices {
		least, took := 0.0, 0.0
		for seed := range uint64(25) {
			addresses := scattered(rand.New(rand.NewPCG(seed, 10)))
			cost, _ := optimum(addresses, e.price)
			got, err := pollOnce(e.url, addresses)
			if err != nil {
				return nil, err
			}
			least += cost
			took += e.price.request*float64(got.Requests.Count) + e.price.register*float64(got.Registers)
		}
		all = append(all, finding{
			row: 10, what: "25 scattered layouts, " + e.url + ": cost of a poll", theory: fmt.Sprintf("%.1f", least/25), measured: fmt.Sprintf("%.1f", took/25),
			ratio: least / took, goal: "the optimum", judged: true, met: took <= least*1.000001,
		})
	}
	return all, nil
}

// scattered is 50 different addresses, most of them near their neighbours.
func scattered(random *rand.Rand) []int {
	var all []int
	for at := random.IntN(100); len(all) < 50; at += 1 + int(random.ExpFloat64()*12) {
		all = append(all, at)
	}
	return all
}

// pollOnce reads the addresses once over a line in memory and returns what the line saw. The URL's baud rate is
// what the plan reckons with; the line itself is fast.
func pollOnce(url string, addresses []int) (_ lineReport, err error) {
	spec := stationSpec{}
	if url != endpointPrices[0].url {
		spec.Serial = &wire{Baud: 4_000_000}
	}
	s := newStation(spec)
	lines := &line.Lines{Dial: func(context.Context, string) (line.Stream, error) {
		near, far := net.Pipe()
		go s.serve(far)
		return near, nil
	}}
	d := modbus.Device{Name: "d", URL: url, Timeout: 5 * time.Second}
	for i, a := range slices.Clone(addresses) {
		d.Points = append(d.Points, modbus.Point{Name: "p" + strconv.Itoa(i), Holding: &a})
	}
	batch, err := modbus.Read(context.Background(), lines, []modbus.Device{d})
	for i, r := range batch {
		if r.Err == nil && r.Value != float64(addresses[i]) {
			r.Err = fmt.Errorf("%s is %v, want its address %d", r.Point, r.Value, addresses[i])
		}
		err = errors.Join(err, r.Err)
	}
	return s.report(time.Now()), errors.Join(err, lines.Close())
}
