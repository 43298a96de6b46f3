package commission

import (
	"encoding/binary"
	"fmt"
	"math"

	"gauger/agent/tank"
	"gauger/collectors/registers"
)

// Registers are those of a level as they came, with what is thought to make a number of them.
type Registers struct {
	Words         []uint16
	Kind          registers.Kind
	Order         string
	Scale, Offset float64
}

// farEnough (inches) from the gauge is an order that is not the right one.
const farEnough = 12

// ProveOrder says what a hand gauge tells about the order of words: proved, when in every other one the level would be far from
// the gauge. wrong is the order in which it would be the gauge, where that is another one than the one in use.
func ProveOrder(r Registers, unit string, height, gauge tank.Length) (words, wrong string) {
	level := func(order string) float64 {
		o, err := registers.ParseOrder(order, len(r.Words))
		if err != nil {
			return math.NaN()
		}
		data := make([]byte, 0, 8)
		for _, w := range r.Words {
			data = binary.BigEndian.AppendUint16(data, w)
		}
		raw, err := r.Kind.Number(o.Number(data))
		if err != nil {
			return math.NaN()
		}
		inches, err := tank.LevelInches(raw*r.Scale+r.Offset, unit, height)
		if err != nil {
			return math.NaN()
		}
		return inches
	}
	near := func(order string) bool { return math.Abs(level(order)-float64(gauge)) <= farEnough } // not where it is no number
	orders := []string{"ABCD", "CDAB", "BADC", "DCBA"}
	if len(r.Words) == 1 {
		orders = []string{"AB", "BA"}
	}
	var others []string
	for _, o := range orders {
		if o != r.Order && near(o) {
			others = append(others, o)
		}
	}
	switch {
	case near(r.Order) && len(others) == 0 && len(r.Words) == 1:
		return "one register, " + r.Kind.String() + ": there is no order of words", ""
	case near(r.Order) && len(others) == 0:
		return fmt.Sprintf("order %s proved: in every other one the level would be more than %d in off", r.Order, farEnough), ""
	case !near(r.Order) && len(others) > 0:
		return fmt.Sprintf("in order %s it would be %s", others[0], tank.Length(level(others[0])).Gauge()), others[0]
	}
	why := "this level does not tell it from others"
	if !near(r.Order) {
		why = "in none is it near the gauge"
	}
	return fmt.Sprintf("order %s not proved: %s", r.Order, why), ""
}
