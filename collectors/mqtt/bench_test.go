package mqtt

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"gauger/collectors"
)

// sink is a Host that counts, and writes to a file with fdatasync when there is one.
type sink struct {
	*memo
	file  *os.File
	count atomic.Int64
	want  int64
	done  chan struct{}
}

func (s *sink) Emit(_ context.Context, batch []collectors.Reading) error {
	if s.file != nil {
		var b []byte
		for _, r := range batch {
			b = fmt.Appendf(b, "%s %v %d\n", r.Point, r.Value, r.At.UnixMilli())
		}
		if _, err := s.file.Write(b); err != nil {
			return err
		}
		if err := syscall.Fdatasync(int(s.file.Fd())); err != nil {
			return err
		}
	}
	if s.count.Add(int64(len(batch))) >= s.want {
		close(s.done)
	}
	return nil
}

// newSink expects as many readings as the benchmark has rounds.
func newSink(b *testing.B, onDisk bool) *sink {
	s := &sink{memo: newMemo(), want: int64(b.N), done: make(chan struct{})}
	if onDisk {
		f, err := os.Create(filepath.Join(b.TempDir(), "disk"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = f.Close() })
		s.file = f
	}
	return s
}

// cpu is the processor time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkWindow measures the collector against a broker that does nothing but send, with a strict window.
func BenchmarkWindow(b *testing.B) {
	for _, window := range []int{20, 1000} {
		for _, onDisk := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/disk=%v", window, onDisk), func(b *testing.B) {
				s := newSink(b, onDisk)
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				go pump(l, b.N, window)
				d := timed("field/tk1")
				d.Brokers = Brokers{"mqtt://" + l.Addr().String()}
				b.ResetTimer()
				used := cpu()
				stop := start(b, s, collect(b, Session{}, d))
				<-s.done
				b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-us/msg")
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
				b.StopTimer()
				stop()
			})
		}
	}
}

// pump is the least broker: it lets a client in and sends n messages, never more than window unacknowledged.
func pump(l net.Listener, n, window int) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	if _, err := packets.ReadPacket(in); err != nil {
		return
	}
	_, _ = conn.Write([]byte{0x20, 2, 0, 0})
	p, err := packets.ReadPacket(in)
	if err != nil {
		return
	}
	sub := p.(*packets.SubscribePacket)
	_, _ = conn.Write([]byte{0x90, 3, byte(sub.MessageID >> 8), byte(sub.MessageID), 1})
	raw := encoded("field/tk1", 1, []byte(sample(120.25, noon)))
	id := 2 + 2 + len("field/tk1")
	clock := bytes.Index(raw, fmt.Appendf(nil, "%d", noon.UnixMilli()))
	out := bufio.NewWriter(conn)
	for sent, acked := 0, 0; acked < n; {
		for ; sent < n && sent-acked < window; sent++ {
			binary.BigEndian.PutUint16(raw[id:], uint16(sent%60_000)+1)
			copy(raw[clock:], fmt.Appendf(nil, "%d", noon.UnixMilli()+int64(sent)))
			_, _ = out.Write(raw)
		}
		_ = out.Flush()
		for more := true; more && acked < sent; more = in.Buffered() >= 4 {
			if _, err := in.Discard(4); err != nil {
				return
			}
			acked++
		}
	}
	_, _ = io.Copy(io.Discard, conn)
}

// BenchmarkMosquitto measures the whole road: publisher, broker, collector, disk.
func BenchmarkMosquitto(b *testing.B) {
	m := newMosquitto(b, "allow_anonymous true")
	s := newSink(b, true)
	d := timed("field/tk1")
	d.Brokers = Brokers{m.url("mqtt")}
	c := collect(b, Session{}, d)
	stop := start(b, s, c)
	connected(b, c)
	var lines bytes.Buffer
	for i := range b.N {
		fmt.Fprintln(&lines, sample(120.25, noon.Add(time.Duration(i)*time.Millisecond)))
	}
	publish := exec.Command("mosquitto_pub", "-p", m.port, "-t", "field/tk1", "-q", "1", "-l")
	publish.Stdin = &lines
	b.ResetTimer()
	used := cpu()
	if err := publish.Start(); err != nil {
		b.Skipf("needs mosquitto_pub of the package mosquitto-clients: %v", err)
	}
	<-s.done
	b.ReportMetric(float64((cpu()-used).Microseconds())/float64(b.N), "cpu-us/msg")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
	b.StopTimer()
	stop()
	_ = publish.Wait()
}

// BenchmarkDecode measures one JSON message becoming one reading.
func BenchmarkDecode(b *testing.B) {
	p, err := newPoint("radio", Point{Name: "level", Value: "level.in", Time: "ts"})
	if err != nil {
		b.Fatal(err)
	}
	payload := []byte(`{"ts":1772366400250,"level":{"in":120.25,"status":"ok"},"battery":3.61}`)
	b.ReportAllocs()
	var outcomes []outcome
	for b.Loop() {
		if outcomes = p.decode(outcomes[:0], &document{payload: payload}, noon); outcomes[0].reading.Value != 120.25 {
			b.Fatal(outcomes[0])
		}
	}
}
