package modbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/collectors"
)

// Question is one register that a person wants to understand.
type Question struct {
	Unit    int
	Table   Table // Holding or Input
	Address int   // zero-based; one less and one more are tried as well
	// Low and High are what the value is expected to lie between, both ends included; equal for one number. Both
	// zero: nothing is expected.
	Low, High float64
	Timeout   time.Duration // 0: DefaultTimeout
}

// Candidate is one way to read the register.
type Candidate struct {
	Offset  int // -1, 0 or +1 from the address in question
	Address int // zero-based
	Type    string
	Order   string // empty where it makes no difference
	Value   float64
	Text    string  // every digit of a 64-bit integer that Value cannot hold
	Fits    bool    // Value lies where it was expected
	Why     string  // why it is no value; empty when it is one
	YAML    string  // the line for the configuration
	Rank    float64 // the smaller the likelier
}

// probeReach is how many registers from the asked one a value may take.
const probeReach = 4

// Probe reads a register and its neighbours once and returns every type, order and offset, likeliest first.
// The error is that of the line when not one register could be read.
func Probe(ctx context.Context, line *Line, q Question) ([]Candidate, error) {
	if q.Table.bits() {
		return nil, fmt.Errorf("a %s is one bit; only holding and input registers have types and orders", q.Table)
	}
	if q.Address < 0 || q.Address > 65535 || q.Unit < 0 || q.Unit > 255 {
		return nil, fmt.Errorf("unit %d, address %d: units go to 255, addresses from 0 to 65535", q.Unit, q.Address)
	}
	registers, err := neighbours(ctx, line, q)
	if err != nil {
		return nil, err
	}
	var all []Candidate
	for _, offset := range []int{0, -1, 1} {
		all = append(all, candidates(q, offset, registers)...)
	}
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Rank, b.Rank) })
	return all, nil
}

// neighbours reads the registers around the asked one, one by one where the unit refuses them together.
func neighbours(ctx context.Context, line *Line, q Question) (map[int][]byte, error) {
	from, to := max(q.Address-1, 0), min(q.Address+1+probeReach, 1<<16)
	timeout := cmp.Or(q.Timeout, DefaultTimeout)
	read := func(from, count int) ([]byte, error) {
		return line.Read(ctx, Request{byte(q.Unit), q.Table, uint16(from), uint16(count)}, timeout)
	}
	registers := map[int][]byte{}
	data, err := read(from, to-from)
	if err == nil {
		for i := range to - from {
			registers[from+i] = data[2*i : 2*i+2]
		}
		return registers, nil
	}
	if !refusesAddress(err) {
		return nil, err
	}
	var errs []error
	for a := from; a < to; a++ {
		data, err := read(a, 1)
		if err == nil {
			registers[a] = data
		}
		errs = append(errs, err)
	}
	if len(registers) == 0 {
		return nil, errors.Join(errs...)
	}
	return registers, nil
}

// candidates are all readings that begin at one address.
func candidates(q Question, offset int, registers map[int][]byte) []Candidate {
	var all []Candidate
	for k := kindInt16; k < kindString; k++ {
		for _, o := range ordersOf(k) {
			data, ok := together(registers, q.Address+offset, k.registers())
			if !ok {
				continue
			}
			all = append(all, candidate(q, offset, k, o, data))
		}
	}
	return all
}

func ordersOf(k kind) []string {
	if k.registers() == 1 {
		return []string{"", "BADC"}
	}
	return []string{"ABCD", "CDAB", "BADC", "DCBA"}
}

func together(registers map[int][]byte, from, count int) ([]byte, bool) {
	var data []byte
	for a := from; a < from+count; a++ {
		r, ok := registers[a]
		if !ok {
			return nil, false
		}
		data = append(data, r...)
	}
	return data, true
}

func candidate(q Question, offset int, k kind, name string, data []byte) Candidate {
	p := point{kind: k, order: orderNames[name], bit: -1, plain: true}
	r := p.decode(data, time.Time{})
	c := Candidate{Offset: offset, Address: q.Address + offset, Type: k.String(), Order: name, Value: r.Value, Text: r.Text}
	if r.Quality != collectors.Good {
		c.Why = r.Err.Error()
	}
	c.Fits = c.Why == "" && expects(q) && r.Value >= q.Low && r.Value <= q.High
	c.YAML = c.line(q)
	c.Rank = c.rank(q, k)
	return c
}

func expects(q Question) bool { return q.Low != 0 || q.High != 0 }

func (c Candidate) line(q Question) string {
	parts := []string{"name: NAME", fmt.Sprintf("%s: %d", q.Table, c.Address), "type: " + c.Type}
	if c.Order != "" {
		parts = append(parts, "order: "+c.Order)
	}
	return "- {" + strings.Join(parts, ", ") + "}"
}

// rank orders by distance from what is expected, then by how ordinary the number is, then by how ordinary the
// type, the order and the offset are. Numbers far from everyday size are mostly another type's bits.
func (c Candidate) rank(q Question, k kind) float64 {
	if c.Why != "" {
		return 1000
	}
	rank := 0.0
	size := math.Abs(c.Value)
	if size != 0 && (size < 1e-3 || size > 1e7) {
		rank += 20
	}
	if size == 0 {
		rank += 4
	}
	if expects(q) && !c.Fits {
		distance := min(math.Abs(c.Value-q.Low), math.Abs(c.Value-q.High))
		rank += 30 + min(60, 10*math.Log10(1+distance))
	}
	usual := map[kind]float64{kindFloat32: 0, kindInt16: 1, kindUint16: 1, kindInt32: 2, kindUint32: 2, kindFloat64: 3}
	if u, ok := usual[k]; ok {
		rank += u
	} else {
		rank += 5
	}
	if k != kindFloat32 && k != kindFloat64 && k.registers() > 1 && size > 65535 {
		rank += 5
	}
	if c.Order == "BADC" || c.Order == "DCBA" {
		rank += 2
	}
	return rank + 6*math.Abs(float64(c.Offset))
}
