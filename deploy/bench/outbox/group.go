package main

import "sync"

// group commits for many producers at once: whoever comes first writes for all that came while the write before ran.
// The stores that have no such thing of their own get it in front, so that the stores themselves are compared.
type group struct {
	write func(bodies [][]byte) error

	turn sync.Mutex // one write at a time
	mu   sync.Mutex
	next *round
}

type round struct {
	bodies [][]byte
	done   chan struct{}
	err    error
}

func (g *group) put(bodies [][]byte) error {
	g.mu.Lock()
	r, leads := g.next, false
	if r == nil {
		r, leads = &round{done: make(chan struct{})}, true
		g.next = r
	}
	r.bodies = append(r.bodies, bodies...)
	g.mu.Unlock()
	if !leads {
		<-r.done
		return r.err
	}
	g.turn.Lock()
	g.mu.Lock()
	g.next = nil
	g.mu.Unlock()
	r.err = g.write(r.bodies)
	g.turn.Unlock()
	close(r.done)
	return r.err
}
