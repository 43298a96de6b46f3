package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud/cloudtest"
)

func TestAllPages(t *testing.T) {
	cases := []struct {
		name          string
		devices, size int
		service       *cloudtest.Service
		requests      int
	}{
		{"whole pages", 20, 10, &cloudtest.Service{}, 3},
		{"a short page", 25, 10, &cloudtest.Service{}, 3},
		{"the service's limit is smaller than what is asked for", 25, 1000, &cloudtest.Service{MaxPage: 10}, 3},
		{"the service's own size", 7, 0, &cloudtest.Service{DevicesPerPage: 3, ListName: "items"}, 3},
		{"one page", 5, 10, &cloudtest.Service{}, 2},
		{"none", 0, 10, &cloudtest.Service{}, 1},
	}
	for _, c := range cases {
		s := c.service
		for i := range c.devices {
			s.AddDevices(cloudtest.Device{ID: fmt.Sprint(i), Name: "d"})
		}
		seen := map[string]int{}
		err := keyed(t, "", s).AllDevices(t.Context(), DeviceQuery{PageSize: c.size}, func(p Page[Device]) error {
			for _, d := range p.Items {
				seen[d.ID]++
			}
			return nil
		})
		if err != nil || len(seen) != c.devices || s.Count("QueryDevices") != c.requests {
			t.Errorf("%s: %v, %d devices, %d requests", c.name, err, len(seen), s.Count("QueryDevices"))
		}
		for id, n := range seen {
			if n != 1 {
				t.Errorf("%s: device %s came %d times", c.name, id, n)
			}
		}
	}
}

// TestRepeatedPage: a service that does not know pageNumber gives the same page for ever.
func TestRepeatedPage(t *testing.T) {
	s := &cloudtest.Service{Fault: func(cloudtest.Call) *cloudtest.Fault {
		return &cloudtest.Fault{Body: `{"at":"` + time.Now().String() + `","events":[{"ruleName":"gap"},{"ruleName":"step"}]}`}
	}}
	given := 0
	q := EventQuery{Type: "Diagnostic", Start: time.Now().Add(-time.Hour), End: time.Now()}
	err := keyed(t, "", s).AllEvents(t.Context(), q, func(p Page[Event]) error { given += len(p.Items); return nil })
	if err != nil || given != 2 || s.Count("GetEvents") != 2 {
		t.Errorf("%v, %d events in %d requests", err, given, s.Count("GetEvents"))
	}
}

func TestPagesEndAtErrors(t *testing.T) {
	s := &cloudtest.Service{DevicesPerPage: 1}
	s.AddDevices(cloudtest.Device{ID: "1"}, cloudtest.Device{ID: "2"})
	c := keyed(t, "", s)
	stop := errors.New("enough")
	if err := c.AllDevices(t.Context(), DeviceQuery{}, func(Page[Device]) error { return stop }); !errors.Is(err, stop) || s.Count("QueryDevices") != 1 {
		t.Errorf("%v after %d requests", err, s.Count("QueryDevices"))
	}
	s.Next(cloudtest.Fault{}, cloudtest.Fault{Status: 500})
	if e, ok := errors.AsType[*Error](c.AllDevices(t.Context(), DeviceQuery{}, func(Page[Device]) error { return nil })); !ok || e.Status != 500 {
		t.Errorf("%v", e)
	}
	s.Next(cloudtest.Fault{Body: `{"a":[],"b":[]}`})
	raw := ""
	err := c.AllDevices(t.Context(), DeviceQuery{}, func(p Page[Device]) error { raw = string(p.Raw); return nil })
	if !errors.Is(err, ErrShape) || raw != `{"a":[],"b":[]}` {
		t.Errorf("another shape: %v, %s", err, raw)
	}
}

// TestRoundTripOfEvents reads back what was saved.
func TestRoundTripOfEvents(t *testing.T) {
	c := keyed(t, "", &cloudtest.Service{})
	e := someEvent()
	if err := Save(t.Context(), c, SaveDiagnosticEvents, "", Wire.EncodeEvent, e); err != nil {
		t.Fatal(err)
	}
	read := func(from, to time.Time) []Event {
		p, err := c.GetEvents(t.Context(), EventQuery{Type: "Diagnostic", Start: from, End: to, ObjectID: deviceGUID, ObjectType: "Device"})
		if err != nil {
			t.Fatal(err)
		}
		return p.Items
	}
	got := read(e.Start, e.Start.Add(time.Second))
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	for what, right := range map[string]bool{
		"ID":          got[0].ID != "",
		"rule":        got[0].Rule == e.Rule,
		"note":        got[0].Note == e.Note,
		"object":      got[0].ObjectID == e.ObjectID,
		"object type": got[0].ObjectType == "Device",
		"start":       got[0].Start == "2026-03-02T13:04:00Z",
		"end":         got[0].End == "2026-03-02T14:00:00Z",
	} {
		if !right {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := read(e.Start.Add(-time.Hour), e.Start); len(got) != 0 {
		t.Errorf("the end of the range is exclusive: %+v", got)
	}
}

func TestQueriesThatMakeNoSense(t *testing.T) {
	s := &cloudtest.Service{}
	c := keyed(t, "", s)
	now := time.Now()
	good := EventQuery{Type: "Alarm", Start: now.Add(-time.Hour), End: now}
	events := map[string]func(*EventQuery){
		"event type":      func(q *EventQuery) { q.Type = "alarm" },
		"time query type": func(q *EventQuery) { q.TimeQueryType = "Start" },
		"object type":     func(q *EventQuery) { q.ObjectID = deviceGUID },
		"not a GUID":      func(q *EventQuery) { q.OrganizationID = "1" },
		"later end":       func(q *EventQuery) { q.End = q.Start },
		"count from 1":    func(q *EventQuery) { q.Page = -1 },
	}
	for want, spoil := range events {
		q := good
		spoil(&q)
		if _, err := c.GetEvents(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	devices := map[string]DeviceQuery{
		"text match": {TextMatch: "exact"}, "included": {Include: []string{"tag"}}, "comma": {IDs: []string{"a,b"}}, "count": {PageSize: -1},
	}
	for want, q := range devices {
		if _, err := c.QueryDevices(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if len(s.Calls()) != 0 {
		t.Errorf("%d requests were made", len(s.Calls()))
	}
	if _, err := c.GetEvents(context.Background(), good); err != nil {
		t.Error(err)
	}
}

func TestPaths(t *testing.T) {
	const doc = `{"data":{"items":[{"id":7,"name":null,"x":{"y":[["a"],["b","c"]]}}],"other":1},"top":"t"}`
	cases := map[string]string{
		"top": "t", "data.items[0].id": "7", "data.items[0].x.y[1][1]": "c", "data.items[0].name|top": "t", "none | data.other": "1",
		"data.items[1].id": "", "data.items.id": "", "top.x": "", "data": "", "Top": "", "": "",
	}
	for path, want := range cases {
		if got := text(json.RawMessage(doc), path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, bad := range []string{".", "a.", "a..b", "a|", "a[", "a[]", "a[x]", "a[-1]", "a[0]b", "a[99999999]"} {
		if p, err := parsePath(bad); err == nil {
			t.Errorf("%q was read as %v", bad, p)
		}
	}
}

func TestShapes(t *testing.T) {
	w := DefaultWire()
	good := []string{`[{"id":1}]`, `{"value":[{"deviceId":1}],"count":1}`, ` {"items":[{"guid":1}]} `}
	for _, body := range good {
		if d, err := w.readDevices([]byte(body)); err != nil || len(d.Items) != 1 || d.Items[0].ID != "1" {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
	}
	bad := []string{``, `null`, `7`, `"x"`, `{}`, `{"items":{}}`, `[{"unknown":1}]`, `[7]`, `[null]`, `{"a":[],"b":[]}`, `[{"id":1}`, `<html>`,
		`{"httpStatusCode":503,"items":[]}`, `{"message":"Forbidden","errors":[]}`, `{"errorDescription":"later","value":[]}`}
	for _, body := range bad {
		if d, err := w.readDevices([]byte(body)); !errors.Is(err, ErrShape) || d.Items != nil {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
		if e, err := w.readEvents([]byte(body)); !errors.Is(err, ErrShape) && body != `[{"id":1}]` || e.Items != nil {
			t.Errorf("%s: %+v, %v", body, e, err)
		}
	}
	for _, body := range []string{`[]`, `{"items":[]}`, `{"message":"ok","httpStatusCode":200,"value":[]}`} {
		if d, err := w.readDevices([]byte(body)); err != nil || len(d.Items) != 0 {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
	}
	w.Devices.List = "result.page"
	if d, err := w.readDevices([]byte(`{"result":{"page":[]},"more":[1]}`)); err != nil || len(d.Items) != 0 {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := w.readDevices([]byte(`[]`)); !errors.Is(err, ErrShape) {
		t.Errorf("a path that leads nowhere: %v", err)
	}
}

// TestAnElementThatIsNoneCostsOnlyItself: a list goes on after it, and says where it stood.
func TestAnElementThatIsNoneCostsOnlyItself(t *testing.T) {
	s := &cloudtest.Service{}
	s.Next(cloudtest.Fault{Body: `[{"id":"1"},7,{"id":"2"},null]`}, cloudtest.Fault{Body: `[{"id":"3"},{"id":"4"},[],{"id":"5"}]`}, cloudtest.Fault{Body: `[]`})
	var ids []string
	var odd [][]int
	err := keyed(t, "", s).AllDevices(t.Context(), DeviceQuery{}, func(p Page[Device]) error {
		for _, d := range p.Items {
			ids = append(ids, d.ID)
		}
		odd = append(odd, p.Odd)
		return nil
	})
	if err != nil || strings.Join(ids, "") != "12345" || fmt.Sprint(odd) != "[[1 3] [2]]" {
		t.Errorf("%v: devices %v, and odd ones at %v", err, ids, odd)
	}
	if e, err := DefaultWire().readEvents([]byte(`[{"ruleName":"gap"},{"id":1}]`)); err != nil || len(e.Items) != 1 {
		t.Errorf("events: %+v, %v", e, err)
	}
}

// TestListsOfTheServiceHaveLimits: what a few bytes each unfold to took 300 MB for an answer of 4 MB, at each start.
func TestListsOfTheServiceHaveLimits(t *testing.T) {
	cases := map[string]struct {
		body, want string
	}{
		"a million elements":          {"[" + strings.Repeat("{},", 1_390_000) + "{}]", "more than 20000 elements"},
		"within an object":            {`{"value":[` + strings.Repeat("7,", 2_000_000) + "7]}", "more than 20000 elements"},
		"a million members":           {"{" + strings.Repeat(`"":0,`, 800_000) + `"":0}`, "0 lists"},
		"a million lists":             {"{" + strings.Repeat(`"":[],`, 690_000) + `"":[]}`, "690001 lists"},
		"nested":                      {strings.Repeat("[", 4_000_000), "nested more than 100 deep"},
		"nested in an element":        {`[{"id":"1","geo":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + "}]", "nested more than 100 deep"},
		"one element of a million":    {`[{"id":[` + strings.Repeat("7,", 2_000_000) + "7]}]", "no id"},
		"a text that is never closed": {`["` + strings.Repeat(`\"`, 2_000_000), "no JSON"},
	}
	for name, c := range cases {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := DefaultWire().readDevices([]byte(c.body))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrShape) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc - uint64(len(c.body)); took > 8<<20 {
			t.Errorf("%s: %d bytes beside the answer's own %d", name, took, len(c.body))
		}
	}
	most := "[" + strings.Repeat(`{"id":1},`, mostElements-1) + `{"id":1}]`
	if d, err := DefaultWire().readDevices([]byte(most)); err != nil || len(d.Items) != mostElements {
		t.Errorf("as many as may be: %d, %v", len(d.Items), err)
	}
}
