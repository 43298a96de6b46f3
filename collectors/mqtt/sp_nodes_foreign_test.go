package mqtt

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
)

// edge is an edge node in a process of its own, with an encoder that is not ours.
type edge struct {
	t     *testing.T
	in    io.Writer
	said  chan map[string]any
	heard chan map[string]any
	seq   int
}

// thing is a JSON object.
type thing = map[string]any

func newEdge(t *testing.T, url string) *edge {
	t.Helper()
	node, folder := collectorstest.NodeModules(t, "testdata/node/package.json", "sparkplug-payload")
	cmd := exec.CommandContext(t.Context(), node, "testdata/node/edge.js", folder, url, "spBv1.0/Lease/NCMD/Edge")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	complaints := &strings.Builder{}
	cmd.Stderr = complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	e := &edge{t: t, in: in, said: make(chan thing, 100), heard: make(chan thing, 100)}
	go func() {
		defer close(e.said)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var what thing
			if json.Unmarshal(lines.Bytes(), &what) != nil {
				continue
			}
			if what["heard"] != nil {
				e.heard <- what
			} else {
				e.said <- what
			}
		}
	}()
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("the edge node: %v\n%s", err, complaints)
		}
	})
	return e
}

// do has one thing done, and waits until it is.
func (e *edge) do(order thing) {
	e.t.Helper()
	line, err := json.Marshal(order)
	if err == nil {
		_, err = fmt.Fprintf(e.in, "%s\n", line)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	select {
	case said, ok := <-e.said:
		if !ok || said["error"] != nil {
			e.t.Fatalf("the edge node says %v", said)
		}
	case <-time.After(patienceOfTests):
		e.t.Fatalf("the edge node does not do %s", line)
	}
}

// tell publishes a payload with the next number.
func (e *edge) tell(kind, device string, metrics ...thing) {
	e.t.Helper()
	if kind == "NBIRTH" {
		e.seq = 0
	}
	topic := strings.TrimSuffix("spBv1.0/Lease/"+kind+"/Edge/"+device, "/")
	e.do(thing{"topic": topic, "payload": thing{"timestamp": time.Now().UnixMilli(), "seq": e.seq % 256, "metrics": metrics}})
	e.seq++
}

// live connects with a will, and tells the births.
func (e *edge) live(bdSeq int) {
	e.t.Helper()
	e.do(thing{"topic": "spBv1.0/Lease/NDEATH/Edge", "will": thing{"timestamp": time.Now().UnixMilli(), "metrics": []thing{{"name": "bdSeq", "type": "UInt64", "value": bdSeq}}}})
	e.births(bdSeq)
}

func (e *edge) births(bdSeq int) {
	e.t.Helper()
	e.tell("NBIRTH", "", thing{"name": "bdSeq", "type": "UInt64", "value": bdSeq}, thing{"name": "Node Control/Rebirth", "type": "Boolean", "value": false},
		thing{"name": "Battery", "alias": 1, "type": "Float", "value": 12.3})
	e.tell("DBIRTH", "PLC", born("Tank 1/Level", 17, "Double", 120.5), born("i8", 18, "Int8", -5), born("i16", 19, "Int16", -1234), born("i32", 20, "Int32", -100000),
		born("i64", 21, "Int64", thing{"long": "-9007199254740993"}), born("u8", 22, "UInt8", 200), born("u16", 23, "UInt16", 65535), born("u32", 24, "UInt32", 4294967295),
		born("u64", 25, "UInt64", thing{"long": "18446744073709551615"}), born("bool", 26, "Boolean", true), born("word", 27, "String", "open"),
		born("digits", 28, "String", "7.25"), born("set", 29, "DataSet", thing{"numOfColumns": 1, "columns": []string{"a"}, "types": []string{"Double"}, "rows": [][]float64{{1}}}),
		born("raw", 30, "Bytes", thing{"bytes": "abc"}), born("udt", 31, "Template", thing{"isDefinition": false, "templateRef": "Tank", "metrics": []thing{born("x", 0, "Int32", 1)}}))
}

// born is a metric with its alias.
func born(name string, alias int, kind string, value any) thing {
	m := thing{"name": name, "type": kind, "value": value, "timestamp": time.Now().UnixMilli()}
	if alias > 0 {
		m["alias"] = alias
	}
	return m
}

// told is a metric by its alias alone.
func told(alias int, kind string, value any, more ...any) thing {
	m := thing{"alias": alias, "type": kind, "value": value, "timestamp": time.Now().UnixMilli()}
	for i := 0; i < len(more); i += 2 {
		m[more[i].(string)] = more[i+1]
	}
	return m
}

// rebirth waits for the request to tell the births again.
func (e *edge) rebirth() {
	e.t.Helper()
	select {
	case heard := <-e.heard:
		m := heard["metrics"].([]any)[0].(thing)
		if len(heard["metrics"].([]any)) != 1 || m["name"] != "Node Control/Rebirth" || m["type"] != "Boolean" || m["value"] != true {
			e.t.Fatalf("the node was told %v, want the Boolean Node Control/Rebirth alone, true", heard)
		}
	case <-time.After(patienceOfTests):
		e.t.Fatal("nobody asks for a birth")
	}
}

func sparkplugDevice(url string) Device {
	d := Device{Name: "edge", Brokers: Brokers{url}, ClientID: "gauger-test", Points: []Point{{Name: "battery", Sparkplug: "Lease/Edge", Metric: "Battery", Unit: "V"}}}
	for _, name := range strings.Fields("i8 i16 i32 i64 u8 u16 u32 u64 bool digits set raw udt") {
		d.Points = append(d.Points, Point{Name: name, Sparkplug: "Lease/Edge/PLC", Metric: name})
	}
	d.Points = append(d.Points, Point{Name: "word", Sparkplug: "Lease/Edge/PLC", Metric: "word", Unit: "text"},
		Point{Name: "level", Sparkplug: "Lease/Edge/PLC", Metric: "Tank 1/Level", Unit: "in", Range: []float64{0, 240}})
	return d
}

// last waits until the newest reading of a point fulfils a condition.
func (h *memo) last(t testing.TB, point, what string, is func(r collectors.Reading) bool) collectors.Reading {
	t.Helper()
	var found collectors.Reading
	h.until(t, point+" is "+what, func() bool {
		all := h.readings(point)
		if len(all) > 0 {
			found = all[len(all)-1]
		}
		return len(all) > 0 && is(found)
	})
	return found
}

func is(v float64, q collectors.Quality) func(collectors.Reading) bool {
	return func(r collectors.Reading) bool { return r.Value == v && r.Quality == q }
}

const fine = collectors.Good

func bad(r collectors.Reading) bool { return r.Quality == collectors.Bad }

// TestSparkplugOfAStranger reads an edge node whose payloads npm's sparkplug-payload encodes, through Mosquitto.
func TestSparkplugOfAStranger(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	e := newEdge(t, m.url("mqtt"))
	h := newMemo()
	c := collect(t, Session{}, sparkplugDevice(m.url("mqtt")))
	start(t, h, c)
	connected(t, c)
	e.live(3)
	h.last(t, "edge/battery", "12.3", is(12.3, fine))
	for point, v := range map[string]float64{"level": 120.5, "i8": -5, "i16": -1234, "i32": -100000, "u8": 200, "u16": 65535, "u32": 4294967295, "bool": 1, "digits": 7.25} {
		h.last(t, "edge/"+point, "born", is(v, fine))
	}
	for point, text := range map[string]string{"i64": "-9007199254740993", "u64": "18446744073709551615", "word": "open"} {
		h.last(t, "edge/"+point, text, func(r collectors.Reading) bool { return r.Text == text && r.Quality == fine })
	}
	for point, part := range map[string]string{"set": "DataSet", "raw": "Bytes", "udt": "Template"} {
		if r := h.last(t, "edge/"+point, "refused", bad); !strings.Contains(r.Err.Error(), part) {
			t.Errorf("%s: %v", point, r.Err)
		}
	}
	h.until(t, "the birth is kept with the reasons", func() bool {
		return len(h.refused) == 1 && h.refused[0].Source == "spBv1.0/Lease/DBIRTH/Edge/PLC" && strings.Contains(h.refused[0].Err.Error(), "metric udt is a Template")
	})

	t.Log("data by alias, nulls and qualities")
	e.tell("DDATA", "PLC", told(17, "Double", 121.25), told(18, "Int8", nil))
	if r := h.last(t, "edge/level", "121.25", is(121.25, fine)); time.Since(r.At).Abs() > time.Minute {
		t.Errorf("at %s", r.At)
	}
	h.last(t, "edge/i8", "null", bad)
	e.tell("DDATA", "PLC", told(17, "Double", 121.5, "properties", thing{"Engineering": thing{"type": "String", "value": "in"}, "Quality": thing{"type": "Int32", "value": 500}}))
	if r := h.last(t, "edge/level", "stale", bad); !strings.Contains(r.Err.Error(), "stale") {
		t.Errorf("stale: %v", r.Err)
	}
	e.tell("DDATA", "PLC", told(17, "Double", 121.5, "properties", thing{"Quality": thing{"type": "Int32", "value": 192}}))
	h.last(t, "edge/level", "good", is(121.5, fine))

	t.Log("historical values")
	hour := time.Now().Add(-time.Hour)
	e.tell("DDATA", "PLC", told(17, "Double", 30, "isHistorical", true, "timestamp", hour.UnixMilli()), told(19, "Int16", 5))
	h.last(t, "edge/i16", "5", is(5, fine))
	for _, r := range h.all("edge/level") {
		if r.Past != (r.Value == 30) || r.Past && !r.At.Equal(hour.Truncate(time.Millisecond)) {
			t.Errorf("%v of the past: %t, at %s", r.Value, r.Past, r.At)
		}
	}

	e.loses(h)
	e.dies(h)
}

// loses is a message that never arrives: nothing by alias is sure before the births are told again.
func (e *edge) loses(h *memo) {
	t := e.t
	t.Helper()
	t.Log("a gap")
	for len(e.heard) > 0 { // what was asked for when the collector connected
		<-e.heard
	}
	e.seq++
	e.tell("DDATA", "PLC", told(17, "Double", 122))
	h.last(t, "edge/level", "uncertain", is(122, collectors.Uncertain))
	e.rebirth()
	e.births(3)
	h.last(t, "edge/level", "good again", is(120.5, fine))
}

// dies is the end of a node without a word, its return, and a death of before that comes late.
func (e *edge) dies(h *memo) {
	t := e.t
	t.Helper()
	t.Log("death")
	e.do(thing{"die": true})
	for _, p := range sparkplugDevice("").Points {
		if r := h.last(t, "edge/"+p.Name, "bad", bad); p.Metric != "set" && p.Metric != "raw" && p.Metric != "udt" && !strings.Contains(r.Err.Error(), "died") {
			t.Errorf("%s: %v", p.Name, r.Err)
		}
	}
	e.live(4)
	h.last(t, "edge/level", "alive", is(120.5, fine))
	e.do(thing{"topic": "spBv1.0/Lease/NDEATH/Edge", "payload": thing{"metrics": []thing{{"name": "bdSeq", "type": "UInt64", "value": 3}}}})
	e.tell("DDATA", "PLC", told(17, "Double", 123))
	h.last(t, "edge/level", "not touched by the death of an earlier life", is(123, fine))
	before := len(h.all("edge/level"))
	e.tell("DDEATH", "PLC")
	h.last(t, "edge/level", "bad", bad)
	e.tell("NDATA", "", told(1, "Float", 12.5))
	h.last(t, "edge/battery", "alive", is(12.5, fine))
	if n := len(h.all("edge/level")); n != before+1 {
		t.Errorf("%d readings of the level, want one more than %d", n, before)
	}
	if dead := h.noticed("comm-loss"); len(dead) < 4 {
		t.Errorf("told of deaths and births: %+v", dead)
	}
}
