package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"gauger/collectors/modbus/modbustest"
)

// exchange sends bytes to a station and reads so many back; the deadline only ends a test that has failed.
func exchange(t *testing.T, s *station, request []byte, want int) []byte {
	t.Helper()
	near, far := net.Pipe()
	go s.serve(far)
	defer near.Close()
	if err := near.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := near.Write(request); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, want)
	if _, err := io.ReadFull(near, answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestStationAnswersEachRegisterWithItsAddress(t *testing.T) {
	s := newStation(stationSpec{})
	got := exchange(t, s, []byte{0, 9, 0, 0, 0, 6, 7, 3, 1, 0, 0, 2}, 13)
	if want := []byte{0, 9, 0, 0, 0, 7, 7, 3, 4, 1, 0, 1, 1}; !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
	r := s.report(time.Now())
	if r.Registers != 2 || r.Connections != 1 {
		t.Errorf("%d registers over %d connections, want 2 over one", r.Registers, r.Connections)
	}
	if len(r.Units) != 1 || r.Units[0].source != (source{7, 256}) {
		t.Errorf("units %+v, want 7 alone, from 256 on", r.Units)
	}
}

func TestADeadUnitRefuses(t *testing.T) {
	s := newStation(stationSpec{Dead: 7, Fault: "refuse"})
	got := exchange(t, s, []byte{0, 9, 0, 0, 0, 6, 7, 3, 1, 0, 0, 2}, 9)
	if want := []byte{0, 9, 0, 0, 0, 3, 7, 0x83, 2}; !bytes.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

// The request of unit 1 for two registers from 0 on, with the checksum that the standard's table gives it.
var rtuRequest = []byte{1, 3, 0, 0, 0, 2, 0xC4, 0x0B}

func TestSerialStationPassesOverNoise(t *testing.T) {
	s := newStation(stationSpec{Serial: &wire{Baud: 4_000_000}})
	got := exchange(t, s, append([]byte{0xFF}, rtuRequest...), 9)
	if modbustest.Checksum(got) != 0 || !bytes.Equal(got[:7], []byte{1, 3, 4, 0, 0, 0, 1}) {
		t.Errorf("% x", got)
	}
	if r := s.report(time.Now()); r.Damaged != 1 || r.Requests.Count != 1 {
		t.Errorf("%+v", r)
	}
}

func TestARequestBeforeTheSilenceIsSeen(t *testing.T) {
	s := newStation(stationSpec{Serial: &wire{Baud: 9600}})
	ended := time.Unix(1000, 0)
	for _, d := range []time.Duration{4200 * time.Microsecond, 4 * time.Millisecond} { // 3.5 characters are 4.01 ms
		s.quiet(ended, ended.Add(d))
	}
	if r := s.report(ended); r.Early != 1 || r.Silence != 4*time.Millisecond {
		t.Errorf("%+v", r)
	}
}

// counter is a worker that counts its windows.
type counter struct{ windows int }

func (c *counter) open() any   { c.windows++; return struct{}{} }
func (c *counter) report() any { return c.windows }

func TestAChildObeys(t *testing.T) {
	var out strings.Builder
	begin := func(n int) (worker, any, error) { return &counter{n}, "ready", nil }
	if err := obey(strings.NewReader(`5 "open" "open" "report" `), &out, begin); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(strings.NewReader(out.String()))
	var greeting string
	var first, second struct{}
	var windows int
	for _, into := range []any{&greeting, &first, &second, &windows} {
		if err := answers.Decode(into); err != nil {
			t.Fatalf("%s: %v", out.String(), err)
		}
	}
	if greeting != "ready" || windows != 7 {
		t.Errorf("%s", out.String())
	}
}
