package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// cheapest tries every way to cut the addresses into requests, by the bits of a number.
func cheapest(addresses []int, p price) float64 {
	best := math.Inf(1)
	for cuts := range 1 << (len(addresses) - 1) {
		sum, from := 0.0, 0
		for i := range addresses {
			if i < len(addresses)-1 && cuts>>i&1 == 0 {
				continue
			}
			registers := addresses[i] - addresses[from] + 1
			if registers > mostRegisters {
				sum = math.Inf(1)
			}
			sum += p.request + p.register*float64(registers)
			from = i + 1
		}
		best = min(best, sum)
	}
	return best
}

func TestOptimumIsTheCheapestOfAll(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		addresses := []int{random.IntN(50)}
		for range random.IntN(10) {
			addresses = append(addresses, addresses[len(addresses)-1]+1+random.IntN(60))
		}
		p := price{request: 1 + 40*random.Float64(), register: 1}
		got, _ := optimum(addresses, p)
		if want := cheapest(addresses, p); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v at %+v: %v, want %v", addresses, p, got, want)
		}
	}
}

func TestRequestsOfTheUsualLayouts(t *testing.T) {
	for _, c := range []struct {
		addresses []int
		want      int
	}{
		{everyNth(30, 1), 1}, {everyNth(30, 2), 1}, {everyNth(30, 10), 3}, {everyNth(300, 1), 3}, {everyNth(30, 60), 30},
	} {
		if _, got := optimum(c.addresses, price{21, 1}); got != c.want {
			t.Errorf("%v: %d requests, want %d", c.addresses, got, c.want)
		}
	}
}

// At 9600, 19200 and 115200 baud a gap of up to 12, 14 and 51 registers costs less than a request.
func TestPriceOfAGap(t *testing.T) {
	for baud, most := range map[int]int{9600: 12, 19200: 14, 115200: 51} {
		p := serialPrice(baud)
		_, through := optimum([]int{0, most + 1}, p)
		_, round := optimum([]int{0, most + 2}, p)
		if through != 1 || round != 2 {
			t.Errorf("%d baud: %d requests with a gap of %d, %d with one more; want 1 and 2", baud, through, most, round)
		}
	}
}

func TestScatteredAddressesRise(t *testing.T) {
	all := scattered(rand.New(rand.NewPCG(1, 10)))
	for i := 1; i < len(all); i++ {
		if all[i] <= all[i-1] {
			t.Errorf("%d follows %d", all[i], all[i-1])
		}
	}
}
