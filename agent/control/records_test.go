package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
	"gauger/collectors"
	"gauger/outbox"
)

// mended is a collector that reads numbers now.
type mended struct{}

func (mended) Run(context.Context, collectors.Host) error { return nil }

func (mended) Decoder() func(collectors.Refusal) ([]collectors.Reading, error) {
	return func(r collectors.Refusal) ([]collectors.Reading, error) {
		v, err := strconv.ParseFloat(string(r.Raw), 64)
		return []collectors.Reading{{Point: collectors.Point(r.Source), Value: v, Quality: collectors.Good, At: r.At, Past: true}}, err
	}
}

// TestKeptMessagesAreDecodedAgain: what can be decoded now becomes values of its own time and leaves the stream, once;
// the rest stays and says why.
func TestKeptMessagesAreDecodedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, func(s *ledger.Site) {
			s.Values = []ledger.Value{
				{Well: ledgertest.GUID, Code: "Production Target Oil", Point: "radio/n"},
				{Well: ledgertest.GUID, Code: "Production Target Gas", Point: "radio/n", Every: 10 * time.Minute},
			}
		})
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Collectors: []collectors.Named{{Name: "mqtt", Collector: mended{}}}}).Open()
		began := time.Now().Round(0)
		refuse := func(host, source, raw string) {
			t.Helper()
			r := collectors.Refusal{Source: source, Raw: []byte(raw), Err: errors.New("no"), At: time.Now()}
			if err := b.Host(host).Refuse(t.Context(), []collectors.Refusal{r}); err != nil {
				t.Fatal(err)
			}
			ledgertest.Pass(time.Minute)
		}
		for n := range 12 {
			refuse("mqtt", "radio/n", fmt.Sprint(n))
		}
		refuse("mqtt", "radio/n", "still no number")
		refuse("tape", "radio/n", "4")
		refuse("mqtt", "radio/level", "77")
		b.Emit("level", 180)
		again := func(args string) (all []DecodeResult, err error) {
			got, err := server.Call(t.Context(), "outbox.decode", json.RawMessage(args))
			all, _ = got.([]DecodeResult)
			return all, err
		}
		if all, err := again(`{"seqs":[3,3]}`); err != nil || len(all) != 1 || all[0] != (DecodeResult{Seq: 3, Values: 2}) {
			t.Fatalf("one message: %+v, %v; want the value, and the one of every ten minutes", all, err)
		}
		if _, err := again(`{"seqs":[3]}`); err == nil {
			t.Error("a message was decoded twice")
		}
		all, err := again(`{}`)
		if err != nil || len(all) != 14 {
			t.Fatalf("the rest: %+v, %v", all, err)
		}
		var left []uint64
		values := 0
		for _, x := range all {
			if values += x.Values; x.Why != "" {
				left = append(left, x.Seq)
			}
		}
		if fmt.Sprint(left) != "[13 14]" || values != 13 {
			t.Errorf("left are %v, %d values; want 13 and 14 left, 11 values and 2 of every ten minutes", left, values)
		}
		for _, set := range b.Bodies(ledger.TagValues) {
			v := set["values"].([]any)[0].(map[string]any)
			if at := began.Add(time.Duration(v["value"].(float64)) * time.Minute).UTC().Format("2006-01-02T15:04:05"); fmt.Sprint(v["timestamp"])[:19] != at {
				t.Errorf("%v is not of %s", v, at)
			}
		}
		c := b.Box.Counts()[ledger.Refused]
		if !c.Balanced() || c.Waiting != 2 || c.Delivered != 12 || c.Dropped != 1 || b.Box.Counts()[ledger.TagValues].Accepted != 15 {
			t.Errorf("refused %+v, values %+v", c, b.Box.Counts()[ledger.TagValues])
		}
		if e, err := b.Box.Entry(ledger.Refused, 15); err != nil || e.State != outbox.Dropped || e.Label != "it was decoded, and gave no value" {
			t.Errorf("a message that gave nothing is %+v, %v", e, err)
		}
		if last := b.Latest("radio/n", "radio/level"); len(last) != 0 {
			t.Errorf("a message of the past is read as now: %+v", last)
		}
	})
}
