package tankbook

const day = 86400.0

// stockAt is a stock at a time: the tank's, and less what the meter counted where there is one.
type stockAt struct{ t, net, stock, meter, level float64 }

// movement is a change of the stock between two rests.
type movement struct {
	from, to float64 // s; unix seconds once it is in a day's book
	bbl      float64
}

// overlaps says that two stretches of time have an instant in common.
func (m movement) overlaps(o movement) bool { return m.from <= o.to && m.to >= o.from }
