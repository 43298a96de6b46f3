package ledger

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// What the version before has booked and held is read, and completed by what the configuration says today.
func TestTicketsOfTheVersionBeforeAreRead(t *testing.T) {
	b := newBench(t, nil)
	const load = `{"Tank":"TK-1","Began":"2026-03-02T15:00:00Z","Start":"2026-03-02T15:00:00Z","End":"2026-03-02T15:40:00Z","Open":200,"Close":80,"GaugeBbl":201.43,"InflowBbl":1,` +
		`"RemovedBbl":202.43,"Rate":5,"Sigma":0.05,"Confidence":0.9,"ErrorBbl":0.3,"Parts":1,"Samples":241,"Gap":30000000000,"Review":null,"Remarks":null,"Table":"geometry","Group":"",` +
		`"GroupBbl":0,"TopTemperature":null,"BottomTemperature":null,"ClosingTop":null,"ClosingBottom":null,"Gravity":null,"BSW":null}`
	err := b.box.Update(func(tx *outbox.Tx) error {
		tx.Put(ticketKey+"A-OLD", []byte(`{"number":"A-OLD","tank":"TK-1","seq":1,"queued":"2026-03-02T16:30:00Z","ticket":{"ticketNumber":"A-OLD"},"load":`+load+
			`,"start":"2026-03-02T15:00:00Z","end":"2026-03-02T15:40:00Z"}`))
		tx.Put(ticketKey+"A-REJECTED", []byte(`{"number":"A-REJECTED","tank":"TK-1","queued":"2026-03-02T16:30:00Z","load":`+load+`,"start":"0001-01-01T00:00:00Z","end":"0001-01-01T00:00:00Z","rejected":"ann: x"}`))
		tx.Put(heldKey, []byte(`[{"Load":`+load+`,"Number":"A-HELD","Due":"2036-03-02T16:30:00Z","Boot":1,"Zero":"2026-03-02T00:00:00Z","Person":""}]`))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	b.again()
	all, err := b.Tickets()
	if err != nil || len(all) != 3 {
		t.Fatalf("%d tickets (%v), want 3", len(all), err)
	}
	for _, x := range all {
		v := x.Volumes
		if x.Day != "2026-03-02" || x.Start.Hour() != 15 || x.Load.Trend != nil || v == nil || hundredths(v.OpenBbl-v.CloseBbl) != 201.43 || v.GrossBbl != nil {
			t.Errorf("%s: day %s, start %v, volumes %+v", x.Number, x.Day, x.Start, v)
		}
	}
	if _, _, err := b.Match(MatchArgs{Number: "A-OLD", Hauler: "1", Bbl: 200, Basis: AsObserved}, "ann"); err != nil {
		t.Error(err)
	}
}

// A damaged outbox may lose what was kept of tickets that it still has in the queue, or a receipt of. They are in the list again, with what is
// known of them, and none of their numbers is given once more.
func TestTicketsOfWhichOnlyTheOutboxKnowsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Zone = time.FixedZone("", -6*3600) })
		began := time.Now().Add(-5 * time.Hour).Truncate(time.Minute)
		add := func(start time.Time, number string) string {
			number, _, err := b.Add(ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: start, End: start.Add(20 * time.Minute), Number: number}, "ann")
			b.must(err)
			return number
		}
		left, other := add(began, ""), add(began.Add(time.Hour), "B-7")
		b.deliver()
		waits := add(began.Add(2*time.Hour), "")
		kept := add(began.Add(3*time.Hour), "")
		b.must(b.box.Update(func(tx *outbox.Tx) error {
			for _, number := range []string{left, other, waits} {
				tx.Put(ticketKey+number, nil)
			}
			return nil
		}))
		b.again()
		b.must(b.RebuildTickets())
		all, err := b.Tickets()
		b.must(err)
		byNumber := map[string]TicketRecord{}
		for _, x := range all {
			byNumber[x.Number] = x
		}
		if x := byNumber[left]; x.Tank != "TK-1" || !x.Start.Equal(began) || !x.Left() || x.Ticket != nil || !strings.Contains(x.Rebuilt, "receipt") {
			t.Errorf("of one that has left: %+v", x)
		}
		if x := byNumber[other]; !x.Left() || x.Day == "" {
			t.Errorf("of one whose number says nothing: %+v", x)
		}
		if x := byNumber[waits]; x.Tank != "TK-1" || !x.Start.Equal(began.Add(2*time.Hour)) || !x.End.Equal(x.Start.Add(20*time.Minute)) || x.Ticket == nil || x.Rebuilt == "" {
			t.Errorf("of one that waits: %+v", x)
		}
		if x := byNumber[kept]; len(all) != 4 || x.Rebuilt != "" || x.Person != "ann" {
			t.Errorf("%d tickets, want 4; the one whose record is there: %+v", len(all), x)
		}
		for _, number := range []string{left, other, waits} {
			if _, _, err := b.Add(ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: began, End: began.Add(time.Minute), Number: number}, "ann"); err == nil || !strings.Contains(err.Error(), "is in use") {
				t.Errorf("%s is given once more: %v", number, err)
			}
		}
	})
}
