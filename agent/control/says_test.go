package control

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
)

// TestARecordSaysWhatItHas: of what waits or was refused a person sees the load, the values or the words, and need not open it.
func TestARecordSaysWhatItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ledgertest.New(t, func(s *ledger.Site) {
			s.Values = []ledger.Value{{Well: "W-1", Code: "Production Target Oil", Point: "plc/level"}}
		})
		server := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Daemon: true}).Open()
		queue := func(stream, address string, body []byte, err error) {
			t.Helper()
			b.Must(err)
			_, err = server.queue(t.Context(), QueueArgs{stream, address, body})
			b.Must(err)
		}
		at := time.Now()
		body, err := b.Site.Wire.EncodeTagValues(cloud.ValueSet{Code: "Production Target Oil", Values: []cloud.Value{{Value: 118, At: at}, {Value: 121, At: at.Add(time.Minute)}}})
		queue(ledger.TagValues, "W-1", body, err)
		body, err = b.Site.Wire.EncodeTagValues(cloud.ValueSet{Code: "Production Target Oil", Values: []cloud.Value{{Value: 7, At: at}}})
		queue(ledger.TagValues, "W-2", body, err)
		body, err = b.Site.Wire.EncodeMemo(cloud.Memo{Text: "valve replaced"})
		queue(ledger.Memos, "1", body, err)
		b.Must(b.QueueEvent(ledger.Event{Rule: "leak", Note: "a puddle", Start: at, End: at}))
		_, _, err = b.Add(ledger.ManualTicket{Tank: "TK-1", Open: 118, Close: 60, Start: at, End: at.Add(30 * time.Minute), Purchaser: "Acme", Anyway: "seen"}, "ann")
		b.Must(err)
		for stream, want := range map[string][]string{
			ledger.TagValues: {"118 at 00:00:00 to 121 at 00:01:00, 2 values, the code of plc/level", "7 at 00:00:00"},
			ledger.Memos:     {"valve replaced"}, ledger.Events: {"a puddle"}, ledger.Tickets: {"TK-1 from 09-10-0 to 05-00-0, 97.4 bbl, 00:00 to 00:30"},
		} {
			got, err := server.listRecords(context.Background(), RecordQuery{Stream: stream, State: "waiting"})
			b.Must(err)
			for i, text := range want {
				if len(got) != len(want) || got[i].Says != text {
					t.Errorf("%s: %+v, want %q", stream, got, want)
				}
			}
		}
	})
}
