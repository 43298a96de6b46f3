package survey

import (
	"cmp"
	"fmt"
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
	rank    float64  // the smaller the likelier
}

// snapshot is the registers that could be read.
type snapshot map[int]uint16

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
		w, ok := p[a]
		if !ok {
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
	c.Doubt = p.halfOfAnother(q, c)
	c.Fits = q.expects() && c.Expected() >= q.Low-q.Within && c.Expected() <= q.High+q.Within
	c.YAML = c.yamlLine(q)
	return c
}

// usualWord is what the less significant word of a measured float is hardly ever below: it is as good as chance.
const usualWord = 4096

// halfOfAnother doubts a float whose less significant word is none that is usual, where the register at its other side is: the
// float may be there, in the other order, and this is its beginning with another value's end. It is then wrong by less than a
// person sees, and no gauge can tell.
func (p snapshot) halfOfAnother(q Question, c Candidate) string {
	if c.Type != registers.Float32.String() {
		return ""
	}
	other := map[string]string{"ABCD": "CDAB", "CDAB": "ABCD", "BADC": "DCBA", "DCBA": "BADC"}[c.Order]
	at, low, beside := c.Address-1, c.Words[1], c.Address-1
	if c.Order == "CDAB" || c.Order == "DCBA" {
		at, low, beside = c.Address+1, c.Words[0], c.Address+2
	}
	words, ok := p.registersFrom(at, 2)
	if low >= usualWord || !ok || p[beside] < usualWord || c.Value == 0 {
		return ""
	}
	raw, err := registers.Float32.Number(interpretation{registers.Float32, other, 1, words}.rawBits())
	if err != nil || raw == c.Value {
		return ""
	}
	return fmt.Sprintf("%s %d in order %s is %.7g, of words as a float has them: that is likelier, unless the device's own list says %d", q.Table, at, other, raw, c.Address)
}

// Expected is the value in the unit of what was expected.
func (c Candidate) Expected() float64 { return c.Value * c.Measure.Size }

func (q Question) expects() bool { return q.Low != 0 || q.High != 0 || q.Within != 0 }

// yamlLine is the point for the configuration.
func (c Candidate) yamlLine(q Question) string {
	name := q.Name
	if name == "" {
		name = "NAME"
	}
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

// yamlText writes a text so that YAML reads it as one.
func yamlText(text string) string {
	if strings.ContainsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) }) {
		return strconv.Quote(text)
	}
	return text
}

// listEquivalents tells each candidate of the other types and orders that read the same number with the same scale at the
// same address. Nothing is said of zero, which nearly everything reads from empty registers.
func listEquivalents(all []*Candidate) {
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
	for _, group := range twins {
		for _, i := range group {
			for _, other := range group {
				if other != i {
					all[i].Same = append(all[i].Same, strings.TrimSpace(all[other].Type+" "+all[other].Order))
				}
			}
		}
	}
}
