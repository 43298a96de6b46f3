package mqtt

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// TestOnlyAQuietConnectionIsPinged: the broker is told for how long we may be silent; while messages come and are acknowledged
// nothing else is sent, and when none come a ping in half a minute. One that answers no ping is given up.
func TestOnlyAQuietConnectionIsPinged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const busy, quiet = 5 * time.Minute, 5 * time.Minute
		connects, pings := make(chan string, 100), make(chan string, 100)
		began := time.Now()
		note := func(what string) string { return fmt.Sprint(what, " after ", time.Since(began)) }
		dial := func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			s := &script{conn: far, got: make(chan packets.ControlPacket, 100)}
			go func() {
				defer far.Close()
				p, err := packets.ReadPacket(far)
				if err != nil {
					return
				}
				connects <- note(fmt.Sprint("keep alive ", p.(*packets.ConnectPacket).Keepalive))
				sub, ok := s.welcome()
				if !ok || !s.granted(sub) {
					return
				}
				go s.listen()
				beat := time.NewTicker(20 * time.Second)
				defer beat.Stop()
				for n := 1; ; {
					select {
					case <-beat.C:
						if time.Since(began) < busy {
							s.send(encoded("field/tk1", uint16(n), []byte(fmt.Sprint(n)))...)
							n++
						}
					case p, more := <-s.got:
						if !more {
							return
						}
						if _, ping := p.(*packets.PingreqPacket); ping {
							if pings <- note("ping"); time.Since(began) < busy+quiet {
								s.send(0xd0, 0)
							}
						}
					}
				}
			}()
			return near, nil
		}
		h := newMemo()
		start(t, h, collect(t, Session{Dial: dial}, at(address, "field/tk1")))
		later(busy)
		if len(pings) > 0 {
			t.Errorf("while messages came: %s", <-pings)
		}
		later(quiet)
		if n, most := len(pings), int(quiet/keepAlive); n < most-2 || n > most {
			t.Errorf("%d pings in %s without messages, the first %s", n, quiet, <-pings)
		}
		if hello := <-connects; hello != "keep alive 35 after 0s" || len(connects) > 0 {
			t.Errorf("connected with %s, and %d times more", hello, len(connects))
		}
		later(keepAlive + pingTimeout + 10*time.Second)
		if len(connects) == 0 {
			t.Error("a connection without answers stays")
		}
	})
}
