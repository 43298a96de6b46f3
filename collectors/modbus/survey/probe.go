// Package survey asks a Modbus line what nobody has written down: which unit ids answer, and what a register
// means, given what a person reads off the gauge.
//
// # Decisions
//
// Probe ranks by evidence, as sums of logarithms: the bits that a reading accounts for, the chance of its number where it
// is right, and how usual the device is. No rule says "float first"; but where a float is seen, its halves stand behind it (halves.go), and of readings
// that say the same the narrowest is the first: a wider one takes in a register that is another thing, such as a status that is 0 today.
package survey

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"time"

	"gauger/collectors/modbus/line"
)

// Question is one register that a person wants to understand.
type Question struct {
	Unit    int
	Table   line.Table // Holding or Input
	Address int        // zero-based; one less and one more are tried as well
	// Low and High are what the value is expected to lie between, both ends included; equal for one number. Both
	// zero, and Within too: nothing is expected.
	Low, High float64
	// Within of Low and High a value still fits: a gauge that is read by hand is not exact.
	Within  float64
	Name    string // of the point in the configuration's line; empty: NAME
	Measure string // its engineering unit there; empty: that of Measures which suits it, or none
	// Measures are the units in which the register may count, where what is expected has one of its own; none: it counts in that.
	Measures []Measure
	Timeout  time.Duration // 0: DefaultTimeout
}

// Measure is a unit that a register may count in.
type Measure struct {
	Name string  `json:"name"`
	Size float64 `json:"size"` // of one of it, in the unit of what is expected: a foot is 12 where inches are
}

// Register is one register as it was read. Err says why there is no Word.
type Register struct {
	Address int
	Word    uint16
	Err     error
	answer  int // in which it came, of several
}

// Probed are the registers as they are, and what they may mean, likeliest first.
type Probed struct {
	Registers  []Register
	Candidates []Candidate
}

// How far around the asked register is read: a value that begins one register later may take four, and what stands
// two registers before tells whether values come in pairs.
const (
	registersBefore = 2
	registersAfter  = 5
)

// Probe reads a register and its neighbours once and returns every type, order, scale and offset, likeliest first.
// A neighbour that is refused is left out. The error is that of the line when not one register could be read.
func Probe(ctx context.Context, on *line.Line, q Question) (Probed, error) {
	if q.Table.IsBits() {
		return Probed{}, fmt.Errorf("a %s is one bit; only holding and input registers have types and orders", q.Table)
	}
	if q.Address < 0 || q.Address > 65535 || q.Unit < 0 || q.Unit > 255 {
		return Probed{}, fmt.Errorf("unit %d, address %d: units go to 255, addresses from 0 to 65535", q.Unit, q.Address)
	}
	registers, err := neighbours(ctx, on, q)
	if err != nil {
		return Probed{}, err
	}
	seen := snapshot{map[int]uint16{}, map[int]int{}}
	for _, r := range registers {
		if r.Err == nil {
			seen.words[r.Address], seen.answers[r.Address] = r.Word, r.answer
		}
	}
	var all []*Candidate
	for _, offset := range []int{0, -1, 1} {
		all = append(all, seen.candidates(q, offset)...)
	}
	seen.halvesLast(q, all)
	sort.SliceStable(all, func(i, j int) bool { return all[i].rank < all[j].rank })
	q.listEquivalents(all)
	found := Probed{Registers: registers}
	for _, c := range all {
		found.Candidates = append(found.Candidates, *c)
	}
	return found, nil
}

// neighbours reads the registers around the asked one. Where the unit does not give them together it is asked for each by itself, which
// tells those that there are, and then for those that make a value in one request: words of two moments would make a level that never was.
func neighbours(ctx context.Context, on *line.Line, q Question) ([]Register, error) {
	from, to := max(q.Address-registersBefore, 0), min(q.Address+registersAfter+1, 1<<16)
	read := func(from, count int) ([]byte, error) {
		return on.Read(ctx, line.Request{Unit: byte(q.Unit), Table: q.Table, Address: uint16(from), Quantity: uint16(count)}, cmp.Or(q.Timeout, line.DefaultTimeout))
	}
	registers := make([]Register, to-from)
	data, err := read(from, to-from)
	if err != nil && (ctx.Err() != nil || errors.Is(err, line.ErrDown)) {
		return nil, err
	}
	if err == nil {
		for i := range registers {
			registers[i] = Register{Address: from + i, Word: binary.BigEndian.Uint16(data[2*i:])}
		}
		return registers, nil
	}
	if registers, err = oneByOne(registers, from, q.Address, func(address int) ([]byte, error) { return read(address, 1) }); err != nil {
		return nil, err
	}
	together(registers, q.Address-from, read)
	return registers, nil
}

// together reads the registers that are there in rows, each row in one answer: as many in a row as there are, else four or two, those
// from the asked one on first. What the unit gives only one by one is no value of several.
func together(registers []Register, asked int, read func(from, count int) ([]byte, error)) {
	for i := range registers {
		registers[i].answer = i + 1
	}
	answers := len(registers)
	row := func(at, count int) {
		if at < 0 || at+count > len(registers) {
			return
		}
		for i := at; i < at+count; i++ {
			if registers[i].Err != nil || registers[i].answer > len(registers) {
				return // it is not there, or came with others already
			}
		}
		data, err := read(registers[at].Address, count)
		if err != nil {
			return
		}
		answers++
		for i := range count {
			registers[at+i].Word, registers[at+i].answer = binary.BigEndian.Uint16(data[2*i:]), answers
		}
	}
	for from := 0; from < len(registers); {
		to := from
		for to < len(registers) && registers[to].Err == nil {
			to++
		}
		if to-from > 1 {
			row(from, to-from)
		}
		from = to + 1
	}
	for _, count := range []int{4, 2} {
		for _, off := range []int{0, -1, 1, -2, 2, 3, 4} {
			row(asked+off, count)
		}
	}
}

// oneByOne asks for the asked register first: when the unit says nothing to that, it is not there. When it says
// nothing to a neighbour, no further one is tried.
func oneByOne(registers []Register, from, asked int, read func(int) ([]byte, error)) ([]Register, error) {
	order := []int{asked}
	for i := range registers {
		if from+i != asked {
			order = append(order, from+i)
		}
	}
	var mute error
	found := 0
	for _, address := range order {
		r := Register{Address: address, Err: mute}
		if mute == nil {
			data, err := read(address)
			r.Err = err
			if err == nil {
				r.Word = binary.BigEndian.Uint16(data)
				found++
			}
		}
		if _, refused := errors.AsType[*line.Exception](r.Err); r.Err != nil && (!refused || errors.Is(r.Err, line.ErrSilent)) && !errors.Is(r.Err, line.ErrForbidden) {
			mute = r.Err
		}
		registers[address-from] = r
	}
	if found == 0 {
		return nil, registers[asked-from].Err
	}
	return registers, nil
}
