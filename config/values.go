package config

import (
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"

	"go.yaml.in/yaml/v3"
)

// Size is a number of bytes: 64MiB, 1GiB, 500kB, or a plain number.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}, {"", 1}}

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(n >= 0) || n*u.bytes > math.MaxInt64/2 || n*u.bytes != math.Trunc(n*u.bytes) {
			break
		}
		*s = Size(n * u.bytes)
		return nil
	}
	return fmt.Errorf("%s is not a size; write one such as 64MiB", quote(text))
}

// String is the size in the largest unit that leaves no rest.
func (s Size) String() string {
	for _, u := range sizeUnits[:3] {
		if unit := Size(u.bytes); s >= unit && s%unit == 0 {
			return strconv.FormatInt(int64(s/unit), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// Rate is a number of requests a second; 0 is no limit, written off.
type Rate float64

// rateByPlace stands for a rate that is not written: 1, but none toward the box itself.
const rateByPlace Rate = -1

// UnmarshalText reads a number, one with /s or /min behind it, or off.
func (r *Rate) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	if text == "off" {
		*r = 0
		return nil
	}
	digits, perMinute := strings.CutSuffix(text, "/min")
	n, err := number(strings.TrimSpace(strings.TrimSuffix(digits, "/s")))
	if err != nil || n <= 0 {
		return fmt.Errorf("%s is not a rate; write the requests a second, such as 1 or 0.5, or a minute, such as 6/min, or off", quote(string(b)))
	}
	if *r = Rate(n); perMinute {
		*r /= 60
	}
	return nil
}

// String is the number a second, the number a minute where that is shorter, or off.
func (r Rate) String() string {
	if r == 0 {
		return "off"
	}
	second := strconv.FormatFloat(float64(r), 'g', -1, 64)
	minute := math.Round(float64(r)*60e6) / 1e6
	if text := strconv.FormatFloat(minute, 'g', -1, 64) + "/min"; len(text) < len(second) && Rate(minute)/60 == r {
		return text
	}
	return second
}

// TimeOfDay is a local time of the day, since midnight.
type TimeOfDay time.Duration

// UnmarshalText reads HH:MM.
func (t *TimeOfDay) UnmarshalText(b []byte) error {
	at, err := time.Parse("15:04", string(b))
	if err != nil || len(b) != len("15:04") {
		return fmt.Errorf("%s is not a time of the day; write hours and minutes such as \"07:00\"", quote(string(b)))
	}
	*t = TimeOfDay(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
	return nil
}

// String is HH:MM.
func (t TimeOfDay) String() string {
	d := time.Duration(t)
	return fmt.Sprintf("%02d:%02d", int(d.Hours()), int(d.Minutes())%60)
}

// Window is a local time of day, every day; one that ends before it begins goes over midnight.
type Window struct{ From, To TimeOfDay }

// UnmarshalText reads HH:MM-HH:MM.
func (w *Window) UnmarshalText(b []byte) error {
	from, to, _ := strings.Cut(string(b), "-")
	if to = strings.TrimSpace(to); to == "24:00" {
		to = "00:00"
	}
	if w.From.UnmarshalText([]byte(strings.TrimSpace(from))) != nil || w.To.UnmarshalText([]byte(to)) != nil {
		return fmt.Errorf("%s is no time of day from and to; write one such as \"22:00-06:00\"", quote(string(b)))
	}
	return nil
}

// MarshalText is HH:MM-HH:MM.
func (w Window) MarshalText() ([]byte, error) {
	return []byte(w.From.String() + "-" + w.To.String()), nil
}

// Network is an address or a network of them.
type Network netip.Prefix

// UnmarshalText reads an address, or one with the length of its network behind a slash.
func (n *Network) UnmarshalText(b []byte) error {
	text := strings.TrimSpace(string(b))
	if one, err := netip.ParseAddr(text); err == nil && one.Zone() == "" {
		*n = Network(netip.PrefixFrom(one.Unmap(), one.Unmap().BitLen()))
		return nil
	}
	all, err := netip.ParsePrefix(text)
	if err != nil || all.Addr().Is4In6() {
		return fmt.Errorf("%s is no address and no network; write one such as 10.20.0.9 or 10.20.0.0/24", quote(text))
	}
	*n = Network(all.Masked())
	return nil
}

// MarshalText is the address, or the network.
func (n Network) MarshalText() ([]byte, error) {
	if p := netip.Prefix(n); p.IsSingleIP() {
		return p.Addr().MarshalText()
	}
	return netip.Prefix(n).MarshalText()
}

// Source is the source of a figure of a ticket: a point, a constant, or none when both are empty.
type Source struct {
	Point    collectors.Point
	Constant *float64
}

// UnmarshalText reads a number as a constant and DEVICE/POINT as a point.
func (s *Source) UnmarshalText(b []byte) error {
	text := string(b)
	if n, err := number(text); err == nil {
		*s = Source{Constant: &n}
		return nil
	}
	if tank.DecimalPoint(text) != "" {
		_, err := number(text)
		return err
	}
	if !strings.Contains(text, "/") || strings.ContainsAny(text, " \t\n") {
		return fmt.Errorf("%s is neither a number nor a point; write a constant such as 68, or DEVICE/POINT", quote(text))
	}
	*s = Source{Point: collectors.Point(text)}
	return nil
}

// String is the point or the number.
func (s Source) String() string {
	if s.Constant != nil {
		return strconv.FormatFloat(*s.Constant, 'g', -1, 64)
	}
	return string(s.Point)
}

// Strapping holds a tank's table of inches and barrels, or names the CSV file of it.
type Strapping struct {
	File string
	Rows [][2]float64
}

// Given says that there is a table.
func (s Strapping) Given() bool { return s.File != "" || s.Rows != nil }

func (s *Strapping) decodeNode(d *decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.SequenceNode {
		s.Rows = [][2]float64{}
		d.decode(n, settable(&s.Rows), path)
		return
	}
	d.decodeScalar(n, settable(&s.File), path)
}
