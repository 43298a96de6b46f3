package line

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestALateAnswerIsPassedOverOnTheSameConnection(t *testing.T) {
	for name, fault := range map[string]modbustest.Fault{
		"late": {Late: 1, Times: 1}, "doubled": {Doubled: true, Times: 1}, "slow": {Delay: 1500 * time.Millisecond, Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			sum, stats := converse(t, "tcp://site", time.Second, fault)
			if sum.failed > 1 || stats.Late != 1 || stats.Opened != 1 {
				t.Errorf("%+v, %+v; want at most one failure, one late answer, one connection", sum, stats)
			}
		})
	}
}

func TestAResetIsMendedUnseen(t *testing.T) {
	sum, stats := converse(t, "tcp://site", 0, modbustest.Fault{Reset: true, Skip: 3, Times: 1})
	if sum.failed != 0 || stats.Opened != 2 {
		t.Errorf("%+v, %+v; want no failure and two connections", sum, stats)
	}
}

func TestAResetAfterTheFirstByteIsNotRepeated(t *testing.T) {
	sum, stats := converse(t, "tcp://site", 0, modbustest.Fault{Torn: 1, Reset: true, Skip: 3, Times: 1})
	if sum.failed != 1 || stats.Requests != uint64(len(conversation)) {
		t.Errorf("%+v, %+v", sum, stats)
	}
}

func TestAResetOfAFreshConnectionIsNotRepeated(t *testing.T) {
	sum, _ := converse(t, "tcp://site", 0, modbustest.Fault{Reset: true, Times: 1})
	if sum.failed != 1 {
		t.Errorf("%+v, want one failure", sum)
	}
}

func TestThreeTimeoutsCloseASocket(t *testing.T) {
	for _, url := range []string{"tcp://site", "rtu+tcp://site:4001"} {
		sum, stats := converse(t, url, 3*time.Second, modbustest.Fault{Silent: true, Skip: 1, Times: 3})
		if sum.failed != 3 || stats.Timeouts != 3 || stats.Opened != 2 {
			t.Errorf("%s: %+v, %+v; want three failures and one reconnect", url, sum, stats)
		}
	}
	if _, stats := converse(t, linetest.SerialURL, 3*time.Second, modbustest.Fault{Silent: true, Skip: 1, Times: 3}); stats.Opened != 1 {
		t.Errorf("a serial port was opened %d times, want once", stats.Opened)
	}
}

func TestAnExceptionKeepsTheConnection(t *testing.T) {
	for _, url := range []string{"tcp://site", linetest.SerialURL} {
		sum, stats := converse(t, url, 0, modbustest.Fault{Exception: 2})
		if sum.failed != len(conversation) || stats.Exceptions != uint64(len(conversation)) || stats.Opened != 1 {
			t.Errorf("%s: %+v, %+v", url, sum, stats)
		}
	}
}

// failure of the first request.
func failure(t *testing.T, url string, fault modbustest.Fault) (stats Stats, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(fault)
		lines := pipeLines(t, linetest.Only(slave))
		line := linetest.Open(t, lines, url)
		_, err = line.Read(t.Context(), conversation[0], time.Second)
		stats = line.Stats()
		linetest.Close(t, lines)
	})
	return stats, err
}

func TestWhatIsSaidOfAFailure(t *testing.T) {
	tests := []struct {
		url   string
		fault modbustest.Fault
		is    error
		says  string
	}{
		{"tcp://site", modbustest.Fault{Silent: true}, ErrSilent, "read holding 0-1 of unit 1 at tcp://site:502: no answer within 1s"},
		{"tcp://site", modbustest.Fault{Unitshift: 254}, ErrFrame, "it comes from unit 255; if the device calls itself so, say unit: 255"},
		{"tcp://site", modbustest.Fault{Function: 4}, ErrFrame, "function 4 instead of 3"},
		{"tcp://site", modbustest.Fault{Short: 2}, ErrFrame, "2 bytes of data instead of 4"},
		{"tcp://site", modbustest.Fault{Flip: 1}, ErrSilent, "no answer within 1s, but one with another transaction id"},
		{"tcp://site", modbustest.Fault{Flip: 3}, ErrFrame, "protocol id 65280 instead of 0"},
		{"tcp://site", modbustest.Fault{Flip: 5}, ErrFrame, "length 65287; 2 to 254 are possible"},
		{"tcp://site", modbustest.Fault{Torn: 8}, ErrFrame, "it ended in the middle"},
		{"tcp://site", modbustest.Fault{Reset: true}, ErrGone, "connection lost"},
		{"tcp://site", modbustest.Fault{Exception: 6}, nil, "exception 6 (server device busy)"},
		{"tcp://site", modbustest.Fault{Exception: 11}, ErrSilent, "exception 11 (gateway target failed to respond)"},
		{"tcp://site", modbustest.Fault{Exception: 77}, nil, "exception 77 (unknown to the standard)"},
		{linetest.SerialURL, modbustest.Fault{Silent: true}, ErrSilent, "no answer within 1s"},
		{linetest.SerialURL, modbustest.Fault{Unitshift: 1}, ErrSilent, "no answer within 1s, but one of another unit, function or length"},
		{linetest.SerialURL, modbustest.Fault{Short: 2}, ErrSilent, "but one of another unit, function or length"},
		{linetest.SerialURL, modbustest.Fault{Doubled: true}, ErrFrame, "a second one followed it"},
		{linetest.SerialURL, modbustest.Fault{Exception: 2}, nil, "exception 2 (illegal data address)"},
	}
	for _, tt := range tests {
		_, err := failure(t, tt.url, tt.fault)
		if err == nil || !strings.Contains(err.Error(), tt.says) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s, %+v: %v, want %q", tt.url, tt.fault, err, tt.says)
		}
	}
}

func TestCrossTalkIsCounted(t *testing.T) {
	for _, url := range []string{"tcp://site", linetest.SerialURL} {
		for _, fault := range []modbustest.Fault{{Unitshift: 1}, {Function: 4}} {
			if stats, _ := failure(t, url, fault); stats.CrossTalk != 1 {
				t.Errorf("%s, %+v: %+v", url, fault, stats)
			}
		}
	}
}

func TestALineThatDoesNotOpenIsTriedWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave, dials := linetest.NumberedSlave(), 0
		refused, away := errors.New("connection refused"), true
		lines := pipeLines(t, func(string) (*modbustest.Slave, error) {
			if dials++; away {
				return nil, refused
			}
			return slave, nil
		})
		defer linetest.Close(t, lines)
		line := linetest.Open(t, lines, "tcp://site")
		for range 600 {
			if _, err := line.Read(t.Context(), conversation[0], time.Second); !errors.Is(err, ErrDown) || !errors.Is(err, refused) {
				t.Fatalf("%v, want a line that is down because of %v", err, refused)
			}
			linetest.Await(t, 100*time.Millisecond)
		}
		if dials < 12 || dials > 20 {
			t.Errorf("%d attempts in a minute, want one every five seconds after the first few", dials)
		}
		away = false
		linetest.Await(t, redialMaxPause)
		if _, err := line.Read(t.Context(), conversation[0], time.Second); err != nil {
			t.Errorf("back again: %v", err)
		}
	})
}

func TestWaitingForALineObeysTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Silent: true, Times: 1})
		lines := pipeLines(t, linetest.Only(slave))
		line := linetest.Open(t, lines, "tcp://site")
		first := make(chan error, 1)
		go func() {
			_, err := line.Read(t.Context(), conversation[0], time.Minute)
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := line.Read(ctx, conversation[1], time.Minute)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("after %s: %v", took, err)
		}
		if err := <-first; !errors.Is(err, ErrSilent) {
			t.Error(err)
		}
		linetest.Close(t, lines)
	})
}

// TestAForeignAnswerKeepsTheConnection: a whole frame tells where the next one begins, whatever it says.
func TestAForeignAnswerKeepsTheConnection(t *testing.T) {
	for name, fault := range map[string]modbustest.Fault{
		"another unit": {Unitshift: 1, Times: 1}, "another function": {Function: 4, Times: 1}, "less data": {Short: 2, Times: 1},
	} {
		sum, stats := converse(t, "tcp://site", 0, fault)
		if sum.failed != 1 || stats.Opened != 1 || stats.BadFrames != 1 {
			t.Errorf("%s: %+v, %+v; want one failure on one connection", name, sum, stats)
		}
	}
	if _, stats := converse(t, "tcp://site", 0, modbustest.Fault{Flip: 3, Times: 1}); stats.Opened != 2 {
		t.Errorf("a damaged header: opened %d times, want a new connection", stats.Opened)
	}
}
