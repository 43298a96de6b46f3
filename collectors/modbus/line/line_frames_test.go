package line

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
)

// garbler answers with frames made at random, some right, most not, and remembers what it said.
type garbler struct {
	*rand.Rand
	wrap  linetest.Envelope
	said  []byte // since the last request that a caller made
	count int
}

// garble makes what comes instead of a right answer: bytes in one or two pieces, at once.
func (g *garbler) garble(q linetest.Asked, right []byte) ([]linetest.Piece, bool) {
	g.count++
	b := slices.Clone(right)
	switch g.IntN(8) {
	case 0: // the right answer
	case 1:
		b = g.junk(1 + g.IntN(300))
	case 2:
		for range 1 + g.IntN(4) {
			b[g.IntN(len(b))] ^= 1 << g.IntN(8)
		}
	case 3:
		b = b[:g.IntN(len(b))]
	case 4:
		at := g.IntN(len(b))
		b = slices.Insert(b, at, g.junk(1+g.IntN(12))...)
	case 5:
		b = slices.Concat(g.sealed(q), right)
	case 6:
		b = slices.Concat(right, g.sealed(q))
	case 7:
		b = slices.Concat(g.junk(g.IntN(3)), g.sealed(q), g.junk(g.IntN(3)))
	}
	g.said = append(g.said, b...)
	if g.IntN(4) > 0 || len(b) < 2 {
		return linetest.Soon(b), true
	}
	at := 1 + g.IntN(len(b)-1)
	return []linetest.Piece{{After: linetest.Thinks, Bytes: b[:at]}, {After: linetest.Thinks + time.Duration(g.IntN(1500))*time.Microsecond, Bytes: b[at:]}}, true
}

func (g *garbler) junk(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

// sealed is a frame with a right checksum or header and any content, most of it near the right one.
func (g *garbler) sealed(q linetest.Asked) []byte {
	sometimes := func(n int) bool { return g.IntN(n) == 0 }
	if sometimes(4) {
		q.Unit = byte(g.Uint32())
	}
	if sometimes(4) {
		q.ID -= uint16(g.IntN(3)) // an earlier number, never one that is still to be given
	}
	pdu := append([]byte{q.Function, 0}, g.junk(g.IntN(20))...)
	pdu[1] = byte(len(pdu) - 2)
	switch {
	case sometimes(4):
		pdu = []byte{q.Function | 0x80, byte(g.Uint32())}
	case sometimes(4):
		pdu[0] = byte(g.Uint32())
	case sometimes(4):
		pdu[1] = byte(g.Uint32())
	}
	return g.wrap.Answer(q, pdu)
}

// some request, of any kind.
func (g *garbler) some() Request {
	r := Request{Unit: byte(1 + g.IntN(3)), Table: Table(g.IntN(4)), Quantity: uint16(1 + g.IntN(10))}
	if g.IntN(4) == 0 {
		r.Quantity = uint16(1 + g.IntN(r.Table.MaxQuantity()))
	}
	r.Address = uint16(g.IntN(1<<16 - int(r.Quantity)))
	return r
}

// believes is an error when what a request returned was not said in a whole and right frame since it was sent.
func (g *garbler) believes(r Request, data []byte, err error) error {
	function := asked(r).Function
	pdu := append([]byte{function, byte(len(data))}, data...)
	refusal, refused := errors.AsType[*Exception](err)
	switch {
	case refused:
		pdu = []byte{function | 0x80, refusal.Code}
	case err != nil && (errors.Is(err, ErrFrame) || errors.Is(err, ErrSilent)):
		return nil
	case err != nil:
		return fmt.Errorf("an error of no known kind: %w", err)
	case len(data) != r.dataLength():
		return fmt.Errorf("%d bytes of data", len(data))
	}
	frame := g.wrap.Answer(linetest.Asked{Unit: r.Unit}, pdu)
	said := g.said
	switch g.wrap {
	case linetest.InTCP:
		frame = frame[2:] // whatever its number
	case linetest.InASCII:
		said = bytes.ToUpper(said) // small letters are as good
	}
	if !bytes.Contains(said, frame) {
		return fmt.Errorf("% x was taken (%v), but only % x was said", frame, err, g.said)
	}
	return nil
}

// frames puts so many requests to a garbler and judges every answer.
func frames(t *testing.T, url string, wrap linetest.Envelope, seed uint64, n int) (taken int) {
	t.Helper()
	var wrong []string
	synctest.Test(t, func(t *testing.T) {
		g := &garbler{Rand: rand.New(rand.NewPCG(seed, 9)), wrap: wrap}
		w := &linetest.Witness{Envelope: wrap, Turnaround: linetest.Thinks, Spoil: g.garble}
		lines := linesTo(w)
		line := linetest.Open(t, lines, url)
		for g.count < n && len(wrong) < 5 {
			g.said = g.said[:0]
			r := g.some()
			data, err := line.Read(t.Context(), r, 100*time.Millisecond)
			if err == nil {
				taken++
			}
			if err := g.believes(r, data, err); err != nil {
				wrong = append(wrong, fmt.Sprintf("seed %d, frame %d, %s: %v", seed, g.count, r, err))
			}
		}
		linetest.Close(t, lines)
	})
	for _, w := range wrong {
		t.Errorf("%s: %s", url, w)
	}
	return taken
}

// TestFramesMadeAtRandom has the line read frames of which most are wrong. GAUGER_FRAMES is how many, over all
// lines, GAUGER_SEED with which numbers they begin.
func TestFramesMadeAtRandom(t *testing.T) {
	const part = 50_000
	n, seed := linetest.NumberFrom(t, "GAUGER_FRAMES", 40_000), uint64(linetest.NumberFrom(t, "GAUGER_SEED", 1))
	begun, goroutines := time.Now(), runtime.NumGoroutine()
	done, taken := 0, 0
	for parts := uint64(0); done < n && !t.Failed(); parts++ {
		l := linetest.Wires[int(parts)%len(linetest.Wires)]
		size := min(part, n-done, max(n/len(linetest.Wires), 1))
		taken += frames(t, l.URL, l.Envelope, seed+parts, size)
		if done += size; done%1_000_000 < size && done < n {
			t.Logf("%d frames, %d taken for answers", done, taken)
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("%d frames from seed %d in %.0f s: %d were right answers to the request before them, none was taken that was not; %d kB of heap, %d goroutines (%d before)",
		done, seed, time.Since(begun).Seconds(), taken, memory.HeapAlloc/1000, runtime.NumGoroutine(), goroutines)
	if more := runtime.NumGoroutine() - goroutines; more > 2 || memory.HeapAlloc > 64<<20 {
		t.Errorf("%d goroutines more than before, %d bytes of heap", more, memory.HeapAlloc)
	}
}
