package modbus

import (
	"errors"
	"fmt"

	"gauger/collectors/modbus/line"
)

// locate finds the one key of a point that says where it is, and what it says.
func (p Point) locate() (key string, table line.Table, address int, err error) {
	given := []struct {
		key   string
		value *int
		table line.Table
	}{
		{"holding", p.Holding, line.Holding}, {"input", p.Input, line.Input}, {"coil", p.Coil, line.Coil}, {"discrete", p.Discrete, line.Discrete},
		{"modicon", p.Modicon, 0},
	}
	for _, g := range given {
		if g.value == nil {
			continue
		}
		if key != "" {
			return g.key, 0, 0, fmt.Errorf("both %s and %s say where the point is; keep one", key, g.key)
		}
		key, table, address = g.key, g.table, *g.value
	}
	switch {
	case key == "":
		return "name", 0, 0, errors.New("nothing says where the point is; one of holding, input, coil, discrete, modicon")
	case key == "modicon":
		table, address, err = modicon(address)
	case address < 0 || address > 65535:
		err = fmt.Errorf("%s %d: addresses go from 0 to 65535; for 4xxxx numbers use modicon", key, address)
	}
	return key, table, address, err
}

// modicon splits a one-based number with its kind in front: five digits reach 9999, six digits 65536.
func modicon(n int) (line.Table, int, error) {
	tables := map[int]line.Table{0: line.Coil, 1: line.Discrete, 3: line.Input, 4: line.Holding}
	for _, reach := range []int{10_000, 100_000} {
		table, known := tables[n/reach]
		first := n % reach
		if known && first >= 1 && first <= 65536 && (reach == 10_000 || n >= reach) {
			return table, first - 1, nil
		}
	}
	return 0, 0, fmt.Errorf("%d is no modicon number: those of holding registers are 40001 to 49999 (or 400001 to 465536), of input registers 30001 and up, of discrete inputs 10001 and up, of coils 1 to 9999", n)
}
