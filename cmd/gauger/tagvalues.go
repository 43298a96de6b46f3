package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
	"gauger/outbox"
)

// maxAddress is the longest id of a well or device.
const maxAddress = outbox.MaxAddress

// The service's shapes of what is saved for a well.
type (
	wellTags struct {
		ObjectID   string     `json:"objectId"`
		ObjectType string     `json:"objectType"`
		TagValues  []valueSet `json:"tagValues"`
	}
	wellTargets struct {
		ObjectID string     `json:"objectId"`
		Targets  []valueSet `json:"targets"`
	}
	valueSet struct {
		Code   string  `json:"dataClassificationCode"`
		Values []value `json:"values"`
	}
	value struct {
		Value     *float64 `json:"value"`
		Timestamp string   `json:"timestamp"`
	}
)

// wellSets are the value sets of one well.
type wellSets struct {
	well string
	sets []valueSet
}

// saveValuesOptions are the flags of `tagvalues save` and `targets save`, and in what they differ.
type saveValuesOptions struct {
	code, figure, at string
	queue            *queueFlags
	stream           string
	read             func(c *call, path string) ([]wellSets, error) // of a file in the service's shape
}

func newSaveValuesCommand(c *call, about, stream string, read func(c *call, path string) ([]wellSets, error)) *cobra.Command {
	o := &saveValuesOptions{stream: stream, read: read}
	cmd := newCommand(c, "save WELL", about, o.run)
	f := cmd.Flags()
	f.StringVar(&o.code, "code", "", "data classification `CODE`, such as \"Production Target Oil\"")
	f.StringVar(&o.figure, "value", "", "the `NUMBER`; the service takes whole ones")
	f.StringVar(&o.at, "at", "", "`TIME` for which it holds; default now")
	o.queue = addQueueFlags(f)
	return cmd
}

func readTagValues(c *call, path string) ([]wellSets, error) {
	return convertRecords(c, path, func(w wellTags) (wellSets, error) {
		if w.ObjectType != "" && w.ObjectType != "Well" {
			return wellSets{}, fmt.Errorf("objectType is Well, not %q", w.ObjectType)
		}
		return wellSets{w.ObjectID, w.TagValues}, nil
	})
}

func readTargets(c *call, path string) ([]wellSets, error) {
	return convertRecords(c, path, func(w wellTargets) (wellSets, error) { return wellSets{w.ObjectID, w.Targets}, nil })
}

// run saves values of wells: one from flags, or all of a file.
func (o *saveValuesOptions) run(ctx context.Context, c *call, args []string) error {
	switch name := c.command; {
	case len(args) > 1 || o.queue.file == "" && len(args) == 0:
		return usageError{name + " wants the well's id, such as: " + name + " 3fa85f64-5717-4562-b3fc-2c963f66afa6 --code \"Production Target Oil\" --value 412"}
	case o.queue.file != "" && o.code+o.figure+o.at != "":
		return usageError{"--file has code, value and time in it; leave --code, --value and --at out"}
	case o.queue.file == "" && (o.code == "" || o.figure == ""):
		return usageError{name + " wants --code and --value, or --file"}
	}
	well := strings.Join(args, "")
	return queueRecords(ctx, c, o.queue, func(cfg *config.Config) ([]outgoingRecord, error) {
		all, err := o.values(c, well)
		if err != nil {
			return nil, err
		}
		return valueRecords(c, cfg, o.stream, well, all)
	})
}

// values are those of the file, or the one that the flags say.
func (o *saveValuesOptions) values(c *call, well string) ([]wellSets, error) {
	if o.queue.file != "" {
		return o.read(c, o.queue.file)
	}
	v, err := parseNumber(o.figure)
	if err != nil {
		return nil, fmt.Errorf("--value: %w", err)
	}
	return []wellSets{{well, []valueSet{{o.code, []value{{&v, cmp.Or(o.at, "now")}}}}}}, nil
}

func valueRecords(c *call, cfg *config.Config, stream, well string, all []wellSets) ([]outgoingRecord, error) {
	var records []outgoingRecord
	for _, w := range all {
		w.well = cmp.Or(w.well, well)
		switch {
		case w.well == "" || len(w.well) > maxAddress:
			return nil, errors.New("objectId: the id of the well is missing, or longer than 255 characters")
		case well != "" && w.well != well:
			return nil, fmt.Errorf("the file is for the well %s, not %s", w.well, well)
		case len(w.sets) == 0:
			return nil, fmt.Errorf("well %s: there is no value", w.well)
		}
		if len(cfg.Wells) > 0 && !slices.ContainsFunc(cfg.Wells, func(x config.Well) bool { return x.ID == w.well }) { // it may be mistyped
			fmt.Fprintf(c.err, "warning: %s is not a well of the configuration; check the id\n", w.well)
		}
		for _, set := range w.sets {
			r, err := valueRecord(c, cfg, stream, w.well, set)
			if err != nil {
				return nil, err
			}
			records = append(records, r)
		}
	}
	return records, nil
}

// valueRecord encodes one set, in the order in which it stands.
func valueRecord(c *call, cfg *config.Config, stream, well string, set valueSet) (outgoingRecord, error) {
	w := cfg.Service.Wire
	out := cloud.ValueSet{Code: set.Code}
	now := time.Now()
	for _, v := range set.Values {
		if v.Value == nil {
			return outgoingRecord{}, fmt.Errorf("%s: a value is missing", set.Code)
		}
		at, err := parseOnce(v.Timestamp, cfg.Zone, now)
		if err != nil {
			return outgoingRecord{}, fmt.Errorf("%s: %w", set.Code, err)
		}
		out.Values = append(out.Values, cloud.Value{Value: *v.Value, At: at})
	}
	if stream == ledger.TagValues {
		body, err := w.EncodeTagValues(out)
		return outgoingRecord{stream, well, body, savedText(body)}, err
	}
	body, warning, err := w.EncodeTargets(out)
	if warning != "" {
		fmt.Fprintln(c.err, "warning: "+warning)
	}
	return outgoingRecord{stream, well, body, savedText(body)}, err
}

// savedText shows a value as it was encoded: it may have been rounded.
func savedText(body []byte) string {
	var set valueSet
	if json.Unmarshal(body, &set) != nil || len(set.Values) == 0 || set.Values[0].Value == nil {
		return ""
	}
	more := len(set.Values) - 1
	return fmt.Sprintf("%s = %.0f at %s", set.Code, *set.Values[0].Value, set.Values[0].Timestamp) + when(more > 0, " and "+countText(more, "more value"))
}
