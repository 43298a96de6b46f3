package linetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Spoiling is one way in which the answer to one request goes wrong.
type Spoiling struct {
	Name string
	Do   func(w *Witness, q Asked, right []byte) []Piece
	// twin: the unit says something that nothing but its time tells from the right answer, which only transaction
	// ids see through. Without them such a value can be caught by asking twice, and in no other way.
	Twin bool
	// alone: a lie about the request, which another fault beside it can turn into a right answer to another one.
	Alone bool
}

// Thinks is the witness's turnaround; the fault's own times count from there.
const Thinks = 20 * time.Millisecond

// AnswerLength is the length of an answer with two registers.
var AnswerLength = map[Envelope]int{InTCP: 13, InRTU: 9, InASCII: 19}

// Spoilings is every way, at every byte and at every lateness where that makes a difference.
func Spoilings(wrap Envelope) []Spoiling {
	lies, all := liars(wrap), slices.Concat(LateOnes(), tornOnes(wrap), damaged(wrap), noises(wrap))
	for i := range lies {
		lies[i].Alone = wrap != InTCP
	}
	all = append(all, lies...)
	if wrap == InTCP {
		for _, by := range []uint16{1, 2, 0xFFFF, 0xFFFE, 256, 0x8000} {
			all = append(all, Spoiling{Name: fmt.Sprintf("transaction %d more", by), Alone: true, Do: func(w *Witness, q Asked, _ []byte) []Piece {
				pdu := w.PDU(q)
				q.ID += by
				return Soon(w.Envelope.Answer(q, pdu))
			}})
		}
	}
	return all
}

// Soon is an answer at the usual time.
func Soon(b []byte) []Piece { return []Piece{{After: Thinks, Bytes: b}} }

// idle milliseconds after any request of a poll nobody asks for anything. What comes then comes of
// itself, and could come into the middle of another answer if there were other faults.
const idle = 1000

// LateOnes come late by less than a time-out, by it, by more, by several polls; and twice.
func LateOnes() (all []Spoiling) {
	all = append(all, Spoiling{Name: "silence", Do: func(*Witness, Asked, []byte) []Piece { return nil }})
	for _, ms := range []time.Duration{100, 250, 270, 290, 310, 500, 900, 970, 990, 1010, 1040, 1500, 1990, 2010, 2500, 3500, 5100, 9000, 14_000, 31_000} {
		all = append(all, Spoiling{Name: fmt.Sprintf("late by %d ms", ms), Do: func(_ *Witness, _ Asked, right []byte) []Piece {
			return []Piece{{After: Thinks + ms*time.Millisecond, Bytes: right}}
		}})
	}
	for _, ms := range []time.Duration{0, 1, 4, 60, 400, idle, 1700, 6200} {
		all = append(all, Spoiling{Name: fmt.Sprintf("doubled after %d ms", ms), Twin: ms > 1 && ms != idle, Alone: ms == idle, Do: func(_ *Witness, _ Asked, right []byte) []Piece {
			return []Piece{{After: Thinks, Bytes: right}, {After: Thinks + ms*time.Millisecond, Bytes: right, echo: ms == idle}}
		}})
	}
	return all
}

// tornOnes come in two parts, end early, or come byte by byte.
func tornOnes(wrap Envelope) (all []Spoiling) {
	for k := range AnswerLength[wrap] {
		all = append(all, Spoiling{Name: fmt.Sprintf("reset at %d", k), Do: func(_ *Witness, _ Asked, right []byte) []Piece {
			return []Piece{{After: Thinks, Bytes: right[:min(k, len(right))], HangUp: true}}
		}})
		if k == 0 {
			continue
		}
		all = append(all, Spoiling{Name: fmt.Sprintf("ends at %d", k), Do: func(_ *Witness, _ Asked, right []byte) []Piece {
			return Soon(right[:min(k, len(right))])
		}})
		for _, ms := range []time.Duration{1, 3, 40, 270, 320, 975, 985, 1030, 2200} {
			all = append(all, Spoiling{Name: fmt.Sprintf("split at %d, the rest after %d ms", k, ms), Do: func(_ *Witness, _ Asked, right []byte) []Piece {
				at := min(k, len(right))
				return []Piece{{After: Thinks, Bytes: right[:at]}, {After: Thinks + ms*time.Millisecond, Bytes: right[at:]}}
			}})
		}
	}
	for _, ms := range []time.Duration{1, 5, 30, 75, 100, 110, 130, 400} {
		all = append(all, Spoiling{Name: fmt.Sprintf("a byte every %d ms", ms), Do: func(_ *Witness, _ Asked, right []byte) (all []Piece) {
			for i := range right {
				all = append(all, Piece{After: Thinks + time.Duration(i)*ms*time.Millisecond, Bytes: right[i : i+1]})
			}
			return all
		}})
	}
	return all
}

// liars are whole frames that are no answer to the request: of another unit, function or length, or a refusal.
func liars(wrap Envelope) (all []Spoiling) {
	frame := func(name string, change func(q *Asked, pdu []byte) []byte) {
		all = append(all, Spoiling{Name: name, Do: func(w *Witness, q Asked, _ []byte) []Piece {
			pdu := change(&q, w.PDU(q))
			return Soon(w.Envelope.Answer(q, pdu))
		}})
	}
	for _, by := range []byte{1, 2, 5, 0x80, 0xFF} {
		frame(fmt.Sprintf("unit %d more", by), func(q *Asked, pdu []byte) []byte { q.Unit += by; return pdu })
	}
	for _, f := range []byte{0, 1, 2, 3, 4, 5, 16, 43, 0x7F, 0x80, 0x84, 0x90} {
		frame(fmt.Sprintf("function %d", f), func(q *Asked, pdu []byte) []byte {
			if pdu[0] == f {
				f++
			}
			return append([]byte{f}, pdu[1:]...)
		})
	}
	for _, by := range []int{-4, -3, -2, -1, 1, 2, 4, 100} {
		resized := func(pdu []byte) []byte { return append(slices.Clone(pdu), make([]byte, 100)...)[:max(2, len(pdu)+by)] }
		frame(fmt.Sprintf("%d bytes more, and the count says so", by), func(_ *Asked, pdu []byte) []byte {
			pdu = resized(pdu)
			pdu[1] = byte(len(pdu) - 2)
			return pdu
		})
		frame(fmt.Sprintf("%d bytes more, and the count does not say so", by), func(_ *Asked, pdu []byte) []byte { return resized(pdu) })
	}
	for _, code := range []byte{0, 1, 2, 3, 4, 5, 6, 8, 10, 11, 99, 255} {
		frame(fmt.Sprintf("exception %d", code), func(_ *Asked, pdu []byte) []byte { return []byte{pdu[0] | 0x80, code} })
	}
	frame("no data at all", func(_ *Asked, pdu []byte) []byte { return pdu[:1] })
	frame("an exception with data", func(_ *Asked, pdu []byte) []byte { return append([]byte{pdu[0] | 0x80}, pdu[1:]...) })
	return all
}

// damaged are answers of which one byte was changed on the way.
func damaged(wrap Envelope) (all []Spoiling) {
	protected := AnswerLength[wrap]
	if wrap == InTCP {
		protected = 9 // what follows is TCP's to protect
	}
	for k := range protected {
		for _, bits := range []byte{0x01, 0x80, 0xFF} {
			all = append(all, Spoiling{Name: fmt.Sprintf("byte %d changed by %02x", k, bits), Do: func(_ *Witness, _ Asked, right []byte) []Piece {
				b := slices.Clone(right)
				b[min(k, len(b)-1)] ^= bits
				return Soon(b)
			}})
		}
	}
	return all
}

// noises are bytes that belong to no answer, around one or instead of it.
func noises(wrap Envelope) (all []Spoiling) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 77))
		junk := make([]byte, []int{1, 2, 3, 4, 5, 6, 8, 17, 60, 256, 700, 5000}[seed])
		for i := range junk {
			junk[i] = byte(random.Uint32())
		}
		all = append(all, around(fmt.Sprintf("%d bytes of noise", len(junk)), func(*Witness, Asked) []byte { return junk })...)
	}
	all = append(all, around("zeros", func(*Witness, Asked) []byte { return make([]byte, 9) })...)
	all = append(all, around("the request's echo", func(w *Witness, q Asked) []byte {
		return w.Envelope.Answer(q, []byte{q.Function, byte(q.Address >> 8), byte(q.Address), byte(q.Count >> 8), byte(q.Count)})
	})...)
	all = append(all, around("the head of an answer", func(w *Witness, q Asked) []byte { return w.Envelope.Answer(q, w.PDU(q))[:AnswerLength[wrap]/2] })...)
	strange := around("another unit's frame", func(w *Witness, q Asked) []byte {
		q.Unit = q.Unit%3 + 1
		q.ID += 77
		return w.Envelope.Answer(q, w.PDU(q))
	})
	for i := range strange {
		strange[i].Alone = wrap != InTCP
	}
	strange[3].Twin = true // it comes when that unit is asked
	elsewhere := around("another place's frame", func(w *Witness, q Asked) []byte {
		q.Address += 4
		q.ID -= 3
		return w.Envelope.Answer(q, w.PDU(q))
	})
	for i := range elsewhere {
		elsewhere[i].Alone, elsewhere[i].Twin = wrap != InTCP, i == 1 || i == 3
	}
	if wrap != InTCP {
		elsewhere = elsewhere[:4] // instead of the right answer it is a lie that nothing can see through
	}
	return slices.Concat(all, strange, elsewhere)
}

// around is the noise before the answer, after it, close or with a pause, and in its place.
func around(name string, noise func(w *Witness, q Asked) []byte) []Spoiling {
	return []Spoiling{
		{Name: name + " before", Do: func(w *Witness, q Asked, right []byte) []Piece { return Soon(slices.Concat(noise(w, q), right)) }},
		{Name: name + " long before", Do: func(w *Witness, q Asked, right []byte) []Piece {
			return []Piece{{After: time.Millisecond, Bytes: noise(w, q)}, {After: Thinks, Bytes: right}}
		}},
		{Name: name + " after", Do: func(w *Witness, q Asked, right []byte) []Piece { return Soon(slices.Concat(right, noise(w, q))) }},
		{Name: name + " soon after", Do: func(w *Witness, q Asked, right []byte) []Piece {
			return []Piece{{After: Thinks, Bytes: right}, {After: Thinks + 6*time.Millisecond, Bytes: noise(w, q)}}
		}},
		{Name: name + " instead", Do: func(w *Witness, q Asked, _ []byte) []Piece { return Soon(noise(w, q)) }},
	}
}

// Wire is a line, and the envelope of its frames.
type Wire struct {
	URL      string
	Envelope Envelope
}

// Wires are one of each kind. The options only set how long characters and silences are.
var Wires = []Wire{
	{"tcp://site:502", InTCP},
	{"rtu:///dev/port?baud=9600", InRTU},
	{"rtu:///dev/port?baud=115200", InRTU},
	{"rtu+tcp://site:4001", InRTU},
	{"ascii:///dev/port?baud=9600", InASCII},
	{"ascii+tcp://site:4001", InASCII},
	{"tls://site:802", InTCP},
}

// Sequence spoils some requests in a row.
type Sequence struct {
	Spoilings []Spoiling // in turn
	First     int        // the first request to be spoilt, from 1
	Times     int
}

// String names the spoilings, and the requests that they are for.
func (s Sequence) String() string {
	names := ""
	for _, one := range s.Spoilings {
		names += one.Name + ", "
	}
	return fmt.Sprintf("%s%d times from request %d", names, s.Times, s.First)
}

// Of is the sequence for the Spoil of a witness.
func (s Sequence) Of(w *Witness) func(q Asked, right []byte) ([]Piece, bool) {
	return func(q Asked, right []byte) ([]Piece, bool) {
		n := q.Number - s.First
		if n < 0 || n >= s.Times {
			return nil, false
		}
		return s.Spoilings[n%len(s.Spoilings)].Do(w, q, right), true
	}
}
