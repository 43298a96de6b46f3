package line

import (
	"context"
	"errors"
	"sync"

	goburrow "github.com/goburrow/modbus"
)

// clientReads has goburrow's client code a request for each table and decode the answer.
var clientReads = [...]func(client goburrow.Client, address, quantity uint16) ([]byte, error){
	Holding: goburrow.Client.ReadHoldingRegisters, EnronHolding: goburrow.Client.ReadHoldingRegisters,
	Input: goburrow.Client.ReadInputRegisters, EnronInput: goburrow.Client.ReadInputRegisters,
	Coil: goburrow.Client.ReadCoils, Discrete: goburrow.Client.ReadDiscreteInputs,
}

// clientTransport is the line as goburrow's client sees it.
type clientTransport struct{ line *Line }

// Send implements goburrow's Transporter for the request that has the line, closing the line where going on could confuse
// answers. A connection that was kept from before may have ended unseen: then, and only if no byte came back, the request
// goes out once more on a new one.
func (w clientTransport) Send(pdu []byte) ([]byte, error) {
	l := w.line
	for {
		reused := l.stream != nil
		if err := l.connect(l.current.ctx, l.current.timeout); err != nil {
			return nil, err
		}
		l.wakeAtEndOf(l.current.ctx)
		l.current.answering = false
		answer, err := l.transport.exchange(l.stream, l.current, pdu)
		if err == nil {
			l.unanswered = 0
			return answer, nil
		}
		if err = l.afterFailure(err); !errors.Is(err, ErrGone) || !reused || l.current.answering {
			return nil, err
		}
	}
}

// waker wakes whoever reads a stream when a context ends. It stays for the next request, which mostly has the same one.
type waker struct {
	ctx    context.Context
	stream Stream
	stop   func() bool

	mu   sync.Mutex
	over bool // it is another's turn: nobody is to be woken any more
}

// wakeAtEndOf lets the end of a context wake who reads the stream.
func (l *Line) wakeAtEndOf(ctx context.Context) {
	if l.waker != nil && l.waker.ctx == ctx && l.waker.stream == l.stream {
		return
	}
	l.stopWaking()
	w := &waker{ctx: ctx, stream: l.stream}
	w.stop = context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !w.over {
			_ = w.stream.SetDeadline(longPast) // only a closed stream refuses, and that one wakes its reader anyway
		}
	})
	l.waker = w
}

// stopWaking returns when nobody is woken any more.
func (l *Line) stopWaking() {
	if w := l.waker; w != nil && !w.stop() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.over = true
	}
	l.waker = nil
}

// pduOnly has goburrow's client code requests and decode answers without any frame; the frames are the transports'.
type pduOnly struct{}

// Encode implements goburrow's Packager: function and data.
func (pduOnly) Encode(pdu *goburrow.ProtocolDataUnit) ([]byte, error) {
	return append([]byte{pdu.FunctionCode}, pdu.Data...), nil
}

// Verify implements goburrow's Packager. The transport has seen to it.
func (pduOnly) Verify(request, response []byte) error { return nil }

// Decode implements goburrow's Packager.
func (pduOnly) Decode(answer []byte) (*goburrow.ProtocolDataUnit, error) {
	return &goburrow.ProtocolDataUnit{FunctionCode: answer[0], Data: answer[1:]}, nil
}
