package outbox_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gauger/outbox"
	"gauger/outbox/preflight"
)

// A disk that ignores half of the syncs can lose what it has confirmed. Nobody can prevent that; but no wrong byte is
// sent, the box opens in time, and what is lost is counted wherever any of the high-water marks survived.
func TestProveLyingDisk(t *testing.T) {
	var f lies
	stretch := eachCut(t, 40, true, f.judge)
	stretch.Tell(t, "%d records were accepted before the cuts, %d of them lost; of the lost ones %d were told, as lost or in doubt (%.1f %%), "+
		"all of the %d that a surviving mark knew of, or else it was told that nobody knows how many (%d streams); %d too many were counted as lost; 0 wrong bytes sent; %d were sent again after they were put down; %d files needed salvage or an explanation; the slowest open took %v",
		f.accepted, f.lost, f.detected, 100*float64(f.detected)/float64(max(f.lost, 1)), f.known, f.unknown, f.beyond, f.again, f.told, f.slowest.Round(time.Millisecond))
}

// lies are the figures of the cuts.
type lies struct {
	accepted, lost, known, unknown, detected, beyond, again, told int
	slowest                                                       time.Duration
}

func (f *lies) judge(t *testing.T, s *story, path string) error {
	marks := map[string]uint64{}
	for _, stream := range streamNames {
		if _, err := os.Stat(path + ".high"); err == nil {
			if marks[stream], err = outbox.HighWater(path+".high", stream); err != nil {
				return err
			}
		}
	}
	o := scriptOptions()
	o.Preflight = preflight.InChild(os.Args[0], checkWord)
	told := false
	o.Notify = func(n outbox.Note) { told = told || n.Kind == outbox.NoteSalvaged }
	began := uptime()
	b, err := outbox.Open(path, o)
	took := uptime() - began
	if f.slowest = max(f.slowest, took); err != nil || took > limit {
		return errors.Join(err, fmt.Errorf("opened after %v", took))
	}
	for _, stream := range streamNames {
		if err := f.stream(s, b, stream, marks[stream], told); err != nil {
			return err
		}
	}
	if told {
		f.told++
	}
	f.accepted += int(s.count)
	if err := delivered(t, s, b); err != nil {
		return err
	}
	for _, stream := range streamNames {
		for seq, n := range s.sent[stream] {
			if n > 1 && s.settled[stream][seq] {
				f.again++
			}
		}
	}
	return nil
}

// stream compares what is missing of a stream with what is counted as lost.
func (f *lies) stream(s *story, b *outbox.Box, stream string, mark uint64, mended bool) error {
	c := b.Counts()[stream]
	if !c.Balanced() || c.Accepted < mark {
		return fmt.Errorf("%s: a mark knows of %d records, counted are %+v", stream, mark, c)
	}
	held, err := s.held(b, stream)
	if err != nil {
		return err
	}
	lost, known := 0, 0
	for seq := uint64(1); seq <= s.accepted[stream]; seq++ {
		if _, there := held[seq]; there || s.sent[stream][seq] > 0 || s.dropped[stream][seq] {
			continue
		}
		lost++
		if seq <= c.Accepted {
			known++
		}
	}
	// A dead letter in doubt may stand where a lost one is missing: an old copy, or one whose number is damaged.
	told := int(c.Lost) + int(c.Waiting+c.Dead) - len(held)
	for seq, state := range held {
		if state == outbox.Dead && (s.sent[stream][seq] > 0 || s.dropped[stream][seq] || seq > min(s.accepted[stream], c.Accepted)) {
			told++
		}
	}
	if c.LostUnknown && mended && told < known {
		f.unknown, known = f.unknown+1, 0
	}
	if told < known {
		return fmt.Errorf("%s: of the %d records that are counted %d are lost, and not told: %+v", stream, c.Accepted, known, c)
	}
	f.lost, f.known = f.lost+lost, f.known+known
	f.detected, f.beyond = f.detected+min(lost, told), f.beyond+max(int(c.Lost)-lost, 0)
	return nil
}

// uptime is real time, also where time is virtual.
func uptime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
