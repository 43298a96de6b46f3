package agent

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// apartBench is a box of tag values in which a record has several, and a service that refuses requests with some text in them.
func apartBench(t *testing.T, refuse string) (*outbox.Box, *cloudtest.Service, Sender) {
	box, err := outbox.Open(filepath.Join(t.TempDir(), "outbox.db"), outbox.Options{MaxBytes: 1 << 20, Streams: []outbox.Stream{{Name: ledger.TagValues, Batch: 20}}})
	if err != nil {
		t.Fatal(err)
	}
	service := &cloudtest.Service{}
	ring, err := keys.Open("", keys.Seeds{Primary: "primary-key-value"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "https://service.test", Wire: cloud.DefaultWire(), Zone: time.UTC, Keys: ring, Transport: picky{service, refuse}})
	if err != nil {
		t.Fatal(err)
	}
	return box, service, Sender{Client: client}
}

// picky refuses requests with some text in them.
type picky struct {
	service *cloudtest.Service
	refuse  string
}

func (p picky) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if strings.Contains(string(body), p.refuse) {
		p.service.Next(cloudtest.Fault{Status: 400})
	}
	return p.service.RoundTrip(r)
}

// gathered is a record of so many values, a second apart.
func gathered(t *testing.T, n int) outbox.Record {
	set := cloud.ValueSet{Code: "Production Target Oil"}
	for i := range n {
		set.Values = append(set.Values, cloud.Value{Value: float64(1000 + i), At: time.Date(2026, 3, 2, 3, 35, i, 0, time.UTC)})
	}
	body, err := cloud.DefaultWire().EncodeTagValues(set)
	if err != nil {
		t.Fatal(err)
	}
	return outbox.Record{Address: "3fa85f64-5717-4562-b3fc-2c963f66afa6", Body: body}
}

// One value that the service refuses takes none of those with it that waited in its record, and the dead letter says which it was; also
// where nothing else is queued that could be accepted beside it.
func TestABadValueTakesNoGoodOnesWithIt(t *testing.T) {
	for _, n := range []int{2, 5, 28} {
		synctest.Test(t, func(t *testing.T) {
			box, service, sender := apartBench(t, "2026-03-02T03:35:01+00:00")
			if err := box.Update(func(tx *outbox.Tx) error { tx.Append(ledger.TagValues, gathered(t, n)); return nil }); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			if err := box.Drain(ctx, ledger.TagValues, sender); err != nil {
				t.Fatal(err)
			}
			if got := len(service.TagValues()); got != n-1 {
				t.Errorf("of %d values, one of them bad, %d are at the service", n, got)
			}
			letters, err := box.Entries(ledger.TagValues, outbox.Dead, 0, 9)
			if err != nil || len(letters) != 1 || !strings.Contains(letters[0].Reason, "2026-03-02T03:35:01+00:00") || !strings.Contains(letters[0].Reason, "values were taken") {
				t.Errorf("dead letters %+v, %v", letters, err)
			}
			if err := box.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A service that refuses everything is asked for a few parts of a record and not for each of its values, and nothing is given up.
func TestAServiceThatRefusesEverythingIsNotAskedForEachValue(t *testing.T) {
	box, service, sender := apartBench(t, "")
	answers := sender.Send(t.Context(), ledger.TagValues, []outbox.Record{gathered(t, 28)})
	if len(answers) != 1 || answers[0].Class != outbox.Poison || answers[0].Proved || len(service.Calls()) != 1+apartFirst {
		t.Errorf("%+v with %d requests", answers, len(service.Calls()))
	}
	if err := box.Close(); err != nil {
		t.Fatal(err)
	}
}
