package commission

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gauger/agent/tank"
)

// Memo is the text about visits of one tank, or of the points of none.
func Memo(of string, visits []Visit, at *time.Location) string {
	if len(visits) == 0 {
		return ""
	}
	last := visits[0]
	for _, v := range visits {
		if v.At.After(last.At) {
			last = v
		}
	}
	of = cmp.Or(of, "points of no tank")
	text := fmt.Sprintf("Commissioned %s, %s, by %s:", of, last.At.In(at).Format("2006-01-02 15:04 MST"), last.By)
	for _, v := range visits {
		text += " " + v.text() + "."
	}
	return text
}

func (v Visit) text() string {
	name := string(v.Point)
	if v.Role != "" {
		name = v.Role + " " + name
	}
	var parts []string
	if v.Role == Level {
		parts = append(parts, fmt.Sprintf("reads %s (%s), hand gauge %s (%.2f in), offset %s", v.Level.Gauge(), v.Read, v.Gauge.Gauge(), float64(v.Gauge), inches(v.Offset)))
	} else {
		parts = append(parts, v.Read+" confirmed")
	}
	for _, more := range []string{v.Order, v.Note} {
		if more != "" {
			parts = append(parts, more)
		}
	}
	return fmt.Sprintf("%s (%s): %s", name, v.Source, strings.Join(parts, "; "))
}

func inches(l tank.Length) string {
	text, _ := l.MarshalText() // it has no error
	return string(text)
}
