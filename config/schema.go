package config

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/collectors/mqtt"
)

// Example is the shipped configuration: every key, with a word on each. It loads as it is.
//
//go:embed example.yaml
var Example []byte

// Schema is the JSON Schema (2020-12) of the file, made from the same structs that decode it, for editors and for
// programs that write configurations. It knows keys and shapes; what values mean together, only Load knows.
func Schema() []byte {
	root := describe(reflect.TypeFor[Config]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "gauger configuration"
	b, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("config: schema: " + err.Error()) // maps, slices and strings always marshal
	}
	return append(b, '\n')
}

type schemaObject = map[string]any

// specialSchema is the shape of the types that stand in the file otherwise than their fields say; nil for all others.
func specialSchema(t reflect.Type) schemaObject {
	switch t {
	case durationType:
		return schemaObject{"type": "string", "pattern": `^([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$`}
	case reflect.TypeFor[tank.Length](), reflect.TypeFor[Source](), reflect.TypeFor[Rate]():
		return schemaObject{"type": []string{"string", "number"}}
	case reflect.TypeFor[Size]():
		return schemaObject{"type": []string{"string", "integer"}}
	case reflect.TypeFor[TimeOfDay]():
		return schemaObject{"type": "string", "pattern": `^[0-2][0-9]:[0-5][0-9]$`}
	case reflect.TypeFor[Window]():
		return schemaObject{"type": "string", "pattern": `^ *[0-2][0-9]:[0-5][0-9] *- *[0-2][0-9]:[0-5][0-9] *$`}
	case reflect.TypeFor[Network]():
		return schemaObject{"type": "string", "pattern": `^ *[0-9a-fA-F.:]+(/[0-9]+)? *$`}
	case reflect.TypeFor[collectors.Point]():
		return schemaObject{"type": "string", "pattern": `^[^/]+/[^/]+$`}
	case reflect.TypeFor[Secret]():
		return describeSecret()
	case reflect.TypeFor[Strapping]():
		return schemaObject{"oneOf": []schemaObject{{"type": "string"}, {"type": "array", "items": describe(reflect.TypeFor[[2]float64]()), "minItems": 2}}}
	case reflect.TypeFor[mqtt.Brokers]():
		one := schemaObject{"type": "string"}
		return schemaObject{"oneOf": []schemaObject{one, {"type": "array", "items": one, "minItems": 1}}}
	case reflect.TypeFor[Device]():
		return describeDevice()
	}
	return nil
}

func describe(t reflect.Type) schemaObject {
	if own := specialSchema(t); own != nil {
		return own
	}
	switch t.Kind() {
	case reflect.Pointer:
		return describe(t.Elem())
	case reflect.Struct:
		return describeStruct(t)
	case reflect.Slice:
		return schemaObject{"type": "array", "items": describe(t.Elem())}
	case reflect.Array:
		return schemaObject{"type": "array", "items": describe(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return schemaObject{"type": "object", "additionalProperties": describe(t.Elem())}
	case reflect.Bool:
		return schemaObject{"type": "boolean"}
	case reflect.Float64:
		return schemaObject{"type": "number"}
	case reflect.String:
		return schemaObject{"type": []string{"string", "number"}} // an id of digits is a number to YAML
	}
	return schemaObject{"type": "integer"}
}

func describeStruct(t reflect.Type) schemaObject {
	properties := schemaObject{}
	required := []string{}
	for _, f := range fieldsOf(t) {
		p := describe(f.typ)
		p["description"] = f.doc
		if f.words != "" {
			p["type"], p["enum"] = "string", strings.Fields(f.words)
		}
		properties[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	out := schemaObject{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func describeSecret() schemaObject {
	out := schemaObject{"type": "object", "properties": schemaObject{}, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}
	for _, f := range fieldsOf(reflect.TypeFor[Secret]()) {
		out["properties"].(schemaObject)[f.name] = schemaObject{"type": "string", "description": f.doc}
	}
	return out
}

// describeDevice has one alternative for each kind, told apart by the key that only it has.
func describeDevice() schemaObject {
	var alternatives []schemaObject
	for _, kind := range kinds {
		entry := describeStruct(kind.entryType())
		entry["required"] = []string{"name", kind.key}
		if kind.addToSchema != nil {
			kind.addToSchema(entry["properties"].(schemaObject))
		}
		alternatives = append(alternatives, entry)
	}
	return schemaObject{"oneOf": alternatives}
}
