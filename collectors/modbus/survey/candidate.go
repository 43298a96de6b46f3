package survey

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gauger/collectors/registers"
)

// Candidate is one way to read the register.
type Candidate struct {
	Offset  int // -1, 0 or +1 from the address in question
	Address int // zero-based
	Words   []uint16
	Type    string
	Order   string  // empty where it makes no difference
	Scale   float64 // what the raw number is multiplied with
	Value   float64
	Measure Measure  // the unit of Value where the question has several
	Text    string   // every digit of a 64-bit integer that Value cannot hold
	Fits    bool     // Value lies where it was expected
	Why     string   // why it is no value; empty when it is one
	Same    []string // other types and orders that read the same number here
	YAML    string   // the line for the configuration
	Doubt   string   // why it may be half of another value; empty: nothing speaks for that
	HalfOf  string   // the float of which it takes a half for a whole value
	rank    float64  // the smaller the likelier
}

// snapshot is the registers that could be read, and in which answer each came; nil: all in one. Words of two answers are of two moments,
// and make no value.
type snapshot struct {
	words   map[int]uint16
	answers map[int]int
}

// divisors are the scales that transmitters use for whole numbers: tenths, hundredths and so on; sixteenths and
// eighths of an inch. A raw number divided by one of them is the value.
var divisors = []float64{1, 10, 100, 1000, 10_000, 16, 8}

// candidates are all readings that begin at one address.
func (p snapshot) candidates(q Question, offset int) []*Candidate {
	var all []*Candidate
	for k := registers.Int16; k < registers.String; k++ {
		words, ok := p.registersFrom(q.Address+offset, k.Registers())
		if !ok {
			continue
		}
		for _, o := range ordersFor(k) {
			for _, divisor := range divisors {
				if divisor != 1 && isFloat(k) {
					break
				}
				c := p.candidate(q, offset, interpretation{k, o, divisor, words})
				all = append(all, &c)
			}
		}
	}
	return all
}

func ordersFor(k registers.Kind) []string {
	switch k.Registers() {
	case 1:
		return []string{"", "BADC"}
	case 2:
		return []string{"ABCD", "CDAB", "BADC", "DCBA"}
	}
	return []string{"ABCD", "CDAB", "BADC", "DCBA", "EFGHABCD", "CDABGHEF", "FEHGBADC", "DCBAHGFE"}
}

func isFloat(k registers.Kind) bool { return k == registers.Float32 || k == registers.Float64 }

func (p snapshot) registersFrom(from, count int) ([]uint16, bool) {
	var words []uint16
	for a := from; a < from+count; a++ {
		w, ok := p.words[a]
		if !ok || p.answers[a] != p.answers[from] {
			return nil, false
		}
		words = append(words, w)
	}
	return words, true
}

// interpretation is one way to make a number of some registers.
type interpretation struct {
	kind    registers.Kind
	order   string
	divisor float64
	words   []uint16
}

func (r interpretation) rawBits() uint64 {
	data := make([]byte, 0, 8)
	for _, w := range r.words {
		data = append(data, byte(w>>8), byte(w))
	}
	o, _ := registers.ParseOrder(r.order, len(r.words)) // one of ours
	return o.Number(data)
}

func (p snapshot) candidate(q Question, offset int, r interpretation) Candidate {
	c := Candidate{Offset: offset, Address: q.Address + offset, Words: r.words, Type: r.kind.String(), Order: r.order, Scale: 1 / r.divisor, Measure: Measure{Size: 1}}
	raw, err := r.kind.Number(r.rawBits())
	c.Value = raw / r.divisor
	if r.divisor == 1 {
		c.Text = r.kind.Digits(r.rawBits())
	}
	if err != nil {
		c.Why, c.rank, c.YAML = err.Error(), 1000, c.yamlLine(q)
		return c
	}
	c.rank = -p.logLikelihood(q, c, r)
	for i, m := range q.Measures {
		other := c
		other.Measure = m
		other.rank = -p.logLikelihood(q, other, r)
		if i == 0 || other.rank < c.rank {
			c = other
		}
	}
	slack := q.Within + sameLength*max(math.Abs(q.Low), math.Abs(q.High))
	c.Fits = q.expects() && c.Expected() >= q.Low-slack && c.Expected() <= q.High+slack
	if q.expects() && !c.Fits && !c.Plain() {
		c.rank += behind / 2 // two odd things at once: built so, and off all the same
	}
	c.YAML = c.yamlLine(q)
	return c
}

// Plain says that a reading is as most devices have them: its bytes not swapped, and in decimals.
func (c Candidate) Plain() bool {
	return c.Order != "BADC" && c.Order != "DCBA" && len(c.Words) <= 2 && scalePriors[math.Round(1/c.Scale)] > -2
}

// sameLength is how far one length is from itself, of it, in a float32 of another unit: at the edge it fits in every unit or in none.
const sameLength = 1e-6

// Expected is the value in the unit of what was expected.
func (c Candidate) Expected() float64 { return c.Value * c.Measure.Size }

func (q Question) expects() bool { return q.Low != 0 || q.High != 0 || q.Within != 0 }

// yamlLine is the point for the configuration.
func (c Candidate) yamlLine(q Question) string {
	name := cmp.Or(q.Name, "NAME")
	text := "- {name: " + name + ", " + q.Table.String() + ": " + strconv.Itoa(c.Address) + ", type: " + c.Type
	if c.Order != "" {
		text += ", order: " + c.Order
	}
	if c.Scale != 1 {
		text += ", scale: " + strconv.FormatFloat(c.Scale, 'f', -1, 64)
	}
	if unit := cmp.Or(q.Measure, c.Measure.Name); unit != "" {
		text += ", unit: " + yamlText(unit)
	}
	return text + "}"
}

func yamlText(text string) string {
	if strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) }) {
		return strconv.Quote(text)
	}
	return text
}

// listEquivalents tells each candidate of the other types and orders that read the same number with the same scale at the
// same address, and puts the narrowest of them where the first stands, unless a level would outgrow it. Nothing is said of zero, which
// nearly everything reads from empty registers.
func (q Question) listEquivalents(all []*Candidate) {
	type number struct {
		address      int
		value, scale float64
		measure      Measure
	}
	twins := map[number][]int{}
	for i, c := range all {
		if c.Why == "" && c.Value != 0 {
			n := number{c.Address, c.Value, c.Scale, c.Measure}
			twins[n] = append(twins[n], i)
		}
	}
	for _, places := range twins {
		var group []*Candidate
		for _, i := range places {
			group = append(group, all[i])
		}
		slices.SortStableFunc(group, func(a, b *Candidate) int { return cmp.Compare(q.width(a), q.width(b)) })
		for k, i := range places {
			all[i] = group[k]
			for _, other := range group {
				if other != all[i] {
					all[i].Same = append(all[i].Same, strings.TrimSpace(other.Type+" "+other.Order))
				}
			}
		}
	}
}

// tall (inches) is what a tank may be, and what the type of a level has to reach.
const tall = 240

// width is how many registers a reading takes. What is a half of another, or too narrow for a tank's level, comes after all others.
func (q Question) width(c *Candidate) int {
	room, top := math.Inf(1), float64(tall)
	if c.Measure.Name == "percent" {
		top = 100 * c.Measure.Size
	}
	switch c.Type {
	case registers.Int16.String():
		room = math.MaxInt16
	case registers.Uint16.String():
		room = math.MaxUint16
	case registers.BCD16.String():
		room = 9999
	}
	if c.HalfOf != "" || len(q.Measures) > 0 && room*c.Scale*c.Measure.Size < top {
		return behind
	}
	return len(c.Words)
}

// logLikelihood of a reading, given what is seen, in natural logarithms of probabilities: the bits that it
// accounts for, were they chance; the chance of this very number where it is right, which is how likely a value
// near it is times how finely the type can tell values apart; and how usual such a device is. So a float that has
// the expected value to seven digits weighs more than a scaled byte that comes near it, and a float of 1e-8 within
// the range 0 to 240 weighs nothing.
func (p snapshot) logLikelihood(q Question, c Candidate, r interpretation) float64 {
	sum := q.logDensity(c.Expected()) + math.Log(r.step()*c.Measure.Size) + r.prior() + measurePriors[c.Measure.Name]
	if r.divisor != 1 && !q.expects() {
		sum -= 2 // nothing speaks for a scale
	}
	if c.Offset != 0 {
		sum -= q.wrongAddressPenalty()
	}
	for _, w := range c.Words {
		sum += chanceOfWord(w)
	}
	if len(q.Measures) > 0 && (r.kind == registers.Int16 || r.kind == registers.Int32 || r.kind == registers.Int64) {
		sum -= 0.6 // a level is never negative, and one in tenths of a millimetre is beyond 32767
	}
	if c.Value < 0 {
		sum-- // hardly anything in a tank is below zero
	}
	return sum + p.neighbourEvidence(c, r)
}

// wrongAddressPenalty for a person who asks for a register beside the right one. A mere range is little to
// tell the neighbours by, so that the asked one then weighs more.
func (q Question) wrongAddressPenalty() float64 {
	if q.High > q.Low {
		return 10
	}
	return 7
}

// chanceOfWord is the surprise at a register of this content. Empty ones are everywhere, and so are states, counters and
// other small numbers.
func chanceOfWord(w uint16) float64 {
	switch w {
	case 0:
		return 0.7
	case 0xFFFF:
		return 3
	}
	return min(2.5+math.Log(float64(w)), 16*math.Ln2)
}

// logDensity is the logarithm of how likely a value near v is, per unit.
func (q Question) logDensity(v float64) float64 {
	if !q.expects() {
		size := max(math.Abs(v), 1e-2) // any size between a hundredth and a hundred thousand is equally likely
		far := max(0, math.Log10(size/1e5)) + max(0, math.Log10(1e-2/max(math.Abs(v), 1e-40)))
		return -math.Log(16*size) - 3*far
	}
	width := q.High - q.Low
	blur := max(q.Within/3, 0.01*width, 1e-3*math.Abs(q.High), 1e-6)
	away := max(0, q.Low-v, v-q.High) / blur
	return -math.Log(width+2*blur) - 4*math.Log1p(away*min(away, 1e100))
}

// step is the step between two neighbouring values. A float whose last binary digits are zero was made from
// a round number, which is as good as a coarser step, though not quite.
func (r interpretation) step() float64 {
	if !isFloat(r.kind) {
		return 1 / r.divisor
	}
	mantissa := 52
	if r.kind == registers.Float32 {
		mantissa = 23
	}
	bits := r.rawBits()
	v, _ := r.kind.Number(bits) // what is no number does not come here
	if v == 0 {
		return 1e-2
	}
	_, exponent := math.Frexp(v)
	step := math.Ldexp(1, exponent-1-mantissa)
	round := step
	for round < 1 && bits&1 == 0 {
		round, bits = 2*round, bits>>1
	}
	return max(step, min(round, 1)/8)
}

// prior of devices that are built so, as a logarithm. Of signed and unsigned the signed one comes first, unless a gauge is expected.
func (r interpretation) prior() float64 {
	order, four := orderPriors[r.order]
	if !four {
		order = -4
	}
	return typePriors[r.kind] + order + scalePriors[r.divisor]
}

// measurePriors of tank gauges, as logarithms; inches are the usual.
var measurePriors = map[string]float64{"ft": -1, "percent": -1.5, "mm": -2, "cm": -2, "m": -2}

var (
	typePriors = map[registers.Kind]float64{
		registers.Float32: 0, registers.Int16: -0.3, registers.Uint16: -0.6, registers.Int32: -1, registers.Uint32: -1.3, registers.Float64: -1.5,
		registers.BCD16: -2.5, registers.BCD32: -3, registers.Int64: -5, registers.Uint64: -5.3,
	}
	orderPriors = map[string]float64{"": 0, "ABCD": 0, "CDAB": -0.3, "BADC": -2, "DCBA": -2}
	scalePriors = map[float64]float64{1: 0, 10: -0.5, 100: -0.5, 1000: -1, 10_000: -3, 16: -3, 8: -3.5}
)

// neighbourEvidence of the registers beside a value of two registers: that it fills exactly what the
// unit has there, and that its neighbour has its empty half in the same place.
func (p snapshot) neighbourEvidence(c Candidate, r interpretation) float64 {
	n := len(c.Words)
	if n != 2 {
		return 0
	}
	sum := 0.0
	_, before := p.words[c.Address-1]
	_, after := p.words[c.Address+n]
	if !before && !after {
		sum += 1.5
	}
	empty := slices.Index(c.Words, 0)
	if isFloat(r.kind) || empty < 0 {
		return sum
	}
	for _, at := range []int{c.Address - n, c.Address + n} {
		if pair, ok := p.registersFrom(at, n); ok && pair[empty] == 0 && pair[1-empty] != 0 {
			sum += 1.5
		}
	}
	return sum
}
