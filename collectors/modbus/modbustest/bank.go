// Package modbustest is a small real Modbus slave: several units with their registers, over Modbus TCP, RTU over
// TCP, or RTU on anything that reads and writes, and with the faults that real lines have. It serves the tests,
// the demonstration and the benchmarks.
//
// bank.go holds registers, slave.go the units of a line, frame.go what goes over the wire and wrong there. It is
// served over TCP (authority.go signs its certificates), on pty_linux.go, or in memory on pipe.go.
package modbustest

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// Table is one of the four address spaces of a unit.
type Table uint8

// The four tables, in the order of the functions 3, 4, 1 and 2 that read them.
const (
	Holding Table = iota
	Input
	Coil
	Discrete
)

// Order says how the bytes of a value stand in its registers: A is the most significant one.
type Order string

// The four usual orders. For one register CDAB is ABCD, and BADC is DCBA; for four registers the pattern goes on.
const (
	ABCD Order = "ABCD"
	CDAB Order = "CDAB"
	BADC Order = "BADC"
	DCBA Order = "DCBA"
)

// Bank is the registers of one unit. Its methods may be called while it is being read.
type Bank struct {
	mu     sync.Mutex
	words  [4]map[uint16]uint16
	frozen *[4]map[uint16]uint16
	strict bool
	enron  [2]map[uint16]uint32 // holding and input addresses of 32 bits
}

func newBank() *Bank {
	b := &Bank{enron: [2]map[uint16]uint32{{}, {}}}
	for t := range b.words {
		b.words[t] = map[uint16]uint16{}
	}
	return b
}

// Strict makes addresses that were never set not exist: a request that touches one gets exception 2. Otherwise
// they are 0.
func (b *Bank) Strict(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.strict = on
}

// Freeze makes the unit answer from what it holds now, whatever is set later: a gateway whose radio has lost the
// device. Freeze(false) lets go.
func (b *Bank) Freeze(on bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.frozen = nil
	if !on {
		return
	}
	b.frozen = &[4]map[uint16]uint16{}
	for t, words := range b.words {
		b.frozen[t] = map[uint16]uint16{}
		for a, w := range words {
			b.frozen[t][a] = w
		}
	}
}

// Set writes registers from an address on; for coils and discrete inputs 0 is off and all else on.
func (b *Bank) Set(t Table, address uint16, words ...uint16) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range words {
		b.words[t][address+uint16(i)] = w
	}
}

// Get is one register as it was last set.
func (b *Bank) Get(t Table, address uint16) uint16 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.words[t][address]
}

// SetBit switches a coil or discrete input.
func (b *Bank) SetBit(t Table, address uint16, on bool) {
	var w uint16
	if on {
		w = 1
	}
	b.Set(t, address, w)
}

// SetFloat32 writes two registers.
func (b *Bank) SetFloat32(t Table, address uint16, v float32, o Order) {
	b.Set(t, address, Words(binary.BigEndian.AppendUint32(nil, math.Float32bits(v)), o)...)
}

// SetEnron makes addresses of holding or input registers values of 32 bits each, as Enron's numbering has them: asked
// for 7 of them the unit sends 28 bytes. A request that mixes them with other registers gets exception 2.
func (b *Bank) SetEnron(t Table, address uint16, values ...uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, v := range values {
		b.enron[t][address+uint16(i)] = v
	}
}

// readEnron is the values of 32 bits at the addresses, and how many there are.
func (b *Bank) readEnron(t Table, address, quantity int) (data []byte, found int) {
	if t >= Coil {
		return nil, 0
	}
	for i := range quantity {
		if v, known := b.enron[t][uint16(address+i)]; known {
			data = binary.BigEndian.AppendUint32(data, v)
			found++
		}
	}
	return data, found
}

// SetFloat64 writes four registers.
func (b *Bank) SetFloat64(t Table, address uint16, v float64, o Order) {
	b.Set(t, address, Words(binary.BigEndian.AppendUint64(nil, math.Float64bits(v)), o)...)
}

// SetUint writes a whole number of 16, 32 or 64 bits; a negative one as two's complement.
func (b *Bank) SetUint(t Table, address uint16, v uint64, bits int, o Order) {
	all := binary.BigEndian.AppendUint64(nil, v)
	b.Set(t, address, Words(all[8-bits/8:], o)...)
}

// Words lays big-endian bytes out in registers in the given order. It panics on an odd number of bytes and on an
// order that it does not know.
func Words(bytes []byte, o Order) []uint16 {
	n := len(bytes) / 2
	words := make([]uint16, n)
	for i := range n {
		w := binary.BigEndian.Uint16(bytes[2*i:])
		switch o {
		case ABCD:
			words[i] = w
		case CDAB:
			words[n-1-i] = w
		case BADC:
			words[i] = w<<8 | w>>8
		case DCBA:
			words[n-1-i] = w<<8 | w>>8
		default:
			panic(fmt.Sprintf("modbustest: unknown order %q", o))
		}
	}
	return words
}

// read answers a request from the bank: the data of the answer, or an exception code.
func (b *Bank) read(t Table, address, quantity int) (data []byte, exception byte) {
	most := 125
	if t >= Coil {
		most = 2000
	}
	if quantity < 1 || quantity > most {
		return nil, 3
	}
	if address+quantity > 1<<16 {
		return nil, 2
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch data, found := b.readEnron(t, address, quantity); {
	case found > 0 && found < quantity:
		return nil, 2
	case found > 62:
		return nil, 3
	case found > 0:
		return data, 0
	}
	words := b.words[t]
	if b.frozen != nil {
		words = b.frozen[t]
	}
	if t >= Coil {
		data = make([]byte, (quantity+7)/8)
	}
	for i := range quantity {
		w, known := words[uint16(address+i)]
		if !known && b.strict {
			return nil, 2
		}
		switch {
		case t < Coil:
			data = binary.BigEndian.AppendUint16(data, w)
		case w != 0:
			data[i/8] |= 1 << (i % 8)
		}
	}
	return data, 0
}
