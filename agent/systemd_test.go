package agent

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// What systemd shows follows the first line of the status, is one line, and is told when it changes alone.
func TestSystemdHearsTheFirstLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	ctx, stop := context.WithCancel(t.Context())
	lines := []string{"all is well", "all is well", "1 problem:\nTK-1"}
	looks, ended := 0, make(chan struct{})
	go func() {
		defer close(ended)
		Systemd{socket: path}.TellStatus(ctx, time.Millisecond, func() (string, error) {
			looks++
			return lines[min(looks, len(lines))-1], nil
		})
	}()
	for _, want := range []string{"STATUS=all is well", "STATUS=1 problem: TK-1"} {
		b := make([]byte, 100)
		n, err := heard.Read(b)
		if got := string(b[:n]); err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	stop()
	<-ended
}
