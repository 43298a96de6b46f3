package sim

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"gauger/collectors"
)

// row is one line of a recording.
type row struct {
	at      time.Time
	mono    time.Duration
	boot    int64
	point   []byte // valid as long as the line
	value   float64
	quality collectors.Quality
	why     error // why the quality is not Good
}

// sameInstant says whether two rows belong to one poll.
func (r row) sameInstant(o row) bool {
	return r.boot == o.boot && r.mono == o.mono && r.at.Equal(o.at)
}

var (
	errNoNumber = errors.New("recorded without a number")
	errBad      = errors.New("recorded as bad")
	errDoubt    = errors.New("recorded as uncertain")
)

// rowReader parses rows. It remembers the last time and date, since most rows repeat them.
type rowReader struct {
	columns columns
	zone    *time.Location // of times without one
	since   time.Duration  // the latest time of a recording without mono_s
	last    [40]byte
	lastN   int
	lastAt  time.Time
	date    [10]byte
	day     time.Time
}

func (p *rowReader) parse(line []byte) (row, error) {
	var f [fieldCount][]byte
	if err := p.columns.split(line, &f); err != nil {
		return row{}, err
	}
	var r row
	var err error
	if r.at, err = p.parseTime(f[fieldTs]); err != nil {
		return row{}, err
	}
	if r.point = f[fieldPoint]; len(r.point) == 0 {
		return row{}, errors.New("point: empty")
	}
	if !p.columns.has[fieldMono] {
		if y := r.at.Year(); y < 1970 || y > 2200 {
			return row{}, fmt.Errorf("ts %q: a recording without mono_s and boot needs times of a clock that was set", f[fieldTs])
		}
		p.since = max(p.since, time.Duration(r.at.UnixNano()))
		r.mono = p.since
		return r, r.setQuality(f[fieldValue], f[fieldQuality], p.columns.has[fieldQuality])
	}
	if r.mono, err = parseSeconds(f[fieldMono]); err != nil {
		return row{}, err
	}
	if r.boot, err = parseCount(f[fieldBoot]); err != nil {
		return row{}, err
	}
	return r, r.setQuality(f[fieldValue], f[fieldQuality], p.columns.has[fieldQuality])
}

// setQuality sets value and quality; hasQuality says that the recording has a column of it. A reading without a number is Bad whatever the recording says of it.
func (r *row) setQuality(value, quality []byte, hasQuality bool) error {
	r.value = math.NaN()
	if len(value) > 0 {
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("value %q: not a number", value)
		}
		r.value = v
	}
	switch {
	case !hasQuality || bytes.EqualFold(quality, []byte("good")):
		r.quality = collectors.Good
	case bytes.EqualFold(quality, []byte("uncertain")):
		r.quality, r.why = collectors.Uncertain, errDoubt
	case bytes.EqualFold(quality, []byte("bad")):
		r.quality, r.why = collectors.Bad, errBad
	default:
		return fmt.Errorf("quality %q: neither good, uncertain nor bad", quality)
	}
	if math.IsNaN(r.value) || math.IsInf(r.value, 0) {
		r.value, r.quality, r.why = math.NaN(), collectors.Bad, errNoNumber
	}
	return nil
}

// zonelessLayouts are the layouts of a time without a zone.
var zonelessLayouts = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// parseTimeSlow parses RFC 3339 with a blank or a T, without a zone too, and seconds since 1970.
func (p *rowReader) parseTimeSlow(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	zone := p.zone
	if zone == nil {
		zone = time.UTC
	}
	for _, layout := range zonelessLayouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && v >= 0 && v < mostEpoch {
		return time.Unix(0, int64(math.Round(v*1e6))*1000).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("ts %q: not a time like 2026-03-02T07:00:00Z, nor seconds since 1970", text)
}

// mostEpoch is the year 2200 in seconds since 1970; a greater number is no count of seconds.
const mostEpoch = 7258118400

func (p *rowReader) parseTime(b []byte) (time.Time, error) {
	if p.lastN > 0 && string(b) == string(p.last[:p.lastN]) {
		return p.lastAt, nil
	}
	at, ok := p.parseTimeUTC(b)
	if !ok {
		var err error
		if at, err = p.parseTimeSlow(string(b)); err != nil {
			return time.Time{}, err
		}
	}
	p.lastN = 0
	if len(b) <= len(p.last) {
		p.lastN = copy(p.last[:], b)
	}
	p.lastAt = at
	return at, nil
}

// parseTimeUTC is the fast way for the usual form, 2026-03-02T07:00:00Z; false sends the caller to the slow one.
func (p *rowReader) parseTimeUTC(b []byte) (time.Time, bool) {
	if len(b) != 20 || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != 'Z' {
		return time.Time{}, false
	}
	h, hok := twoDigits(b[11:], 24)
	m, mok := twoDigits(b[14:], 60)
	s, sok := twoDigits(b[17:], 60)
	if !hok || !mok || !sok {
		return time.Time{}, false
	}
	if p.day.IsZero() || string(p.date[:]) != string(b[:10]) {
		day, err := time.Parse(time.DateOnly, string(b[:10]))
		if err != nil {
			return time.Time{}, false
		}
		p.day = day
		copy(p.date[:], b)
	}
	return p.day.Add(time.Duration(h*3600+m*60+s) * time.Second), true
}

func twoDigits(b []byte, below int) (int, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	n := int(hi)*10 + int(lo)
	return n, hi <= 9 && lo <= 9 && n < below
}

// parseSeconds parses a count of seconds, with or without a fraction.
func parseSeconds(b []byte) (time.Duration, error) {
	n := int64(0)
	for i, c := range b {
		if c < '0' || c > '9' || i > 8 {
			return parseDecimalSeconds(b)
		}
		n = n*10 + int64(c-'0')
	}
	if len(b) == 0 || n >= longestUptime {
		return parseDecimalSeconds(b)
	}
	return time.Duration(n) * time.Second, nil
}

// longestUptime is more seconds than a box runs between two boots, and few enough that nanoseconds do not overflow.
const longestUptime = 10 * 366 * 86400

// parseDecimalSeconds is the slow way: decimal seconds, below zero for what a device knew before the box started.
func parseDecimalSeconds(b []byte) (time.Duration, error) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(math.Abs(v) < longestUptime) {
		return 0, fmt.Errorf("mono_s %q: not seconds since the box started", b)
	}
	return time.Duration(math.Round(v * 1e9)), nil
}

func parseCount(b []byte) (int64, error) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("boot %q: not a count from 0", b)
	}
	return n, nil
}

// position is the last instant of a recording that the agent's state holds.
type position struct {
	boot int64 // as the agent counts: the recorded boot plus one; 0 when nothing was played yet
	mono time.Duration
}

// recall asks the host how far an earlier run came.
func recall(host collectors.Host) (position, error) {
	b, err := host.Recall(collectors.ReplayPosition)
	if err != nil {
		return position{}, fmt.Errorf("ask how far the recording was played: %w", err)
	}
	if len(b) == 0 {
		return position{}, nil
	}
	var boot, mono int64
	if n, err := fmt.Sscanf(string(b), "%d %d", &boot, &mono); n != 2 {
		return position{}, fmt.Errorf("remembered position %q: not a boot and nanoseconds: %w", b, err)
	}
	return position{boot: boot, mono: time.Duration(mono)}, nil
}

// holds says whether a row had been played before.
func (p position) holds(r row) bool {
	boot := r.boot + 1
	return boot < p.boot || boot == p.boot && r.mono <= p.mono
}
