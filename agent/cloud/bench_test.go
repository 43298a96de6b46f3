package cloud

import (
	"testing"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

func BenchmarkEncodeRunTicket(b *testing.B) {
	w, r := siteWire(), someTicket()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.EncodeRunTicket(r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeEvent(b *testing.B) {
	w, e := siteWire(), someEvent()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.EncodeEvent(e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPost is one ticket to the reference service in the same process, so that it includes the service.
func BenchmarkPost(b *testing.B) {
	ring, err := keys.Open("", keys.Seeds{Primary: testKey})
	if err != nil {
		b.Fatal(err)
	}
	c, err := New(Options{URL: "https://api.example.com", Wire: siteWire(), Keys: ring, Transport: &cloudtest.Service{PrimaryKey: testKey}})
	if err != nil {
		b.Fatal(err)
	}
	body, err := siteWire().EncodeRunTicket(someTicket())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if a := c.Post(b.Context(), SaveRunTickets, "", [][]byte{body}, 0, 0); a.Class != Stored {
			b.Fatalf("%+v", a)
		}
	}
}
