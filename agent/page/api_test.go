package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/control"
	"gauger/agent/flash"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
)

// judge holds answers against a description.
type judge struct {
	t       *testing.T
	schemas thing
	seen    map[string]bool // Schema.field
}

// holds reports what of an answer is not as the schema says.
func (j *judge) holds(v any, schema thing, where string) {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		j.object(v, name, where)
		return
	}
	kinds, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		kinds = []any{kind}
	}
	kind := map[string]string{"<nil>": "null", "string": "string", "bool": "boolean", "float64": "number", "[]interface {}": "array", "map[string]interface {}": "object"}[fmt.Sprintf("%T", v)]
	if n, ok := v.(float64); ok && slices.Contains(kinds, any("integer")) && n == float64(int64(n)) {
		kind = "integer"
	}
	if !slices.Contains(kinds, any(kind)) {
		j.t.Errorf("%s is %v, and should be %v", where, v, kinds)
		return
	}
	if words, ok := schema["enum"].([]any); ok && !slices.Contains(words, v) {
		j.t.Errorf("%s is %q, which is none of %q", where, v, words)
	}
	if _, err := time.Parse(time.RFC3339, fmt.Sprint(v)); schema["format"] == "date-time" && err != nil {
		j.t.Errorf("%s: %v", where, err)
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			j.holds(x, schema["items"].(thing), fmt.Sprintf("%s[%d]", where, i))
		}
	case thing:
		for key, x := range v {
			if each, ok := schema["additionalProperties"].(thing); ok {
				j.holds(x, each, where+"."+key)
			}
		}
	}
}

func (j *judge) object(v any, name, where string) {
	got, ok := v.(thing)
	if !ok {
		j.t.Errorf("%s is %v, and should be a %s", where, v, name)
		return
	}
	schema := j.schemas[name].(thing)
	fields := schema["properties"].(thing)
	for key, x := range got {
		field, ok := fields[key].(thing)
		if !ok {
			j.t.Errorf("%s.%s is described nowhere", where, key)
			continue
		}
		j.seen[name+"."+key] = true
		j.holds(x, field, where+"."+key)
	}
	for _, key := range schema["required"].([]any) {
		if _, ok := got[key.(string)]; !ok {
			j.t.Errorf("%s lacks %s, which a %s always has", where, key, name)
		}
	}
}

// TestTheAnswersAreAsDescribed: what programs get, of a site in several states, is what openapi.json says, and a good part of what it
// says is seen.
func TestTheAnswersAreAsDescribed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		_, body := r.get("/api/v1/openapi.json")
		var description thing
		if err := json.Unmarshal([]byte(body), &description); err != nil {
			t.Fatal(err)
		}
		j := judge{t, description["components"].(thing)["schemas"].(thing), map[string]bool{}}
		check := func(ticket string) {
			ledgertest.Pass(madeFor)
			for path, operations := range description["paths"].(thing) {
				code, body := r.get(strings.Replace(path, "{name}", ticket, 1))
				response, ok := operations.(thing)["get"].(thing)["responses"].(thing)[fmt.Sprint(code)].(thing)
				if path == "/metrics" || path == "/api/v1/openapi.json" {
					continue // another room writes it; it is what is being read
				}
				if !ok {
					t.Errorf("%s answers %d, which is described nowhere", path, code)
					continue
				}
				var answer any
				if kind, ok := response["content"].(thing)["application/json"].(thing); !ok {
					continue
				} else if err := json.Unmarshal([]byte(body), &answer); err != nil {
					t.Errorf("%s: %v", path, err)
				} else {
					j.holds(answer, kind["schema"].(thing), path)
				}
			}
		}
		check("none")
		r.server.Lines = func() []control.LineStatus {
			return []control.LineStatus{{Line: "tcp://plc:502"}, {Line: "tcp://rtu:502", Rounds: []control.RoundStatus{{Device: "plc", Every: 1, Took: 0.5, At: time.Now()}}}}
		}
		r.server.Flash = flash.NewMeter(flash.Card{Bytes: 8e9, Cycles: 3000})
		for range 2 {
			r.Host("mqtt").Keeps(collectors.Refusal{Device: "radio", Source: "t", Raw: []byte("E05"), Err: errors.New("no number")})
		}
		r.status("open", "no alarm")
		for m := range 60 + 20 {
			for range 6 {
				r.Emit("level", 180-4*max(0, float64(m-60)))
				ledgertest.Pass(10 * time.Second)
			}
			r.Must(r.Tick(time.Now()))
		}
		check("none") // while it is hauled
		for range 90 {
			r.Emit("level", 104)
			ledgertest.Pass(time.Minute)
			r.Must(r.Tick(time.Now()))
		}
		o, err := r.server.Overview()
		if err != nil || len(o.Recent) != 1 {
			t.Fatalf("%d tickets, %v", len(o.Recent), err)
		}
		check(o.Recent[0].Name())
		r.Emit("level", 104, func(x *collectors.Reading) { x.Quality, x.Err = collectors.Bad, errors.New("no answer") })
		r.server.NoOutbox = func() error { return errors.New("the disk is read-only") }
		check(o.Recent[0].Name())
		for _, field := range []string{"Ticket.bbl", "Ticket.sent", "Tank.last_load", "Tank.going_on", "Tank.last_good", "Sending.why", "Problem.text", "Point.value", "Line.rounds", "Round.took_s",
			"Written.years_of_flash", "Undecoded.equal", "Key.slot", "Site.store_trouble", "Failure.error", "Readiness.why", "Movement.open_in", "Volumes.open_bbl"} {
			if !j.seen[field] {
				t.Errorf("no answer had %s; there were %q", field, slices.Sorted(maps.Keys(j.seen)))
				break
			}
		}
		if code, _ := r.get("/api/v1/tickets/none"); code != http.StatusServiceUnavailable {
			t.Errorf("without a store a ticket that nobody can look for answers %d", code)
		}
	})
}
