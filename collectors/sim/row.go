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
	errColumns  = errors.New("not six columns; expected " + header)
	errNoNumber = errors.New("recorded without a number")
	errBad      = errors.New("recorded as bad")
	errDoubt    = errors.New("recorded as uncertain")
)

func isHeader(line []byte) bool {
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	return string(bytes.TrimSpace(line)) == header
}

// rowReader parses rows. It remembers the last time and date, since most rows repeat them.
type rowReader struct {
	last   [40]byte
	lastN  int
	lastAt time.Time
	date   [10]byte
	day    time.Time
}

// parse reads one line.
func (p *rowReader) parse(line []byte) (row, error) {
	var f [6][]byte
	rest := line
	for i := range 5 {
		cut := bytes.IndexByte(rest, ',')
		if cut < 0 {
			return row{}, errColumns
		}
		f[i], rest = rest[:cut], rest[cut+1:]
	}
	f[5] = rest
	var r row
	var err error
	if r.at, err = p.time(f[0]); err != nil {
		return row{}, err
	}
	if r.mono, err = seconds(f[1]); err != nil {
		return row{}, err
	}
	if r.boot, err = count(f[2]); err != nil {
		return row{}, err
	}
	if r.point = f[3]; len(r.point) == 0 {
		return row{}, errors.New("point: empty")
	}
	return r, r.judge(f[4], f[5])
}

// judge sets value and quality. A reading without a number is Bad whatever the recording says of it.
func (r *row) judge(value, quality []byte) error {
	r.value = math.NaN()
	if len(value) > 0 {
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("value %q: not a number", value)
		}
		r.value = v
	}
	switch string(quality) {
	case "good":
		r.quality = collectors.Good
	case "uncertain":
		r.quality, r.why = collectors.Uncertain, errDoubt
	case "bad":
		r.quality, r.why = collectors.Bad, errBad
	default:
		return fmt.Errorf("quality %q: neither good, uncertain nor bad", quality)
	}
	if math.IsNaN(r.value) || math.IsInf(r.value, 0) {
		r.value, r.quality, r.why = math.NaN(), collectors.Bad, errNoNumber
	}
	return nil
}

// time parses RFC 3339.
func (p *rowReader) time(b []byte) (time.Time, error) {
	if p.lastN > 0 && string(b) == string(p.last[:p.lastN]) {
		return p.lastAt, nil
	}
	at, ok := p.utc(b)
	if !ok {
		var err error
		if at, err = time.Parse(time.RFC3339Nano, string(b)); err != nil {
			return time.Time{}, fmt.Errorf("ts %q: not a time like 2026-03-02T07:00:00Z", b)
		}
	}
	p.lastN = 0
	if len(b) <= len(p.last) {
		p.lastN = copy(p.last[:], b)
	}
	p.lastAt = at
	return at, nil
}

// utc is the fast way for the usual form, 2026-03-02T07:00:00Z; false sends the caller to the slow one.
func (p *rowReader) utc(b []byte) (time.Time, bool) {
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

// seconds parses a count of seconds, with or without a fraction.
func seconds(b []byte) (time.Duration, error) {
	n := int64(0)
	for i, c := range b {
		if c < '0' || c > '9' || i > 8 {
			return fraction(b)
		}
		n = n*10 + int64(c-'0')
	}
	if len(b) == 0 || n >= longest {
		return fraction(b)
	}
	return time.Duration(n) * time.Second, nil
}

// longest is more seconds than a box runs between two boots, and few enough that nanoseconds do not overflow.
const longest = 10 * 366 * 86400

// fraction is the slow way: decimal seconds.
func fraction(b []byte) (time.Duration, error) {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(v >= 0 && v < longest) {
		return 0, fmt.Errorf("mono_s %q: not seconds since the box started", b)
	}
	return time.Duration(math.Round(v * 1e9)), nil
}

func count(b []byte) (int64, error) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("boot %q: not a count from 0", b)
	}
	return n, nil
}
