package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// served starts `wellsim serve` and returns what it printed; the test's end stops it.
func served(t *testing.T, speed float64) running {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- serve(ctx, w, loopback, speed, false)
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var got running
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	return got
}

// registers reads holding registers as a client that knows nothing of the slave's own code.
func registers(t *testing.T, at running, address, n uint16) []byte {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(at.Modbus, "tcp://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	request := []byte{0, 7, 0, 0, 0, 6, byte(at.Unit), 3, byte(address >> 8), byte(address), byte(n >> 8), byte(n)}
	if _, err := c.Write(request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 9+2*int(n))
	if _, err := io.ReadFull(c, answer); err != nil {
		t.Fatal(err)
	}
	if head := []byte{0, 7, 0, 0, 0, byte(3 + 2*n), byte(at.Unit), 3, byte(2 * n)}; !bytes.Equal(answer[:9], head) {
		t.Fatalf("answer % x, want it to begin with % x", answer, head)
	}
	return answer[9:]
}

func TestThePLC(t *testing.T) {
	at := served(t, 1)
	b := registers(t, at, regTank1, 2)
	level := math.Float32frombits(uint32(b[2])<<24 | uint32(b[3])<<16 | uint32(b[0])<<8 | uint32(b[1])) // CDAB
	if math.Abs(float64(level)-184.2) > 0.3 {
		t.Errorf("TK-1 stands at %g in, want 184.2", level)
	}
}

// TestTheRadio subscribes with bytes written by hand: no client of ours stands between.
func TestTheRadio(t *testing.T) {
	at := served(t, 600)
	c, err := net.Dial("tcp", strings.TrimPrefix(at.MQTT, "mqtt://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	connect := "\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01t"
	subscribe := "\x82\x0e\x00\x01\x00\x09" + at.Topic + "\x01"
	if _, err := io.WriteString(c, connect+subscribe); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	last := 0
	for last < 3 {
		kind, body := packet(t, in)
		if kind>>4 != 3 {
			continue
		}
		topic, rest := string(body[2:11]), body[11:]
		if kind&6 != 2 || topic != at.Topic {
			t.Fatalf("a message of quality of service %d on %q", kind>>1&3, topic)
		}
		var s sample
		if err := json.Unmarshal(rest[2:], &s); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte{0x40, 2, rest[0], rest[1]}); err != nil {
			t.Fatal(err)
		}
		if s.Sequence <= last || math.Abs(s.Level.In-133) > 5 || time.Since(time.UnixMilli(s.Time)).Abs() > time.Minute {
			t.Errorf("after %d came %+v", last, s)
		}
		last = s.Sequence
	}
}

// packet reads one MQTT packet of less than 16 KiB.
func packet(t *testing.T, in *bufio.Reader) (kind byte, body []byte) {
	t.Helper()
	head := make([]byte, 2)
	if _, err := io.ReadFull(in, head); err != nil {
		t.Fatal(err)
	}
	n := int(head[1])
	if n >= 128 {
		more, err := in.ReadByte()
		if err != nil {
			t.Fatal(err)
		}
		n = n&127 | int(more)<<7
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		t.Fatal(err)
	}
	return head[0], body
}

func TestTheServiceAndItsLink(t *testing.T) {
	s, err := newService("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	save := func(key string) (int, error) {
		body := `[{"ID":null,"startTimeString":"2026-03-02T12:00:00","endTimeString":"2026-03-02T12:00:00","objectGuid":"` + deviceGUID +
			`","objectTypeID":"Device","ruleName":"test","note":""}]`
		r, err := http.NewRequest(http.MethodPost, "http://"+s.addr+"/vBeta/events/diagnostic/save", strings.NewReader(body))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Ocp-Apim-Subscription-Key", key)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	for _, step := range []struct {
		what string
		do   func() error
		key  string
		want int // 0: nobody answers
	}{
		{"the start", nil, primaryKey, 200},
		{"another key", nil, "another", 401},
		{"the other key", nil, secondaryKey, 200},
		{"a cut", s.cut, primaryKey, 0},
		{"a second cut", s.cut, primaryKey, 0},
		{"it is up again", s.restore, primaryKey, 200},
		{"it is up already", s.restore, primaryKey, 200},
	} {
		if step.do != nil {
			if err := step.do(); err != nil {
				t.Errorf("%s: %v", step.what, err)
			}
		}
		if got, err := save(step.key); got != step.want || (err == nil) != (step.want != 0) {
			t.Errorf("after %s: %d %v, want %d", step.what, got, err, step.want)
		}
	}
}

func TestCommandLines(t *testing.T) {
	for line, want := range map[string]int{
		"": 2, "fly": 2, "serve --speed": 2, "serve now": 2, "serve --speed 0": 1, "serve --modbus nowhere:x": 1,
		"demo --gauger /nowhere/gauger": 1, "demo --loud": 2,
	} {
		if got := command(t.Context(), strings.Fields(line)); got != want {
			t.Errorf("wellsim %s: exit %d, want %d", line, got, want)
		}
	}
}

func TestTrucksComeByThemselves(t *testing.T) {
	s := newSite(1, time.Now())
	s.trucks()
	for _, tank := range s.tanks {
		if full := tank.Level() > 0.75*tank.Height; tank.Drawing() != full {
			t.Errorf("%s at %.1f of %.0f in: a truck is there: %t", tank.ID, tank.Level(), tank.Height, tank.Drawing())
		}
	}
}

func TestReceivedKnowsAResendFromAnotherTicket(t *testing.T) {
	s, err := newService("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	body := `{"ticketNumber":"A-1","tank":{"externalID":"TK-1"},"openingLevel":{"level":184.2},"closingLevel":{"level":%s},` +
		`"sealOn":"","sealOff":"","comments":"","start":"2026-03-02T06:00:04-06:00","end":"2026-03-02T12:00:19Z","purchaser":"Acme"}`
	for _, closing := range []string{"76.1", "76.1", "77.0"} {
		r, err := http.NewRequest(http.MethodPost, "http://"+s.addr+"/vAlpha/runtickets", strings.NewReader("["+fmt.Sprintf(body, closing)+"]"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Ocp-Apim-Subscription-Key", primaryKey)
		answer, err := http.DefaultClient.Do(r)
		if err != nil || answer.StatusCode != 200 {
			t.Fatalf("%v %v", answer, err)
		}
		answer.Body.Close()
	}
	got := s.storedSoFar().tickets
	if len(got) != 2 {
		t.Fatalf("%d tickets, want the first, sent twice, and another: %+v", len(got), got)
	}
	if got[0].sent != 2 || got[1].sent != 1 {
		t.Errorf("sent %d times and %d, want 2 and 1", got[0].sent, got[1].sent)
	}
	if first := got[0]; !first.start.Equal(sec(4)) || !first.end.Equal(sec(19)) {
		t.Errorf("from %s to %s, want %s to %s", first.start, first.end, sec(4), sec(19))
	}
	if got[1].closing != 77 {
		t.Errorf("the other closes at %g, want 77", got[1].closing)
	}
}
