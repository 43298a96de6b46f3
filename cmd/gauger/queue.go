package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gauger/config"
)

// outgoingRecord is something for the service that a command has made and checked.
type outgoingRecord struct {
	stream, address string
	body            []byte
	what            string // for the person who has asked for it
}

// queueFlags of every command that writes.
type queueFlags struct {
	file string
	waitOptions
}

// waitOptions of a command that has queued something and looks on.
type waitOptions struct {
	none bool
	most time.Duration
}

func addWaitFlags(f *pflag.FlagSet, w *waitOptions) {
	f.BoolVar(&w.none, "no-wait", false, "only queue; do not wait to see it delivered")
	f.DurationVar(&w.most, "wait", defaultWait, "how `LONG` to wait for the service's answer")
}

func addQueueFlags(f *pflag.FlagSet) *queueFlags {
	s := &queueFlags{}
	f.StringVar(&s.file, "file", "", "read the records from a JSON `FILE` in the service's own shape; - is standard input")
	addWaitFlags(f, &s.waitOptions)
	return s
}

// queueRecords makes records with the site's settings, queues all of them or, when one is wrong, none, and sees them off.
func queueRecords(ctx context.Context, c *call, s *queueFlags, make func(*config.Config) ([]outgoingRecord, error)) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	records, err := make(cfg)
	if err != nil {
		return asUsageError(err)
	}
	return withConnection(c, func(d *connection) error {
		all, err := d.queueAll(ctx, records)
		if err == nil {
			err = d.awaitDelivery(ctx, all, s.waitOptions)
		}
		if err != nil {
			return errors.Join(err, printDeliveryLines(c.err, all))
		}
		return printDeliveries(c, d, all)
	})
}

// What a file of records may hold at most.
const (
	maxFile    = 4 << 20 // bytes
	maxRecords = 1000    // each is followed until it is delivered
)

// readInput reads a file, or standard input for -.
func readInput(c *call, path string) ([]byte, error) {
	from := c.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("read the records: %w", err)
		}
		defer f.Close()
		from = f
	}
	b, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the records of %s: %w", path, err)
	}
	if len(b) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB; split it", path, maxFile>>20)
	}
	return b, nil
}

// recordsOf reads JSON in the service's own shape, one object or an array of them, and refuses every name that the
// shape has not.
func recordsOf[T any](c *call, path string) ([]T, error) {
	raw, err := rawRecords(c, path)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(raw))
	for i, one := range raw {
		if err := strictly(one, &all[i]); err != nil {
			return nil, fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
	}
	return all, nil
}

// convertRecords reads such a file and makes of each record what convert makes of it; a mistake is told with the record's number.
func convertRecords[T, R any](c *call, path string, convert func(T) (R, error)) ([]R, error) {
	all, err := recordsOf[T](c, path)
	if err != nil {
		return nil, err
	}
	converted := make([]R, len(all))
	for i, one := range all {
		if converted[i], err = convert(one); err != nil {
			return nil, fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
	}
	return converted, nil
}

func rawRecords(c *call, path string) ([]json.RawMessage, error) {
	b, err := readInput(c, path)
	if err != nil {
		return nil, err
	}
	raw := []json.RawMessage{b}
	if first := bytes.TrimLeft(b, " \t\r\n"); len(first) > 0 && first[0] == '[' {
		if err := json.Unmarshal(b, &raw); err != nil {
			return nil, fmt.Errorf("%s is no JSON: %s", path, jsonProblem(b, err))
		}
	}
	if len(raw) == 0 || len(raw) > maxRecords {
		return nil, fmt.Errorf("%s has %s; want 1 to %d", path, countText(len(raw), "record"), maxRecords)
	}
	return raw, nil
}

func strictly(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if quoted, unknown := strings.CutPrefix(fmt.Sprint(err), "json: unknown field "); unknown { // which has no type of its own
		name := strings.Trim(quoted, `"`)
		known := fieldsOf(reflect.TypeOf(into).Elem(), "")
		if places := placesOf(name, known); len(places) > 0 {
			return fmt.Errorf("%s stands in the wrong place; it belongs at %s; the fields are %s", name, strings.Join(places, " or "), strings.Join(known, ", "))
		}
		words := strings.FieldsFunc(strings.Join(known, "."), func(r rune) bool { return r == '.' })
		return fmt.Errorf("there is no field %s%s; the fields are %s", name, didYouMean(name, words), strings.Join(known, ", "))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s stands where %s is wanted", wrong.Field, wrong.Value, shapeOf(wrong.Type))
	}
	if err != nil {
		return errors.New("it is no JSON: " + jsonProblem(raw, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object; write several as [{...}, {...}]")
	}
	return nil
}

// placesOf are the paths at which a name may stand, of those that the shape has.
func placesOf(name string, known []string) (places []string) {
	for _, path := range known {
		parts := strings.Split(path, ".")
		for i, part := range parts {
			if at := strings.Join(parts[:i+1], "."); strings.EqualFold(part, name) && !slices.Contains(places, at) {
				places = append(places, at)
			}
		}
	}
	return places
}

// jsonProblem says what is wrong with JSON, with the line where it is known.
func jsonProblem(b []byte, err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return err.Error()
	}
	before := b[:min(int(syntax.Offset), len(b))]
	return fmt.Sprintf("line %d: %v", 1+bytes.Count(before, []byte("\n")), err)
}

// fieldsOf names the members that a shape has, those of inner objects with their path.
func fieldsOf(t reflect.Type, before string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		inner := fieldsOf(t.Field(i).Type, before+name+".")
		if inner == nil {
			inner = []string{before + name}
		}
		names = append(names, inner...)
	}
	return names
}

// shapeOf says what a Go type wants in JSON.
func shapeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
