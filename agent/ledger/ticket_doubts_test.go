package ledger

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/outbox"
)

// TestATicketByHandOverAnotherIsRefused unless the person says why both are right; then the reason goes with the ticket.
func TestATicketByHandOverAnotherIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now().Add(70 * time.Minute)
		b.haul(50 * time.Minute)
		w := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: began, End: began.Add(20 * time.Minute), Comments: "by hand"}
		if number, _, err := b.Add(w, "pat"); err == nil || !strings.Contains(err.Error(), "both would be booked. Correct it, or if it is right all the same, say why with --anyway") {
			t.Fatalf("over an automatic ticket: %q, %v", number, err)
		}
		w.Anyway = "two trucks at once"
		number, warning, err := b.Add(w, "pat")
		if err != nil || !strings.Contains(warning, "both would be booked") {
			t.Fatalf("with a reason: %q, warning %q, error %v", number, warning, err)
		}
		kept, err := b.Ticket(number)
		if err != nil || kept.Anyway != w.Anyway || !strings.Contains(string(kept.Ticket), `"comments":"entered anyway: two trucks at once; by hand"`) {
			t.Errorf("kept is %q, sent %s (%v)", kept.Anyway, kept.Ticket, err)
		}
		if again, _, err := b.Add(w, "pat"); err == nil || !strings.Contains(err.Error(), number+" says the same already") {
			t.Errorf("the same ticket once more is %q (%v)", again, err)
		}
		w.Close = 79
		if again, _, err := b.Add(w, "pat"); err != nil || again == number {
			t.Errorf("a second ticket of the same minute got %q after %q (%v)", again, number, err)
		}
		w.Tank = "TK-9"
		if _, _, err := b.Add(w, "pat"); err == nil {
			t.Error("a ticket of a tank that is not configured was taken")
		}
	})
}

// TestATicketByHandThatTheTankContradicts: its level stood elsewhere at that time, so that it is another tank's or another day's.
func TestATicketByHandThatTheTankContradicts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now()
		b.haul(50 * time.Minute) // from 180 in, where it stood for more than an hour
		w := ManualTicket{Tank: "TK-1", Open: 120, Close: 90, Start: began.Add(5 * time.Minute), End: began.Add(35 * time.Minute)}
		if _, _, err := b.Add(w, "pat", b.Contradictions(w)...); err == nil || !strings.Contains(err.Error(), "the opening gauge is 10-00-0, and TK-1 itself told 15-00-0 to 15-00-0 about") ||
			!strings.Contains(err.Error(), "the closing gauge is 07-06-0") {
			t.Errorf("%v", err)
		}
		// What speaks for a gauge is that of the load which was seen then, and that of the ticket which is replaced, whatever a value showed.
		all, err := b.Tickets()
		b.must(err)
		if len(all) != 1 {
			t.Fatalf("%+v", all)
		}
		seen := w
		seen.Open, seen.Close, seen.Start, seen.End = all[0].Load.Open, all[0].Load.Close+2, all[0].End.Add(25*time.Minute), all[0].End.Add(40*time.Minute)
		if doubts := b.Contradictions(seen); len(doubts) != 1 {
			t.Errorf("after it: %q", doubts)
		}
		seen.Replaces = strings.ToLower(all[0].Number)
		if doubts := b.Contradictions(seen); doubts != nil {
			t.Errorf("in its place: %q", doubts)
		}
		w.Anyway = "the sensor hung"
		if _, warning, err := b.Add(w, "pat", b.Contradictions(w)...); err != nil || !strings.Contains(warning, "another tank or day") {
			t.Errorf("with a reason: %q, %v", warning, err)
		}
	})
}

// TestWhatSpeaksAgainstATicketByHand: what cannot be is refused, what hardly ever is wants a reason, and the rest is taken.
func TestWhatSpeaksAgainstATicketByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		end := time.Now()
		good := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: end.Add(-time.Hour), End: end, SpecificGravity: new(0.83), BSW: new(0.4),
			TopTemperature: new(80.0), BottomTemperature: new(70.0), SealOff: "1", SealOn: "2"}
		if doubts, err := b.Doubts([]ManualTicket{good}); err != nil || doubts != nil {
			t.Fatalf("a good one: %q, %v", doubts, err)
		}
		for _, c := range []struct {
			say    string
			change func(*ManualTicket)
			never  bool // no reason helps
		}{
			{"not above the closing gauge", func(w *ManualTicket) { w.Close = 190 }, true},
			{"below the bottom", func(w *ManualTicket) { w.Close = -0.25 }, true},
			{"below the bottom", func(w *ManualTicket) { w.Close = math.NaN() }, true},
			{"above the tank", func(w *ManualTicket) { w.Open = 1e9 }, true},
			{"above the tank", func(w *ManualTicket) { w.Open = math.NaN() }, true},
			{"must end after", func(w *ManualTicket) { w.Start = end }, true},
			{"bbl, and a load of tank TK-1 has at least 25", func(w *ManualTicket) { w.Open, w.Close = 14.3, 4.1 }, false},
			{"which has not come yet", func(w *ManualTicket) { w.End = end.Add(11 * time.Minute) }, false}, // nothing has confirmed this clock
			{"", func(w *ManualTicket) { w.End = end.Add(10 * time.Minute) }, false},
			{"335.7 bbl, and a truck holds 215 (loads.truck_max)", func(w *ManualTicket) { w.Open, w.Close = 240, 40 }, false},
			{"a minute, and no pump is believed more than 15 (loads.max_rate)", func(w *ManualTicket) { w.Start = end.Add(-2 * time.Minute) }, false},
			{"36", func(w *ManualTicket) { w.Start, w.End = w.Start.AddDate(-1, 0, 0), w.End.AddDate(-1, 0, 0) }, false}, // days ago
			{"look at the year", func(w *ManualTicket) { w.Start, w.End = w.Start.AddDate(-1, 0, -60), w.End.AddDate(-1, 0, -60) }, false},
			{"", func(w *ManualTicket) { w.Start, w.End = w.Start.AddDate(0, 0, -240), w.End.AddDate(0, 0, -240) }, false},
			{`no tank and no ticket has the purchaser "Acne", but "Acme"`, func(w *ManualTicket) { w.Purchaser = "Acne" }, false},
			{`no tank and no ticket has the purchaser "Acme Crude", but "Acme"`, func(w *ManualTicket) { w.Purchaser = "Acme Crude" }, false},
			{`no tank and no ticket has the purchaser "Zeta", but "Acme"`, func(w *ManualTicket) { w.Purchaser = "Zeta" }, false},
			{"", func(w *ManualTicket) { w.Purchaser = "Acme" }, false},
			{"takes 25 hours", func(w *ManualTicket) { w.Start = end.Add(-25 * time.Hour) }, false},
			{"bsw 40 is hardly ever so", func(w *ManualTicket) { w.BSW = new(40.0) }, false},
			{"", func(w *ManualTicket) { w.BSW = new(10.0) }, false},
			{"-0.1 is no bsw", func(w *ManualTicket) { w.BSW = new(-0.1) }, true},
			{"NaN is no bsw", func(w *ManualTicket) { w.BSW = new(math.NaN()) }, true},
			{"gravity 1.1 is hardly ever so", func(w *ManualTicket) { w.SpecificGravity = new(1.1) }, false},
			{"+Inf is no gravity", func(w *ManualTicket) { w.SpecificGravity = new(math.Inf(1)) }, true},
			{"top temperature 250 is hardly", func(w *ManualTicket) { w.TopTemperature, w.BottomTemperature = new(250.0), nil }, false},
			{"70 degrees apart", func(w *ManualTicket) { w.TopTemperature = new(140.0) }, false},
			{"303 is no bottom temperature", func(w *ManualTicket) { w.BottomTemperature = new(303.0) }, true},
			{"the seal 2 was taken off and put on", func(w *ManualTicket) { w.SealOff = "2" }, false},
			{"the seal on of 70 characters is too long", func(w *ManualTicket) { w.SealOn = strings.Repeat("4", 70) }, true},
			{"the seal off must be one line", func(w *ManualTicket) { w.SealOff = "4\n7" }, true},
		} {
			w := good
			c.change(&w)
			doubts, err := b.Doubts([]ManualTicket{w})
			switch said := strings.Join(doubts, "; "); {
			case c.never:
				w.Anyway = "so it is"
				if _, _, added := b.Add(w, "pat"); err == nil || added == nil || !strings.Contains(err.Error(), c.say) {
					t.Errorf("want %q: %v, and with a reason %v", c.say, err, added)
				}
			case err != nil || (said == "") != (c.say == "") || !strings.Contains(said, c.say):
				t.Errorf("want %q: %q, %v", c.say, said, err)
			}
		}
		first := good
		first.Start, first.End = end.Add(-2*time.Hour), end.Add(-30*time.Minute)
		if doubts, err := b.Doubts([]ManualTicket{first, good}); err != nil || len(doubts) != 1 || !strings.Contains(doubts[0], "record 2: ticket of record 1 already covers") {
			t.Errorf("two of a file: %q, %v", doubts, err)
		}
	})
}

// TestATicketByHandInAGapIsHeldAgainstTheLoadThatNobodySawThere: its times are guesses, and the person's may lie beside them.
func TestATicketByHandInAGapIsHeldAgainstTheLoadThatNobodySawThere(t *testing.T) {
	b := newBench(t, nil)
	noon := time.Now().Add(-5 * time.Hour)
	known := []TicketRecord{{Number: "A-1", Tank: "TK-1", Start: noon.Add(time.Hour), End: noon.Add(90 * time.Minute),
		Load: &tank.Load{Tank: "TK-1", Unseen: &tank.Span{From: noon, To: noon.Add(3 * time.Hour)}}}}
	for at, want := range map[time.Duration]string{2 * time.Hour: "ticket A-1 has a load that nobody saw of TK-1", 3 * time.Hour: "", -time.Hour: ""} {
		w := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: noon.Add(at), End: noon.Add(at + 30*time.Minute)}
		doubts, err := b.begin(time.Now()).judgeManual(&w, known)
		if said := strings.Join(doubts, "; "); err != nil || (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s after: %q, %v", at, said, err)
		}
	}
}

// TestATicketByHandBeforeGaugersOwn: a load that waits for its confirmation will be a ticket without anybody.
func TestATicketByHandBeforeGaugersOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now().Add(70 * time.Minute)
		b.haul(10 * time.Minute)
		w := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: began, End: began.Add(15 * time.Minute)}
		if doubts, err := b.Doubts([]ManualTicket{w}); err != nil || len(doubts) != 1 || !strings.Contains(doubts[0], "makes a ticket of that by itself") {
			t.Errorf("%q, %v", doubts, err)
		}
		w.Start, w.End = began.Add(-time.Hour), began.Add(-30*time.Minute)
		if doubts, err := b.Doubts([]ManualTicket{w}); err != nil || doubts != nil {
			t.Errorf("an hour before: %q, %v", doubts, err)
		}
	})
}

// TestALoadThatAPersonHasWrittenAlreadyAsksForAReview: whoever wrote it may have known that gauger would, or not.
func TestALoadThatAPersonHasWrittenAlreadyAsksForAReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		began := time.Now().Add(70 * time.Minute)
		b.haul(10 * time.Minute)
		w := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: began, End: began.Add(10 * time.Minute), Anyway: "the hauler waits for the paper"}
		number, _, err := b.Add(w, "pat")
		if err != nil {
			t.Fatal(err)
		}
		for range 6 * 60 {
			b.emit("level", 80)
			pass(10 * time.Second)
			if err := b.Tick(time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		all, err := b.Tickets()
		if err != nil || len(all) != 2 || all[0].Load == nil || !slices.Contains(all[0].Load.Review, "ticket "+number+" by hand is of the same time") {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

// TestATicketThatWasTakenOutOfTheQueueIsInNobodysWay, since the right one takes its place.
func TestATicketThatWasTakenOutOfTheQueueIsInNobodysWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		w := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: time.Now().Add(-time.Hour), End: time.Now()}
		number, _, err := b.Add(w, "pat")
		if err != nil {
			t.Fatal(err)
		}
		kept, err := b.Ticket(number)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.box.Drop(Tickets, "pat: wrong gauge", kept.Seq); err != nil {
			t.Fatal(err)
		}
		if again, warning, err := b.Add(w, "pat"); err != nil || warning != "" || again == number {
			t.Errorf("the right one: %q, %q, %v", again, warning, err)
		}
	})
}

// TestAFigureThatHardlyAnyOilHasWantsAReason of whoever edits it; what was configured so is not asked about.
func TestAFigureThatHardlyAnyOilHasWantsAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold, s.Tanks[0].BSW = 5*time.Hour, Source{Constant: new(12.0)} })
		b.haul(50 * time.Minute)
		all, err := b.Tickets()
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		edit := func(field, value, anyway string) ([]Edit, error) {
			return b.Edit(EditArgs{Number: all[0].Handle + all[0].Number, Set: map[string]string{field: value}, Anyway: anyway}, "ann")
		}
		if _, err := edit("purchaser", "Amce", ""); err == nil || !strings.Contains(err.Error(), `has the purchaser "Amce", but "Acme". Correct it`) {
			t.Errorf("a purchaser that nobody knows: %v", err)
		}
		for _, anyway := range []string{"a spot sale", ""} { // after that it is known
			if _, err := edit("purchaser", "Spot", anyway); err != nil && !strings.Contains(err.Error(), "says so already") {
				t.Errorf("with a reason: %v", err)
			}
		}
		if _, err := edit("bsw", "40", ""); err == nil || !strings.Contains(err.Error(), "bsw 40 is hardly ever so") {
			t.Errorf("without a reason: %v", err)
		}
		if _, err := edit("seal_on", "4712", ""); err != nil {
			t.Errorf("another field: %v", err)
		}
		if made, err := edit("bsw", "40", "lab sheet 17"); err != nil || made[0].Anyway != "lab sheet 17" {
			t.Errorf("with a reason: %+v, %v", made, err)
		}
		if all, _ = b.Tickets(); !slices.ContainsFunc(all[0].Edits, func(e Edit) bool { return e.Anyway == "lab sheet 17" }) || !strings.Contains(editedBy(all[0].Edits), "edited anyway: lab sheet 17; edited by ann") {
			t.Errorf("kept: %q of %+v", editedBy(all[0].Edits), all[0].Edits)
		}
	})
}

// TestATicketThatHasLeftIsReplacedOrVoided: the service has it for ever, and here it counts no more. The truck's ticket goes along,
// the new one and an event name the old one.
func TestATicketThatHasLeftIsReplacedOrVoided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		wrong := ManualTicket{Tank: "TK-1", Open: 180, Close: 80, Start: time.Now().Add(-time.Hour), End: time.Now(), BSW: new(4.0)}
		number, _, err := b.Add(wrong, "pat")
		b.must(err)
		b.match(MatchArgs{Number: number, Hauler: "88", Bbl: 168})
		right := wrong
		right.BSW, right.Replaces, right.Why = new(0.4), strings.ToLower(number), "BS&W was 0.4"
		if _, _, err := b.Add(right, "pat"); err == nil || !strings.Contains(err.Error(), "gauger outbox drop") {
			t.Errorf("one that waits: %v", err)
		}
		b.deliver()
		right.Why = ""
		if _, _, err := b.Add(right, "pat"); err == nil || !strings.Contains(err.Error(), "--why") {
			t.Errorf("without a reason: %v", err)
		}
		right.Why = "BS&W was 0.4"
		by, warning, err := b.Add(right, "ann")
		if b.must(err); warning != "" {
			t.Errorf("the right one: %q", warning)
		}
		all, err := b.Tickets()
		b.must(err)
		for _, x := range all {
			if x.Off() != (x.Number == number) || len(x.Matches) != 1 {
				t.Errorf("kept %+v", x)
			}
		}
		old, err := b.Ticket(number)
		if b.must(err); old.Voided != "ann on 2000-01-01: BS&W was 0.4; "+by+" is booked in its place" || !old.VoidedAt.Equal(time.Now()) {
			t.Errorf("void: %q at %s", old.Voided, old.VoidedAt)
		}
		if sent := b.bodies(Tickets); len(sent) != 1 || !strings.HasPrefix(sent[0]["comments"].(string), "replaces "+number+": BS&W was 0.4") {
			t.Errorf("sent %v", sent)
		}
		if n := b.notes("ticket-correction"); len(n) != 1 || !strings.Contains(n[0], number+" is wrong") || !strings.Contains(n[0], by) {
			t.Errorf("events %q", n)
		}
		if _, _, err := b.Add(right, "ann"); err == nil || !strings.Contains(err.Error(), "void already") || !strings.Contains(err.Error(), "it is that one which can be replaced") {
			t.Errorf("replaced twice: %v", err)
		}
		if err := b.Void(by, "ann", "no truck"); err == nil || !strings.Contains(err.Error(), "gauger outbox drop") {
			t.Errorf("one that waits is voided: %v", err)
		}
		b.deliver()
		b.must(b.Void(by, "ann", "no truck"))
		if all, err = b.Tickets(); err != nil || !all[0].Off() || !all[1].Off() || len(b.notes("ticket-correction")) != 2 {
			t.Errorf("after both are void: %+v, %v", all, err)
		}
	})
}

// deliver lets the service take the tickets that wait.
func (b *bench) deliver() {
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error)
	go func() { ended <- b.box.Drain(ctx, Tickets, &taker{}) }()
	pass(time.Minute)
	cancel()
	b.must(<-ended)
}

// taker is a service that takes everything.
type taker struct{ numbers []uint64 } // that the records had when they were sent; 0: it was not stored

// Send implements outbox.Sender.
func (s *taker) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	for _, r := range batch {
		s.numbers = append(s.numbers, r.Seq)
	}
	return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
}

// TestASlipInAName: another buyer is another buyer.
func TestASlipInAName(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"bravo oli", "bravo oil", true}, {"acme cruude", "acme crude", true}, {"acne", "acme", true}, {"acme", "acme", true}, {"acm", "acme", true},
		{"buyer a", "buyer b", false}, {"buyer 1", "buyer 2", false}, {"acme 2", "acme", false}, {"a", "b", false}, {"bravo", "acme", false},
		{"plains north", "plains south", false}, {"", "acme", false}, {"a oil", "b oil", false},
	} {
		if slipped(c.a, c.b) != c.want || slipped(c.b, c.a) != c.want {
			t.Errorf("%q for %q: %v, want %v", c.a, c.b, slipped(c.a, c.b), c.want)
		}
	}
}

// A tank that filled with 5 bbl an hour between its tickets does not fill with 35 between this one and the one before or behind it; who has too
// few tickets to know, or one of another tank, is told nothing.
func TestATicketToWhichTheTankHadToFillTooFastIsDoubted(t *testing.T) {
	_, tk, _ := chainTank(t)
	tk.Loads.MinLoad = 25
	at := time.Date(2026, 11, 1, 6, 0, 0, 0, time.UTC)
	var known []TicketRecord
	for i := range 6 { // each day 120 bbl, from 144 in to 72 in
		known = append(known, TicketRecord{Number: "M-" + string(rune('1'+i)), Tank: "TK-1", Start: at, End: at.Add(30 * time.Minute), Gauged: []float64{144, 72}})
		at = at.Add(24*time.Hour + 30*time.Minute)
	}
	last := known[5].End
	w := func(after time.Duration, open, closing float64) *ManualTicket {
		return &ManualTicket{Tank: "TK-1", Start: last.Add(after), End: last.Add(after + 30*time.Minute), Open: open, Close: closing}
	}
	for name, x := range map[string]struct {
		w     *ManualTicket
		known []TicketRecord
		want  string
	}{
		"too fast":      {w(4*time.Hour, 155, 72), known, "from the closing of M-6 to the opening of this one 139 bbl came in 4.0 h; between others of TK-1 at most 5.0 an hour"},
		"as ever":       {w(24*time.Hour, 144, 72), known, ""},
		"a second well": {w(24*time.Hour, 180, 72), known, ""},
		"rounded":       {w(10*time.Minute, 74, 20), known, ""},
		"not known":     {w(4*time.Hour, 155, 72), known[3:], ""},
		"before it":     {&ManualTicket{Tank: "TK-1", Start: last.Add(-5 * time.Hour), End: last.Add(-4 * time.Hour), Open: 140, Close: 50}, known, "from the closing of this one to the opening of M-6 157 bbl came in 3.5 h"},
		"in its place":  {&ManualTicket{Tank: "TK-1", Start: known[5].Start, End: last, Open: 144, Close: 60, Replaces: "m-6"}, known, ""},
	} {
		if got := strings.Join(fillsTooFast(tk, x.w, x.known), "; "); !strings.HasPrefix(got, x.want) || x.want == "" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
