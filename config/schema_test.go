package config

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestSchemaTakesTheShippedFiles(t *testing.T) {
	for name, text := range map[string]string{"example": string(Example), "example with all": string(withLeftOut(Example)), "good": good(t)} {
		if faults := againstSchema(t, text); len(faults) > 0 {
			t.Errorf("%s: %s", name, strings.Join(faults, "\n"))
		}
	}
}

func TestSchemaRefusesWhatIsMisspelt(t *testing.T) {
	base := good(t)
	for _, c := range [][3]string{
		{"time_zone:", "timezone:", "timezone"},
		{"holding: 200", "holdin: 200", "devices"},
		{"sensor: radar", "sensor: radra", "sensor"},
		{"  url: https://api.example.com\n", "", "url"},
		{"{credential: primary-key}", "abc", "primary_key"},
		{"{credential: primary-key}", "{credential: a, env: b}", "primary_key"},
		{"[0, 240]", "0", "devices"},
		{"[120, 201.43]", "[120]", "strapping"},
		{"level: radio/tk2-level", "level: tk2-level", "level"},
		{"hold: 45m", "hold: 45", "hold"},
		{"    mqtt: mqtts://10.20.0.9:8883\n", "", "devices"},
	} {
		faults := againstSchema(t, strings.Replace(base, c[0], c[1], 1))
		if len(faults) == 0 || !strings.Contains(strings.Join(faults, " "), c[2]) {
			t.Errorf("%s: %v; want a fault at %s", c[1], faults, c[2])
		}
	}
}

func TestSchemaNamesItsDialect(t *testing.T) {
	var s map[string]any
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	if s["$schema"] != "https://json-schema.org/draft/2020-12/schema" || s["additionalProperties"] != false {
		t.Errorf("$schema %v, additionalProperties %v", s["$schema"], s["additionalProperties"])
	}
	loads := s["properties"].(map[string]any)["loads"].(map[string]any)["properties"].(map[string]any)
	if d := loads["min_load"].(map[string]any)["description"]; d == "" || d == nil {
		t.Error("no description from the doc tag")
	}
}

// againstSchema checks a YAML text with the part of JSON Schema that Schema uses; it knows nothing of our structs.
func againstSchema(t *testing.T, text string) []string {
	t.Helper()
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return faultsOf(schema, value, "")
}

func faultsOf(schema map[string]any, value any, at string) []string {
	for key := range schema {
		if !strings.Contains(" $schema title description type enum pattern properties additionalProperties required minProperties maxProperties items minItems maxItems oneOf ", " "+key+" ") {
			return []string{at + ": the checker does not know " + key}
		}
	}
	if alternatives, ok := schema["oneOf"].([]any); ok {
		return oneOf(alternatives, value, at)
	}
	if !typeFits(schema["type"], value) {
		return []string{fmt.Sprintf("%s: %T is not %v", at, value, schema["type"])}
	}
	switch v := value.(type) {
	case map[string]any:
		return objectFaults(schema, v, at)
	case []any:
		return arrayFaults(schema, v, at)
	case string:
		return textFaults(schema, v, at)
	}
	return nil
}

func oneOf(alternatives []any, value any, at string) []string {
	fits := 0
	var why []string
	for _, a := range alternatives {
		faults := faultsOf(a.(map[string]any), value, at)
		if len(faults) == 0 {
			fits++
		}
		why = append(why, faults...)
	}
	if fits == 1 {
		return nil
	}
	return append(why, fmt.Sprintf("%s: fits %d alternatives", at, fits))
}

func typeFits(want any, value any) bool {
	names := fmt.Sprint(want)
	has := func(name string) bool { return regexp.MustCompile(`\b` + name + `\b`).MatchString(names) }
	switch reflect.ValueOf(value).Kind() {
	case reflect.Map:
		return has("object")
	case reflect.Slice:
		return has("array")
	case reflect.String:
		return has("string")
	case reflect.Bool:
		return has("boolean")
	case reflect.Int:
		return has("integer") || has("number")
	case reflect.Float64:
		return has("number")
	}
	return false
}

func objectFaults(schema, v map[string]any, at string) []string {
	var out []string
	properties, _ := schema["properties"].(map[string]any)
	for key, inner := range v {
		p, ok := properties[key].(map[string]any)
		if !ok {
			p, ok = schema["additionalProperties"].(map[string]any)
		}
		if !ok {
			out = append(out, at+"."+key+": not allowed")
			continue
		}
		out = append(out, faultsOf(p, inner, at+"."+key)...)
	}
	required, _ := schema["required"].([]any)
	for _, key := range required {
		if _, ok := v[key.(string)]; !ok {
			out = append(out, fmt.Sprintf("%s.%v: missing", at, key))
		}
	}
	return append(out, countFaults(len(v), schema["minProperties"], schema["maxProperties"], at)...)
}

func arrayFaults(schema map[string]any, v []any, at string) []string {
	var out []string
	for i, inner := range v {
		out = append(out, faultsOf(schema["items"].(map[string]any), inner, fmt.Sprintf("%s[%d]", at, i))...)
	}
	return append(out, countFaults(len(v), schema["minItems"], schema["maxItems"], at)...)
}

func countFaults(n int, low, high any, at string) []string {
	if least, ok := low.(float64); ok && float64(n) < least {
		return []string{at + ": too few"}
	}
	if most, ok := high.(float64); ok && float64(n) > most {
		return []string{at + ": too many"}
	}
	return nil
}

func textFaults(schema map[string]any, v, at string) []string {
	if enum, ok := schema["enum"].([]any); ok && !strings.Contains(fmt.Sprintf(" %v ", enum), v) {
		return []string{at + ": not in the list"}
	}
	if pattern, ok := schema["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
		return []string{at + ": does not match " + pattern}
	}
	return nil
}
