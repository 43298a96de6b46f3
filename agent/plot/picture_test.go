package plot

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank"
)

var begin = time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC) // midnight in Chicago

func chicago(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// week is a tank that fills from 60 in and is hauled once a day at ten, read every so often for some days.
func week(days int, every time.Duration) Panel {
	p := Panel{Name: "TK-1001", About: "20 ft high", Table: tank.Cylinder(144, 240), Level: &Series{}}
	level := func(t float64) float64 {
		hour := math.Mod(t/3600, 24)
		rise := 5 * hour
		if hour > 10 {
			rise -= 120 * math.Min(1, (hour-10)*2)
		}
		return 100 + rise
	}
	for at := time.Duration(0); at < time.Duration(days)*24*time.Hour; at += every {
		noise := 0.05 * float64(at/every%3-1)
		p.Level.Add(begin.Add(at), 1, at, level(at.Seconds())+noise, at%(7*time.Hour) != 0)
	}
	for d := range days {
		start := begin.Add(time.Duration(d*24+10) * time.Hour)
		l := Load{Number: fmt.Sprintf("A-COOPER-TK-1001-%s", start.Format("20060102T1504Z")), Start: start, End: start.Add(30 * time.Minute),
			Open: 150, Close: 32.5, Bbl: 197.2, Error: 0.4}
		if d%3 == 2 {
			l.Review = "data gap 42 min at an edge, volume uncertain by 4.3 bbl"
		}
		p.Loads = append(p.Loads, l)
		p.Events = append(p.Events, tank.Event{Rule: "recirc", Note: "10.2 bbl left and came back", Start: start.Add(5 * time.Hour), End: start.Add(6 * time.Hour)})
	}
	return p
}

// drawn is a picture read back: its size in bytes, and every text with the box that it takes at most.
type drawn struct {
	wide  float64 // pixels
	size  int
	all   string
	texts []written
}

type written struct {
	box
	words string
}

// draw draws a picture and takes it apart with the standard library's reader, which refuses what is no XML.
func draw(t *testing.T, p Picture) drawn {
	t.Helper()
	var b bytes.Buffer
	n, err := p.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes written: %v", n, b.Len(), err)
	}
	d := drawn{wide: cmp.Or(p.Wide, pageWidth), size: b.Len(), all: b.String()}
	in := xml.NewDecoder(&b)
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch e.Name.Local {
		case "script", "image", "foreignObject", "style":
			t.Errorf("the picture holds a %s", e.Name.Local)
		case "text":
			d.texts = append(d.texts, textOf(t, in, e))
		}
	}
}

func textOf(t *testing.T, in *xml.Decoder, e xml.StartElement) written {
	t.Helper()
	var words string
	if err := in.DecodeElement(&words, &e); err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for _, a := range e.Attr {
		at[a.Name.Local] = a.Value
	}
	number := func(name string, absent float64) float64 {
		v, err := strconv.ParseFloat(at[name], 64)
		if err != nil {
			return absent
		}
		return v
	}
	size := number("font-size", fontSize)
	x, y, w := number("x", 0), number("y", 0), textWidth(words)*size/fontSize
	switch at["text-anchor"] {
	case "middle":
		x -= w / 2
	case "end":
		x -= w
	}
	return written{box{x, y - size*0.8, w, size}, words}
}

// clean says that no words lie on others or hang over the page.
func (d drawn) clean(t *testing.T) {
	t.Helper()
	for i, a := range d.texts {
		if a.x < 0 || a.x+a.w > d.wide {
			t.Errorf("%q hangs over the page: %+v", a.words, a.box)
		}
		for _, b := range d.texts[:i] {
			if a.meets(b.box) {
				t.Errorf("%q lies on %q: %+v %+v", a.words, b.words, a.box, b.box)
			}
		}
	}
}

func (d drawn) says(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		found := false
		for _, x := range d.texts {
			found = found || strings.Contains(x.words, w)
		}
		if !found {
			t.Errorf("the picture does not say %q", w)
		}
	}
}

func TestADayAndAWeekAreReadable(t *testing.T) {
	for _, days := range []int{1, 3, 7} {
		d := draw(t, Picture{Title: "Cooper 12-7", Zone: chicago(t), ProductionDay: 7 * time.Hour, Panels: []Panel{week(days, 10*time.Second)}})
		d.clean(t)
		d.says(t, "Cooper 12-7", "TK-1001", "A-COOPER-TK-1001-20260302T1600Z", "12-06-0 to 02-08-2, 197.2 bbl ± 0.4", "12-06-0 = ", "02-08-2 = ",
			"recirc: 10.2 bbl left and came back", "Mon 2 Mar", "12:00", "production day 2 Mar", `12' 0"`, "bad reading")
		if days > 2 {
			d.says(t, "review: data gap 42 min", "uncertain by 4.3 bbl", "load that a person should look at")
		}
		if d.size > 100_000 {
			t.Errorf("%d days: %d bytes", days, d.size)
		}
	}
}

// A phone shows the picture of a load whole: nothing hangs over, and both gauges are there. In the night in which an hour comes twice
// the two are told apart.
func TestALoadIsReadableOnAPhone(t *testing.T) {
	start := time.Date(2026, 11, 1, 6, 20, 0, 0, time.UTC) // 01:20 CDT
	p := Panel{Name: "TK-1", Table: tank.Cylinder(144, 240), Level: &Series{}}
	for at := -20 * time.Minute; at <= 75*time.Minute; at += time.Minute {
		p.Level.Add(start.Add(at), 1, at+time.Hour, 196.5-math.Max(0, math.Min(3*at.Minutes(), 95)), true)
	}
	p.Loads = []Load{{Number: "A-SMITH4-TK-1-20261101T0620Z", Start: start, End: start.Add(32 * time.Minute), Open: 196.5, Close: 101.5, Bbl: 159.5, Error: 0.3}}
	d := draw(t, Picture{Title: "TK-1, 159.5 bbl", Zone: chicago(t), ProductionDay: 7 * time.Hour, Wide: 360, Panels: []Panel{p}})
	d.clean(t)
	d.says(t, "1 November 2026 01:00 CDT to 01:35 CST", "A-SMITH4-TK-1-20261101T0620Z", "16-04-2", "08-05-2", "production day begins")
}

func TestManyTanksForALongTimeStaySmall(t *testing.T) {
	p := Picture{Title: "Many", Zone: chicago(t), ProductionDay: 7 * time.Hour}
	for i := range 6 {
		tank := week(31, 30*time.Second)
		tank.Name = fmt.Sprintf("TK-%d", i)
		p.Panels = append(p.Panels, tank)
	}
	d := draw(t, p)
	d.clean(t)
	d.says(t, "197 bbl", "TK-5")
	if d.size > 300_000 {
		t.Errorf("%d bytes", d.size)
	}
}

func TestLabelsWithoutRoomAreCounted(t *testing.T) {
	p := week(1, time.Minute)
	p.Loads, p.Events = nil, nil
	for i := range 300 {
		at := begin.Add(time.Duration(i) * 4 * time.Minute)
		p.Loads = append(p.Loads, Load{Number: "A", Start: at, End: at.Add(time.Minute), Open: 150, Close: 140, Bbl: 17})
		p.Events = append(p.Events, tank.Event{Rule: "bad-value", Start: at, End: at.Add(time.Minute)})
	}
	d := draw(t, Picture{Title: "Full", Zone: time.UTC, Panels: []Panel{p}})
	d.clean(t)
	d.says(t, "labels found no room; cut the picture with --from, --to or --tank")
}

func TestNamesCannotBreakThePicture(t *testing.T) {
	evil := "</text><script>alert(1)</script> & \"'\x00\x1b\ufffe\xff"
	p := week(1, time.Minute)
	p.Name, p.About, p.Loads[0].Number, p.Loads[0].Review = evil, evil, evil, evil
	p.Events[0].Rule, p.Events[0].Note = evil, evil
	d := draw(t, Picture{Title: evil, Zone: time.UTC, Panels: []Panel{p}})
	d.says(t, "</text><script>alert(1)</script> & \"'??")
}

func TestNothingToDraw(t *testing.T) {
	draw(t, Picture{}).clean(t)
	at := begin.Add(time.Hour)
	for _, p := range []Picture{
		{Panels: []Panel{{Name: "TK-1"}}},
		{Panels: []Panel{{Name: "TK-1", Level: &Series{}, Table: tank.Cylinder(144, 240)}}, From: at},
		{Panels: []Panel{{Name: "TK-1", Level: &Series{}}}, To: at},
		{Panels: []Panel{{Name: "TK-1", Level: &Series{}}}, From: at, To: at},
	} {
		d := draw(t, p)
		d.clean(t)
		d.says(t, "no level was read in this time")
	}
	var one Series
	one.Add(at, 1, 0, 100, true)
	draw(t, Picture{Panels: []Panel{{Name: "TK-1", Level: &one}}}).clean(t)
}

func TestACutShowsOnlyItsTime(t *testing.T) {
	p := Picture{Title: "Cut", Zone: time.UTC, Panels: []Panel{week(3, 10*time.Second)}, From: begin.Add(33 * time.Hour), To: begin.Add(36 * time.Hour)}
	d := draw(t, p)
	d.clean(t)
	d.says(t, "A-COOPER-TK-1001-20260303T1600Z", "15:30")
	if strings.Contains(d.all, "20260302T1600Z") || strings.Contains(d.all, "20260304T1600Z") {
		t.Error("loads of other days are drawn")
	}
}
