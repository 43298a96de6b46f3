package line

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"gauger/collectors/modbus/linetest"
)

// clumsy answers each request on a real stream with a witness's answers, most of them spoilt.
func clumsy(w *linetest.Witness, random *rand.Rand, known []linetest.Spoiling, stream io.ReadWriter) error {
	request := make([]byte, 256)
	for {
		n, err := stream.Read(request)
		if err != nil {
			return err
		}
		q, err := w.Envelope.Request(request[:n])
		if err != nil {
			continue // a request in pieces
		}
		w.Requests++
		q.Number = w.Requests
		pieces := []linetest.Piece{{Bytes: w.Envelope.Answer(q, w.PDU(q))}}
		if random.IntN(3) > 0 {
			pieces = known[random.IntN(len(known))].Do(w, q, pieces[0].Bytes)
		}
		for _, p := range pieces {
			if _, err := stream.Write(p.Bytes); err != nil {
				return err
			}
			if p.HangUp {
				return io.EOF
			}
		}
	}
}

// descriptors counts the files, sockets and ports that this process has open.
func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skipf("no list of open files here: %v", err)
	}
	return len(all)
}

// clumsyListener serves every connection in turn, and says when the last has ended.
func clumsyListener(t *testing.T, w *linetest.Witness, random *rand.Rand, known []linetest.Spoiling) (place string, end func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			err = clumsy(w, random, known, conn)
			if conn.Close() != nil || err == nil {
				t.Errorf("a connection ended with %v", err)
			}
		}
	})
	return listener.Addr().String(), func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		served.Wait()
	}
}

// TestRealStreamsAreAllClosed meets faults on real sockets, and counts what is left of them.
func TestRealStreamsAreAllClosed(t *testing.T) {
	for _, l := range linetest.Wires {
		if l.Envelope != linetest.InTCP && l.URL != "rtu+tcp://site:4001" {
			continue
		}
		t.Run(string(l.Envelope), func(t *testing.T) {
			var known []linetest.Spoiling
			for _, s := range linetest.Spoilings(l.Envelope) {
				if pieces := s.Do(&linetest.Witness{Envelope: l.Envelope}, linetest.Asked{Unit: 1, Function: 3, Count: 2}, make([]byte, linetest.AnswerLength[l.Envelope])); !s.Twin && !s.Alone && within(pieces, 30*time.Millisecond) {
					known = append(known, s)
				}
			}
			goroutines, files := runtime.NumGoroutine(), descriptors(t)
			w := &linetest.Witness{Envelope: l.Envelope}
			place, end := clumsyListener(t, w, rand.New(rand.NewPCG(1, 5)), known)
			lines := &Lines{}
			scheme := map[linetest.Envelope]string{linetest.InTCP: "tcp", linetest.InRTU: "rtu+tcp"}[l.Envelope]
			line := linetest.Open(t, lines, scheme+"://"+place)
			good, most := 0, 0
			for i := range 80 {
				r := roundOf[i%len(roundOf)]
				if _, err := line.Read(t.Context(), r, 15*time.Millisecond); err == nil {
					good++
				}
				most = max(most, descriptors(t)-files)
			}
			linetest.Close(t, lines)
			end()
			if good == 0 || most > 5 {
				t.Errorf("%d good answers of 80; up to %d files more than before were open", good, most)
			}
			linetest.Eventually(t, "what is left", func() error {
				if g, f := runtime.NumGoroutine()-goroutines, descriptors(t)-files; g > 0 || f > 0 {
					return fmt.Errorf("%d goroutines and %d files are left", g, f)
				}
				return nil
			})
			t.Logf("%d good answers of 80, %d connections, up to %d open files", good, line.Stats().Opened, most)
		})
	}
}

func within(pieces []linetest.Piece, most time.Duration) bool {
	for _, p := range pieces {
		if p.After > most {
			return false
		}
	}
	return true
}
