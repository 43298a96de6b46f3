package page

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

var update = flag.Bool("update", false, "write openapi.json anew from the types")

type thing = map[string]any

// asked are the addresses of the contract, and what a program gets there.
var asked = []struct {
	path, summary string
	answer        any
}{
	{"/api/v1/site", "All that is known of the site.", control.Report{}},
	{"/api/v1/tanks", "The tanks, in the order of the configuration.", []control.TankReport{}},
	{"/api/v1/tickets", "The newest fifty tickets and the others of the last one's production day, the newest first.", []control.TicketReport{}},
	{"/api/v1/tickets/{name}", "One ticket, by its number or by what it is called until it has one.", control.TicketReport{}},
	{"/api/v1/problems", "What a person should look at, the dearest first.", []control.Problem{}},
	{"/readyz", "Whether a person is needed, and why: 200 when nobody is, 503 when somebody is.", readiness{}},
}

// schemaNames are those of types whose own names say too little.
var schemaNames = map[string]string{
	"control.Report": "Site", "control.TankReport": "Tank", "control.TicketReport": "Ticket", "control.StreamReport": "Stream",
	"control.PointReading": "Point", "control.LineStatus": "Line", "control.RoundStatus": "Round", "control.DrainStatus": "Sending",
	"control.Isolated": "Apart", "keys.Status": "Key", "link.Status": "Link", "flash.Figures": "Written", "ledger.RecorderStatus": "Recorder",
	"tank.Moment": "LevelAt", "filling.Moment": "Expected", "tank.Verdict": "Movement", "page.readiness": "Readiness", "page.failure": "Failure",
	"ledger.Finding": "Learned", "audit.Entry": "Change", "ledger.HoldOrder": "Hold",
}

// words that a field may have, by schema and field.
var enumerations = map[string][]string{
	"Site.clock": {"unset", "set", "assumed", "trusted"}, "Answer.about": {"reading", "sending", "clock", "keys"},
	"Answer.state": {control.Well, control.Unknown, control.Bad}, "Problem.cost": {control.Tickets, control.Readings, control.Rest},
	"Tank.quality": {"good", "uncertain", "bad"}, "Point.quality": {"good", "uncertain", "bad"},
	"Tank.phase":            {"waiting", "idle", "drawing", "confirming", "not watched for loads"},
	"Tank.service_knows_it": {"", ledger.Known, ledger.Unknown, ledger.Unclear},
	"Ticket.state":          {"held", "waiting", "delivered", "refused", "dropped", "rejected", "left"},
	"Sending.activity":      {"", "idle", "gathering", "pacing", "sending", "waiting", "paused"},
	"Key.slot":              {"primary", "secondary"}, "Key.state": {"untried", "proven", "refused"}, "Key.source": {"file", "renewal", "login"},
	"Change.result": {"done", "failed", "denied"},
	"Movement.what": {"lact", "small", "loss", "unseen", "water", "transfer", "recirc", "echo", "waiting"},
}

// raw fields hold JSON of several types.
var rawTypes = map[string]any{"Point.value": []string{"number", "string", "null"}, "Ticket.sent": "object"}

// units of figures by the end of their names, and of the others by their schema and name.
var units = []struct{ end, unit string }{
	{"_in", "in"}, {"_bbl", "bbl"}, {"_bbl_per_hour", "bbl/h"}, {"_s", "s"}, {"_bytes", "byte"}, {"_degf", "degF"}, {"_percent", "%"},
	{"LevelAt.in", "in"}, {".bbl", "bbl"}, {".bytes", "byte"}, {".bytes_a_day", "byte/d"}, {".max_bytes_per_day", "byte/d"}, {".bytes_left", "byte"},
	{"Undecoded.left", "byte"}, {".years_of_flash", "a"}, {".api60", "degAPI"},
	{"Site.box", "in its name"}, {".confidence", "1"}, {".load", "1"}, {".specific_gravity", "1"}, {"_ctl", "1"},
}

// describer makes schemas of types; what fields are is in their comments.
type describer struct {
	t        *testing.T
	schemas  thing
	comments map[string]map[string]string // by the folder: Type.Field
}

func (d *describer) schema(of reflect.Type, where string) thing {
	switch {
	case of == reflect.TypeFor[time.Time]():
		return thing{"type": "string", "format": "date-time"}
	case of == reflect.TypeFor[json.RawMessage]():
		return thing{"type": rawTypes[where]}
	}
	switch of.Kind() {
	case reflect.Pointer:
		return d.schema(of.Elem(), where)
	case reflect.Slice:
		return thing{"type": "array", "items": d.schema(of.Elem(), where)}
	case reflect.Map:
		return thing{"type": "object", "additionalProperties": d.schema(of.Elem(), where)}
	case reflect.Struct:
		return thing{"$ref": "#/components/schemas/" + d.object(of)}
	case reflect.Bool:
		return thing{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return thing{"type": "number", "x-unit": d.unit(where)}
	case reflect.String:
		s := thing{"type": "string"}
		if words := enumerations[where]; words != nil {
			s["enum"] = words
		}
		return s
	}
	s := thing{"type": "integer"}
	for _, u := range units {
		if strings.HasSuffix(where, u.end) {
			s["x-unit"] = u.unit
		}
	}
	return s
}

func (d *describer) unit(where string) string {
	for _, u := range units {
		if strings.HasSuffix(where, u.end) {
			return u.unit
		}
	}
	d.t.Errorf("%s is a figure of which nobody knows the unit", where)
	return ""
}

// object describes a struct and returns its name.
func (d *describer) object(of reflect.Type) string {
	name := schemaNames[of.String()]
	if name == "" {
		name = of.Name()
	}
	if d.schemas[name] == nil {
		s := thing{"type": "object"}
		d.schemas[name] = s
		fields := thing{}
		required := d.fields(of, name, fields)
		slices.Sort(required)
		s["properties"], s["required"] = fields, slices.Compact(required)
	}
	return name
}

// fields adds those of a struct, its own before those of what is embedded in it, as encoding/json does.
func (d *describer) fields(of reflect.Type, name string, fields thing) (required []string) {
	var embedded []reflect.Type
	for f := range of.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && key == "":
			embedded = append(embedded, f.Type)
			continue
		case key == "-" || !f.IsExported():
			continue
		case key == "":
			d.t.Errorf("%s.%s has no name of its own", name, f.Name)
			continue
		case fields[key] != nil:
			continue
		}
		s := d.schema(f.Type, name+"."+key)
		if optional := strings.Contains(options, "omit"); !optional {
			required = append(required, key)
			if f.Type.Kind() == reflect.Pointer {
				s["type"] = []any{s["type"], "null"}
			}
		}
		if text := d.comment(of, f.Name); text != "" {
			s["description"] = strings.NewReplacer("zero: ", "absent: ", "nil: ", "absent: ").Replace(text)
		}
		fields[key] = s
	}
	for _, e := range embedded {
		required = append(required, d.fields(e, name, fields)...)
	}
	return required
}

// comment is what stands behind a field in its source.
func (d *describer) comment(of reflect.Type, field string) string {
	folder := filepath.Join("..", "..", strings.TrimPrefix(of.PkgPath(), "gauger/"))
	if d.comments[folder] == nil {
		d.comments[folder] = map[string]string{}
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(names) == 0 {
			d.t.Fatalf("no source in %s: %v", folder, err)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				d.t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.TypeSpec); ok {
					if fields, ok := spec.Type.(*ast.StructType); ok {
						for _, f := range fields.Fields.List {
							for _, id := range f.Names {
								d.comments[folder][spec.Name.Name+"."+id.Name] = strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
							}
						}
					}
				}
				return true
			})
		}
	}
	return d.comments[folder][of.Name()+"."+field]
}

// described is the description as the types make it.
func described(t *testing.T) thing {
	d := describer{t, thing{}, map[string]map[string]string{}}
	text := func(about string) thing {
		return thing{"description": about, "content": thing{"text/plain": thing{"schema": thing{"type": "string"}}}}
	}
	of := func(about string, v any) thing {
		return thing{"description": about, "content": thing{"application/json": thing{"schema": d.schema(reflect.TypeOf(v), "")}}}
	}
	paths := thing{
		"/healthz":             thing{"get": thing{"operationId": "healthz", "summary": "Whether a restart would help.", "responses": thing{"200": text("It would not."), "503": text("It would; why.")}}},
		"/metrics":             thing{"get": thing{"operationId": "metrics", "summary": "For Prometheus.", "responses": thing{"200": text("Its text format."), "503": text("Asked too often.")}}},
		"/api/v1/openapi.json": thing{"get": thing{"operationId": "openapi", "summary": "This description.", "responses": thing{"200": thing{"description": "OpenAPI 3.1"}}}},
	}
	for _, a := range asked {
		responses := thing{"200": of("As asked for.", a.answer), "500": of("It could not be found out.", failure{}), "503": of("Asked too often, the store cannot be opened, or gauger is ending.", failure{})}
		get := thing{"operationId": strings.NewReplacer("/api/v1/", "", "/{", "By_", "}", "", "/", "").Replace(a.path), "summary": a.summary, "responses": responses}
		switch a.path {
		case "/readyz":
			get["responses"] = thing{"200": of("Nobody is needed.", a.answer), "503": of("Somebody is.", a.answer)}
		case "/api/v1/tickets/{name}":
			responses["404"] = of("There is no such ticket.", failure{})
			get["parameters"] = []any{thing{"name": "name", "in": "path", "required": true, "schema": thing{"type": "string"}}}
		}
		paths[a.path] = thing{"get": get}
	}
	return thing{
		"openapi": "3.1.0",
		"info": thing{"title": "gauger", "version": "1", "description": "A well site as its gauger sees it. Nothing can be changed through it. " +
			"Names may be added; those that are here stay. What is not known is absent, or null where a figure always has its place; lists are never null. " +
			"Times are RFC 3339. x-unit is the unit of a figure, 1 for a ratio; whole numbers without one are counts."},
		"paths": paths, "components": thing{"schemas": d.schemas},
	}
}

// TestTheDescriptionIsOfTheseTypes: openapi.json says what the types say. Whoever changes one writes it anew with
// go test ./agent/page -run Description -update, and looks at what changed: it is a contract.
func TestTheDescriptionIsOfTheseTypes(t *testing.T) {
	want, err := json.MarshalIndent(described(t), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	innermost, space := regexp.MustCompile(`(?s)[{\[]\n[^{}\[\]]*[}\]]`), regexp.MustCompile(`\n *`)
	want = innermost.ReplaceAllFunc(want, func(b []byte) []byte { return space.ReplaceAll(b, nil) }) // a field a line
	want = append(innermost.ReplaceAllFunc(want, func(b []byte) []byte { return space.ReplaceAll(b, nil) }), '\n')
	if *update {
		if err := os.WriteFile("openapi.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("openapi.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("openapi.json is not what the types say (%v): go test ./agent/page -run Description -update, and read the difference", err)
	}
}
