package modbus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// spoiling is one way in which the answer to one request goes wrong.
type spoiling struct {
	name string
	do   func(w *witness, q asked, right []byte) []piece
	// twin: the unit says something that nothing but its time tells from the right answer, which only transaction
	// ids see through. Without them such a value can be caught by asking twice, and in no other way.
	twin bool
	// alone: a lie about the request, which another fault beside it can turn into a right answer to another one.
	alone bool
}

// thinks is how long the witness takes to answer; the fault's own times count from there.
const thinks = 20 * time.Millisecond

// frameOf is the length of an answer with two registers.
var frameOf = map[wrapping]int{inTCP: 13, inRTU: 9, inASCII: 19}

// spoilings is every way, at every byte and at every lateness where that makes a difference.
func spoilings(wrap wrapping) []spoiling {
	lies, all := liars(wrap), slices.Concat(lateOnes(), tornOnes(wrap), damaged(wrap), noises(wrap))
	for i := range lies {
		lies[i].alone = wrap != inTCP
	}
	all = append(all, lies...)
	if wrap == inTCP {
		for _, by := range []uint16{1, 2, 0xFFFF, 0xFFFE, 256, 0x8000} {
			all = append(all, spoiling{name: fmt.Sprintf("transaction %d more", by), alone: true, do: func(w *witness, q asked, _ []byte) []piece {
				pdu := w.pdu(q)
				q.id += by
				return soon(w.wrap.answer(q, pdu))
			}})
		}
	}
	return all
}

func soon(b []byte) []piece { return []piece{{after: thinks, bytes: b}} }

// idle is how many milliseconds after any request of a poll nobody asks for anything. What comes then comes of
// itself, and could come into the middle of another answer if there were other faults.
const idle = 1000

// lateOnes come late by less than a time-out, by it, by more, by several polls; and twice.
func lateOnes() (all []spoiling) {
	all = append(all, spoiling{name: "silence", do: func(*witness, asked, []byte) []piece { return nil }})
	for _, ms := range []time.Duration{100, 250, 270, 290, 310, 500, 900, 970, 990, 1010, 1040, 1500, 1990, 2010, 2500, 3500, 5100, 9000, 14_000, 31_000} {
		all = append(all, spoiling{name: fmt.Sprintf("late by %d ms", ms), do: func(_ *witness, _ asked, right []byte) []piece {
			return []piece{{after: thinks + ms*time.Millisecond, bytes: right}}
		}})
	}
	for _, ms := range []time.Duration{0, 1, 4, 60, 400, idle, 1700, 6200} {
		all = append(all, spoiling{name: fmt.Sprintf("doubled after %d ms", ms), twin: ms > 1 && ms != idle, alone: ms == idle, do: func(_ *witness, _ asked, right []byte) []piece {
			return []piece{{after: thinks, bytes: right}, {after: thinks + ms*time.Millisecond, bytes: right, echo: ms == idle}}
		}})
	}
	return all
}

// tornOnes come in two parts, end early, or come byte by byte.
func tornOnes(wrap wrapping) (all []spoiling) {
	for k := range frameOf[wrap] {
		all = append(all, spoiling{name: fmt.Sprintf("reset at %d", k), do: func(_ *witness, _ asked, right []byte) []piece {
			return []piece{{after: thinks, bytes: right[:min(k, len(right))], hangUp: true}}
		}})
		if k == 0 {
			continue
		}
		all = append(all, spoiling{name: fmt.Sprintf("ends at %d", k), do: func(_ *witness, _ asked, right []byte) []piece {
			return soon(right[:min(k, len(right))])
		}})
		for _, ms := range []time.Duration{1, 3, 40, 270, 320, 975, 985, 1030, 2200} {
			all = append(all, spoiling{name: fmt.Sprintf("split at %d, the rest after %d ms", k, ms), do: func(_ *witness, _ asked, right []byte) []piece {
				at := min(k, len(right))
				return []piece{{after: thinks, bytes: right[:at]}, {after: thinks + ms*time.Millisecond, bytes: right[at:]}}
			}})
		}
	}
	for _, ms := range []time.Duration{1, 5, 30, 75, 100, 110, 130, 400} {
		all = append(all, spoiling{name: fmt.Sprintf("a byte every %d ms", ms), do: func(_ *witness, _ asked, right []byte) (all []piece) {
			for i := range right {
				all = append(all, piece{after: thinks + time.Duration(i)*ms*time.Millisecond, bytes: right[i : i+1]})
			}
			return all
		}})
	}
	return all
}

// liars are whole frames that are no answer to the request: of another unit, function or length, or a refusal.
func liars(wrap wrapping) (all []spoiling) {
	frame := func(name string, change func(q *asked, pdu []byte) []byte) {
		all = append(all, spoiling{name: name, do: func(w *witness, q asked, _ []byte) []piece {
			pdu := change(&q, w.pdu(q))
			return soon(w.wrap.answer(q, pdu))
		}})
	}
	for _, by := range []byte{1, 2, 5, 0x80, 0xFF} {
		frame(fmt.Sprintf("unit %d more", by), func(q *asked, pdu []byte) []byte { q.unit += by; return pdu })
	}
	for _, f := range []byte{0, 1, 2, 3, 4, 5, 16, 43, 0x7F, 0x80, 0x84, 0x90} {
		frame(fmt.Sprintf("function %d", f), func(q *asked, pdu []byte) []byte {
			if pdu[0] == f {
				f++
			}
			return append([]byte{f}, pdu[1:]...)
		})
	}
	for _, by := range []int{-4, -3, -2, -1, 1, 2, 4, 100} {
		resized := func(pdu []byte) []byte { return append(slices.Clone(pdu), make([]byte, 100)...)[:max(2, len(pdu)+by)] }
		frame(fmt.Sprintf("%d bytes more, and the count says so", by), func(_ *asked, pdu []byte) []byte {
			pdu = resized(pdu)
			pdu[1] = byte(len(pdu) - 2)
			return pdu
		})
		frame(fmt.Sprintf("%d bytes more, and the count does not say so", by), func(_ *asked, pdu []byte) []byte { return resized(pdu) })
	}
	for _, code := range []byte{0, 1, 2, 3, 4, 5, 6, 8, 10, 11, 99, 255} {
		frame(fmt.Sprintf("exception %d", code), func(_ *asked, pdu []byte) []byte { return []byte{pdu[0] | 0x80, code} })
	}
	frame("no data at all", func(_ *asked, pdu []byte) []byte { return pdu[:1] })
	frame("an exception with data", func(_ *asked, pdu []byte) []byte { return append([]byte{pdu[0] | 0x80}, pdu[1:]...) })
	return all
}

// damaged are answers of which one byte was changed on the way.
func damaged(wrap wrapping) (all []spoiling) {
	protected := frameOf[wrap]
	if wrap == inTCP {
		protected = 9 // what follows is TCP's to protect
	}
	for k := range protected {
		for _, bits := range []byte{0x01, 0x80, 0xFF} {
			all = append(all, spoiling{name: fmt.Sprintf("byte %d changed by %02x", k, bits), do: func(_ *witness, _ asked, right []byte) []piece {
				b := slices.Clone(right)
				b[min(k, len(b)-1)] ^= bits
				return soon(b)
			}})
		}
	}
	return all
}

// noises are bytes that belong to no answer, around one or instead of it.
func noises(wrap wrapping) (all []spoiling) {
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 77))
		junk := make([]byte, []int{1, 2, 3, 4, 5, 6, 8, 17, 60, 256, 700, 5000}[seed])
		for i := range junk {
			junk[i] = byte(random.Uint32())
		}
		all = append(all, around(fmt.Sprintf("%d bytes of noise", len(junk)), func(*witness, asked) []byte { return junk })...)
	}
	all = append(all, around("zeros", func(*witness, asked) []byte { return make([]byte, 9) })...)
	all = append(all, around("the request's echo", func(w *witness, q asked) []byte {
		return w.wrap.answer(q, []byte{q.function, byte(q.address >> 8), byte(q.address), byte(q.count >> 8), byte(q.count)})
	})...)
	all = append(all, around("the head of an answer", func(w *witness, q asked) []byte { return w.wrap.answer(q, w.pdu(q))[:frameOf[wrap]/2] })...)
	strange := around("another unit's frame", func(w *witness, q asked) []byte {
		q.unit = q.unit%3 + 1
		q.id += 77
		return w.wrap.answer(q, w.pdu(q))
	})
	for i := range strange {
		strange[i].alone = wrap != inTCP
	}
	strange[3].twin = true // it comes when that unit is asked
	elsewhere := around("another place's frame", func(w *witness, q asked) []byte {
		q.address += 4
		q.id -= 3
		return w.wrap.answer(q, w.pdu(q))
	})
	for i := range elsewhere {
		elsewhere[i].alone, elsewhere[i].twin = wrap != inTCP, i == 1 || i == 3
	}
	if wrap != inTCP {
		elsewhere = elsewhere[:4] // instead of the right answer it is a lie that nothing can see through
	}
	return slices.Concat(all, strange, elsewhere)
}

// around is the noise before the answer, after it, close or with a pause, and in its place.
func around(name string, noise func(w *witness, q asked) []byte) []spoiling {
	return []spoiling{
		{name: name + " before", do: func(w *witness, q asked, right []byte) []piece { return soon(slices.Concat(noise(w, q), right)) }},
		{name: name + " long before", do: func(w *witness, q asked, right []byte) []piece {
			return []piece{{after: time.Millisecond, bytes: noise(w, q)}, {after: thinks, bytes: right}}
		}},
		{name: name + " after", do: func(w *witness, q asked, right []byte) []piece { return soon(slices.Concat(right, noise(w, q))) }},
		{name: name + " soon after", do: func(w *witness, q asked, right []byte) []piece {
			return []piece{{after: thinks, bytes: right}, {after: thinks + 6*time.Millisecond, bytes: noise(w, q)}}
		}},
		{name: name + " instead", do: func(w *witness, q asked, _ []byte) []piece { return soon(noise(w, q)) }},
	}
}
