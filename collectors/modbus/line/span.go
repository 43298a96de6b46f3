package line

import "fmt"

// Span is a run of addresses of one table: Count of them, From the first.
type Span struct {
	Table Table
	From  int
	Count int
}

// End is the address behind the last one.
func (s Span) End() int { return s.From + s.Count }

// dataLength is the length of its data in an answer.
func (s Span) dataLength() int { return s.Table.DataLength(s.Count) }

// Covers says whether part lies within s.
func (s Span) Covers(part Span) bool {
	return s.Table == part.Table && s.From <= part.From && part.End() <= s.End()
}

// Overlaps says whether the two share an address.
func (s Span) Overlaps(other Span) bool {
	return s.Table == other.Table && s.From < other.End() && other.From < s.End()
}

// Cut takes the bytes of part out of the data of a request for s; of a bit, a byte with that bit lowest.
func (s Span) Cut(data []byte, part Span) []byte {
	at := part.From - s.From
	if part.Table.IsBits() {
		return []byte{data[at/8] >> (at % 8) & 1}
	}
	return data[part.Table.DataLength(at):part.Table.DataLength(at+part.Count)]
}

// String is the run as a person writes it: "holding 100-103".
func (s Span) String() string {
	if s.Count == 1 {
		return fmt.Sprintf("%s %d", s.Table, s.From)
	}
	return fmt.Sprintf("%s %d-%d", s.Table, s.From, s.End()-1)
}
