package control

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/clock"
	"gauger/agent/cloud/keys"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

// A clock is well only where something outside has confirmed it.
func TestNoClockIsWellThatNothingConfirmed(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	said := func(off time.Duration, answers int) *clock.Clock {
		c := clock.New(now, time.Time{}, clock.SteadyAfter, nil)
		for range answers {
			c.Compare(now, now.Add(off), true)
		}
		return c
	}
	steady, typed := said(0, 0), said(0, 0)
	typed.ConfirmAt(now)
	marked := clock.New(now, time.Time{}, clock.SteadyAfter, func() time.Time { return now })
	leaves := func(astray time.Duration, notBefore time.Time) *clock.Clock {
		c := clock.New(now, notBefore, clock.SteadyAfter, nil)
		boot := clock.Boot{ID: "b1", Uptime: func() (time.Duration, error) { return time.Hour, nil }}
		if err := c.Resume(clock.Saved{Boot: "b1", Zero: now.Add(-time.Hour), Uptime: time.Hour, Astray: astray}, time.Time{}, now, boot); err != nil {
			t.Fatal(err)
		}
		return c
	}
	moved, first := leaves(3*time.Hour, time.Time{}), leaves(495000*time.Hour, now.AddDate(-1, 0, 0))
	for what, x := range map[string]struct {
		got  Answer
		want Answer
	}{
		"an unset clock":   {Status{Clock: "unset", Now: now}.clockAnswer(steady), Answer{"clock", Bad, "not set; tickets, events and values wait for it"}},
		"a lone clock":     {Status{Clock: "assumed", Now: now}.clockAnswer(steady), Answer{"clock", Unknown, "assumed: it runs steadily, but nothing outside has confirmed it (`gauger clock trust`)"}},
		"a fresh clock":    {Status{Clock: "set", Now: now}.clockAnswer(steady), Answer{"clock", Unknown, "set: steady for less than 15 minutes, and nothing outside has confirmed it (`gauger clock trust` if it is right)"}},
		"a moved clock":    {Status{Clock: "set", Now: now}.clockAnswer(moved), Answer{"clock", Bad, "set by 3h0m0s, and nothing has confirmed it"}},
		"a first clock":    {Status{Clock: "set", Now: now}.clockAnswer(first), Answer{"clock", Unknown, "set for the first time; tickets, events and values wait until it has run steadily for 15 minutes"}},
		"a marked clock":   {Status{Clock: "trusted", Now: now}.clockAnswer(marked), Answer{"clock", Well, "trusted: the time daemon has confirmed it"}},
		"an agreed clock":  {Status{Clock: "trusted", Now: now}.clockAnswer(said(-time.Minute, 1)), Answer{"clock", Well, "trusted: the service's answers have confirmed it"}},
		"a person's clock": {Status{Clock: "trusted", Now: now}.clockAnswer(typed), Answer{"clock", Well, "trusted: a person has confirmed it (`gauger clock trust`)"}},
		"a denied clock":   {Status{Clock: "assumed", Now: now}.clockAnswer(said(-3*time.Hour, 3)), Answer{"clock", Bad, "assumed: the service says that it is 3 h earlier"}},
	} {
		if x.got != x.want {
			t.Errorf("%s: %+v, want %+v", what, x.got, x.want)
		}
	}
}

// What a clock that was ahead has dated is no second ago.
func TestATimeToComeIsNotASecondAgo(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for at, want := range map[time.Duration]string{-5 * time.Second: "5 s ago", time.Second: "1 s ago", 24 * time.Hour: "by a clock that was ahead"} {
		if got := Ago(now, now.Add(at)); got != want {
			t.Errorf("%s: %q, want %q", at, got, want)
		}
	}
}

// Well is only what was seen to be so.
func TestNothingIsWellThatWasNotSeen(t *testing.T) {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	good := []PointReading{{Point: "plc/level", Quality: "good", At: now.Add(-3 * time.Second)}}
	level := func(id string, ago time.Duration, every float64) ledger.TankStatus {
		return ledger.TankStatus{ID: id, Quality: "good", At: now.Add(-ago), Every: every}
	}
	quiet := []ledger.TankStatus{level("TK-1", 3*time.Second, 10), level("TK-2", 72*time.Hour, 0), level("TK-3", 3*time.Hour, 0), level("TK-4", 3*time.Hour, 14400), level("TK-5", 50*time.Minute, 0)}
	one := map[string]outbox.Counts{ledger.Memos: {Waiting: 1}}
	key := func(slot, state string) keys.Status { return keys.Status{Slot: slot, State: state} }
	took := func(ago time.Duration) map[string]DrainStatus {
		return map[string]DrainStatus{ledger.Memos: {}, ledger.Events: {Taken: now.Add(-ago)}, ledger.Targets: {Taken: now.Add(-ago - time.Hour)}}
	}
	for what, x := range map[string]struct {
		got  Answer
		want Answer
	}{
		"points":           {Status{Daemon: true, Now: now, Points: good}.readingAnswer(), Answer{"reading", Well, "1 of 1 point good, the newest 3 s ago"}},
		"long quiet":       {Status{Daemon: true, Now: now.Add(2 * time.Hour), Points: good}.readingAnswer(), Answer{"reading", Unknown, "1 of 1 point good, the newest 2 h ago"}},
		"a dead level":     {Status{Daemon: true, Now: now, Points: good, Tanks: quiet}.readingAnswer(), Answer{"reading", Bad, "1 of 1 point good, the newest 3 s ago; the level of TK-2, TK-3 came 3 days ago"}},
		"no point":         {Status{Daemon: true, Now: now}.readingAnswer(), Answer{"reading", Unknown, "nothing was read yet"}},
		"no daemon":        {Status{Now: now, Points: good}.readingAnswer(), Answer{"reading", Bad, "gauger is not running"}},
		"never reached":    {Status{Daemon: true, Now: now}.sendingAnswer(), Answer{"sending", Unknown, "nothing waits, the service has taken nothing yet"}},
		"answered":         {Status{Daemon: true, Now: now, Reached: now.Add(-150 * time.Second)}.sendingAnswer(), Answer{"sending", Well, "nothing waits, nothing was taken since this configuration began, the service last answered 2 min ago"}},
		"taken":            {Status{Daemon: true, Now: now, Reached: now, Drains: took(150 * time.Second)}.sendingAnswer(), Answer{"sending", Well, "nothing waits, the service last took something 2 min ago"}},
		"reached long ago": {Status{Daemon: true, Now: now, Reached: now.Add(-2 * time.Hour), Drains: took(2 * time.Hour)}.sendingAnswer(), Answer{"sending", Unknown, "nothing waits, the service last took something 2 h ago"}},
		"overdue":          {Status{Daemon: true, Now: now, Streams: one, Oldest: now.Add(-3 * time.Hour)}.sendingAnswer(), Answer{"sending", Bad, "1 record waiting, the oldest queued 3 h ago; the service has taken nothing yet"}},
		"other answers":    {Status{Daemon: true, Now: now, Reached: now.Add(-time.Hour), Drains: map[string]DrainStatus{ledger.Memos: {Held: now, Status: 429, Answered: now.Add(-5 * time.Second)}}}.sendingAnswer(), Answer{"sending", Well, "nothing waits, nothing was taken since this configuration began, the service last answered 5 s ago with 429"}},
		"none taken yet":   {Status{Daemon: true, Now: now, Streams: one, Reached: now, Oldest: now}.sendingAnswer(), Answer{"sending", Unknown, "1 record on the way, nothing was taken since this configuration began, the service last answered 1 s ago"}},
		"an unknown id":    {Status{Daemon: true, Now: now, Streams: one, Reached: now, Drains: map[string]DrainStatus{ledger.Memos: {Held: now, Unknown: "x"}}}.sendingAnswer(), Answer{"sending", Bad, "1 record waiting, what is for 1 id is not taken; nothing was taken since this configuration began, the service last answered 1 s ago"}},
		"untried keys":     {keysAnswer([]keys.Status{key("primary", "untried"), key("secondary", "untried")}, now), Answer{"keys", Unknown, "not tried yet: none has sent a record"}},
		"both work":        {keysAnswer([]keys.Status{key("primary", "proven"), key("secondary", "proven"), key("secondary", "untried")}, now), Answer{"keys", Well, "both work"}},
		"one key twice": {keysAnswer([]keys.Status{{Slot: "primary", State: "proven", Fingerprint: "f"}, {Slot: "secondary", State: "proven", Fingerprint: "f"}}, now),
			Answer{"keys", Unknown, "one works, and stands in both places"}},
		"an end unknown": {keysAnswer([]keys.Status{{Slot: "primary", State: "proven", Expires: now.Add(181*24*time.Hour + time.Minute)}, key("secondary", "proven")}, now),
			Answer{"keys", Well, "both work, one good for 181 days, the end of the secondary not known until gauger renews it"}},
		"one untried": {keysAnswer([]keys.Status{key("primary", "untried"), key("secondary", "proven")}, now), Answer{"keys", Unknown, "one works, the primary key is not tried yet"}},
		"one alone":   {keysAnswer([]keys.Status{key("primary", "proven")}, now), Answer{"keys", Well, "one works, there is no secondary key"}},
		"new keys": {keysAnswer([]keys.Status{key("primary", "untried"), key("primary", "proven"), key("secondary", "untried"), key("secondary", "proven")}, now),
			Answer{"keys", Unknown, "the keys of before work; the newer primary key is not tried yet; the newer secondary key is not tried yet"}},
		"a new one refused": {keysAnswer([]keys.Status{key("primary", "proven"), key("secondary", "refused"), key("secondary", "proven")}, now),
			Answer{"keys", Bad, "the keys of before work; the newer secondary key is refused, and the one before it is used"}},
		"one refused":  {keysAnswer([]keys.Status{key("primary", "proven"), key("secondary", "refused")}, now), Answer{"keys", Bad, "one works, the other is refused"}},
		"both refused": {keysAnswer([]keys.Status{key("primary", "refused"), key("secondary", "refused")}, now), Answer{"keys", Bad, "no key is accepted; `gauger keys show` says what to do"}},
		"no key":       {keysAnswer(nil, now), Answer{"keys", Bad, "there is no usable key; `gauger keys show` says why"}},
	} {
		if x.got != x.want {
			t.Errorf("%s: %+v, want %+v", what, x.got, x.want)
		}
	}
	worse := Overview{Status: Status{Daemon: true, Now: now, Found: []Problem{{Cost: Tickets, Text: "1 record of tickets was refused"}}}}
	if unready := (&Server{}).Unready(worse); !slices.Equal(unready, []string{"1 record of tickets was refused"}) || !worse.NeedsPerson() {
		t.Errorf("not ready for %q, while a person is needed", unready)
	}
	quiet = append(quiet, level("TK-6", 3*time.Hour, 600))
	unready := (&Server{}).Unready(Overview{Status: Status{Daemon: true, Now: now, Points: good, Tanks: quiet}})
	want := []string{"the newest level of TK-2 came 3 days ago", "the newest level of TK-3 came 3 h ago", "the newest level of TK-6 came 3 h ago"}
	if !slices.Equal(unready, want) {
		t.Errorf("not ready for %q, want %q", unready, want)
	}
	// Whoever asks for the status, and the page, hear the same.
	old := Status{Daemon: true, Now: now, Points: good, Tanks: quiet[1:2], Reached: now}
	old.Answers = []Answer{old.readingAnswer()}
	if text := old.headline((&Server{}).localMinute); !old.NeedsPerson() || text != "reading all 1 point, but the newest level of TK-2 came 3 days ago; everything is sent" {
		t.Errorf("%q, needs a person: %t", text, old.NeedsPerson())
	}
	old.Points = []PointReading{{Quality: "good", At: now.Add(-14 * time.Hour)}}
	if text := old.headline((&Server{}).localMinute); text != "NOT READING: the newest level of TK-2 came 3 days ago; everything is sent" {
		t.Errorf("%q", text)
	}
}

// The first line says whether all is well, and what is read and sent.
func TestTheFirstLine(t *testing.T) {
	now := time.Now().UTC()
	good, bad := PointReading{Quality: "good"}, PointReading{Quality: "bad"}
	points := []PointReading{good, bad}
	well := []Answer{{State: Well}}
	two := map[string]outbox.Counts{ledger.Tickets: {Waiting: 2}}
	for want, s := range map[string]Status{
		"all is well: reading all 1 point; everything is sent":                                      {Points: []PointReading{good}, Reached: now, Answers: well},
		"reading all 1 point; NOT SENDING until the clock can be believed":                          {Points: []PointReading{good}, Reached: now, Answers: []Answer{{State: Bad}}, clockDoubted: true},
		"reading all 1 point; everything is sent":                                                   {Points: []PointReading{good}, Reached: now, Answers: []Answer{{State: Unknown}}},
		"nothing was read yet; nothing waits, and the service has accepted nothing yet":             {Answers: []Answer{{State: Unknown}}},
		"nothing was read yet; nothing waits, and the service REFUSES THE KEYS":                     {Answers: []Answer{{State: Unknown}}, Open: []ledger.Episode{{Rule: "key-refused", Source: keySource}}},
		"1 problem: reading 1 of 2 points, NO GOOD LEVEL of TK-1; everything is sent":               {Points: points, Reached: now, Answers: well, Found: []Problem{{}}, Tanks: []ledger.TankStatus{{ID: "TK-1"}}},
		"1 problem: reading all 1 point, TK-1 STANDS STILL; everything is sent":                     {Points: []PointReading{good}, Reached: now, Answers: well, Found: []Problem{{}}, Tanks: []ledger.TankStatus{{ID: "TK-1", Quality: "good", StoodFrom: now}}},
		"NOT READING: none of 1 point is good; everything is sent":                                  {Points: []PointReading{bad}, Reached: now, Answers: []Answer{{State: Bad}}},
		"reading all 1 point; NOT SENDING until the clock is set":                                   {Points: []PointReading{good}, Clock: "unset", Answers: []Answer{{State: Bad}}},
		"all is well: reading all 1 point; sending, 2 records on the way":                           {Points: []PointReading{good}, Clock: "unset", Streams: two, Drains: map[string]DrainStatus{ledger.Events: {Taken: now}}, Answers: well}, // these have their times
		"reading all 1 point; sending, but BEHIND: 2 records waiting since 1990-05-04 03:02":        {Points: []PointReading{good}, Streams: two, Now: now, Drains: map[string]DrainStatus{ledger.Tickets: {Taken: now.Add(-30 * time.Second)}}, Oldest: time.Date(1990, 5, 4, 3, 2, 1, 0, time.UTC), Answers: []Answer{{State: Bad}}},
		"reading all 1 point; NOT SENDING: 2 records waiting since 1990-05-04 03:02":                {Points: []PointReading{good}, Streams: two, Now: now, Reached: now, Oldest: time.Date(1990, 5, 4, 3, 2, 1, 0, time.UTC), Answers: []Answer{{State: Bad}}},
		"reading all 1 point; NOT STORING AND NOT SENDING: the outbox cannot be opened":             {Points: []PointReading{good}, Shut: "x", Answers: []Answer{{State: Bad}}},
		"1 problem: reading 1 of 2 points, NO GOOD LEVEL of A, B, C and 2 more; everything is sent": {Points: points, Reached: now, Answers: well, Found: []Problem{{}}, Tanks: []ledger.TankStatus{{ID: "A"}, {ID: "B"}, {ID: "C"}, {ID: "D"}, {ID: "E"}}},
	} {
		if got := s.headline((&Server{}).localMinute); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if strings.HasPrefix(want, "all is well") == s.NeedsPerson() && !strings.HasPrefix(want, "nothing was") && s.Answers[0].State != Unknown {
			t.Errorf("%s: needs a person: %t", want, s.NeedsPerson())
		}
	}
}

// A ticket that is parked on disk is a problem from the first second of a run, in the words of the run before, whatever else leaves.
func TestAParkedTicketIsAProblemFromTheFirstSecond(t *testing.T) {
	now := time.Now()
	s := Status{Daemon: true, Now: now, Reached: now, Streams: map[string]outbox.Counts{ledger.Tickets: {Waiting: 1}},
		Drains: map[string]DrainStatus{ledger.Tickets: {Parked: 1, Why: ParkedWhy}}}
	const problem = "1 of the tickets waits: " + ParkedWhy
	for _, x := range []struct {
		held    time.Time
		waiting uint64
		words   string
	}{
		{now.Add(-time.Hour), 1, "1 record WAITING FOR A PERSON, since the service may have it"},
		{time.Time{}, 1, "1 record WAITING FOR A PERSON, since the service may have it"},
		{time.Time{}, 3, "sending, 3 records waiting, 1 FOR A PERSON, since the service may have it"},
	} {
		d := s.Drains[ledger.Tickets]
		d.Held = x.held
		s.Drains[ledger.Tickets], s.Streams[ledger.Tickets] = d, outbox.Counts{Waiting: x.waiting}
		all := append(s.parkedProblems(), s.waitingProblems(false)...)
		if len(all) != 1 || all[0].sentence() != problem || all[0].Cost != Tickets {
			t.Errorf("held since %s, %d wait: %+v", x.held, x.waiting, all)
		}
		if got := s.sendingWords((&Server{}).localMinute); got != x.words {
			t.Errorf("%s, want %s", got, x.words)
		}
		s.Answers = []Answer{s.sendingAnswer()}
		if s.Answers[0].State != Bad || !s.NeedsPerson() || len((&Server{}).Unready(Overview{Status: s})) != 1 {
			t.Errorf("sending is %+v", s.Answers[0])
		}
	}
}

// Of two refused keys one problem is told, and not what waits for them.
func TestKeysThatAreRefusedAreOneProblem(t *testing.T) {
	s := Status{Daemon: true, Now: time.Now(), Oldest: time.Now().Add(-time.Hour), Streams: map[string]outbox.Counts{ledger.Tickets: {Waiting: 1}}, Drains: map[string]DrainStatus{
		ledger.Tickets: {Held: time.Now(), Why: "no key is accepted", Status: 401},
	}}
	for _, source := range []string{"service key primary", "service key secondary"} {
		s.Open = append(s.Open, ledger.Episode{Rule: eventrules.KeyRefused, Source: source, Note: source + ": refused"})
	}
	d := &Server{}
	if got := append(d.episodeProblems(s), s.waitingProblems(s.noKeyWorks())...); len(got) != 2 || got[0].Count != 2 {
		t.Errorf("one by one: %+v", got)
	}
	s.Open = append(s.Open, ledger.Episode{Rule: eventrules.KeyRefused, Source: "service key", Note: "service key: give new keys with gauger keys set"})
	got := append(d.episodeProblems(s), s.waitingProblems(s.noKeyWorks())...)
	if len(got) != 1 || !strings.HasSuffix(got[0].sentence(), "(give new keys with gauger keys set)") {
		t.Errorf("together: %+v", got)
	}
	s.Drains[ledger.Tickets] = DrainStatus{Held: s.Now, Answered: s.Now, Status: 429, Answer: "429 Too Many Requests"} // nobody is sent for new keys by that
	if got := d.episodeProblems(s); len(got) != 1 || !strings.HasSuffix(got[0].sentence(), "says nothing of the keys (429 Too Many Requests): wait for one that does before you get new ones") {
		t.Errorf("since it answers otherwise: %+v", got)
	}
}

// Streams to which the service says the same are one problem, in plain words.
func TestWhatWaitsForOneReasonIsOneProblem(t *testing.T) {
	now := time.Now()
	held := DrainStatus{Held: now, Why: "the service cannot be reached: look", Answer: "refused"}
	s := Status{Daemon: true, Now: now, Oldest: now.Add(-time.Hour), Streams: map[string]outbox.Counts{ledger.Tickets: {Waiting: 1}, ledger.Events: {Waiting: 3}, ledger.Memos: {Waiting: 1}},
		Drains: map[string]DrainStatus{ledger.Tickets: held, ledger.Events: held, ledger.Memos: {Held: now, Why: "why", Answer: "other"}}}
	all := s.waitingProblems(false)
	if len(all) != 2 || all[0].Text != "1 of the tickets, 3 of the events wait: the service cannot be reached: look" || all[1].Text != "1 of the memos waits: why" {
		t.Errorf("%+v", all)
	}
}

// Equal problems are one with a count, and each says what to do.
func TestEqualProblemsAreOne(t *testing.T) {
	d := &Server{}
	d.Site.Zone = time.UTC
	var open []ledger.Episode
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for i, unit := range []string{"a", "b", "c", "d", "e"} {
		open = append(open, ledger.Episode{Rule: eventrules.CommLoss, Source: unit, Note: "no answer within 1s", Since: at.Add(-time.Duration(i) * time.Minute)})
	}
	open = append(open, ledger.Episode{Rule: "Low battery", Source: "rtu/battery", Since: at, Over: at}, ledger.Episode{Rule: eventrules.Silent, Source: "radio/t2", Since: at, Over: at.Add(time.Hour), Note: "radio/t2: silent for 15s"})
	got := d.episodeProblems(Status{Open: open})
	if len(got) != 3 || !strings.Contains(got[2].Text, "since 2026-03-02 09:00 (silent for 15s; it came and went, and has not been so since 2026-03-02 10:00)") || got[0].Count != 5 || got[0].Cost != Readings || got[1].Cost != Rest {
		t.Fatalf("%+v", got)
	}
	const want = "comm-loss: a, b, c, 2 others since 2026-03-02 08:56 (no answer within 1s): look at power, cable, address, unit id and link; it ends when there is an answer"
	if got[0].sentence() != want || !strings.HasPrefix(got[1].sentence(), "Low battery: rtu/battery since ") {
		t.Errorf("%q, %q", got[0].sentence(), got[1].sentence())
	}
}

// What costs tickets is told before what costs readings, and that before the rest.
func TestTheDearestProblemIsTheFirst(t *testing.T) {
	for rule, want := range map[string]string{
		eventrules.KeyRefused: Tickets, eventrules.OutboxFull: Tickets, eventrules.Stuck: Tickets, eventrules.CommLoss: Readings,
		eventrules.Silent: Readings, eventrules.ConfigChanged: Rest, "Low battery": Rest,
	} {
		if got := eventCost(rule); got != want {
			t.Errorf("%s costs %s, want %s", rule, got, want)
		}
	}
	s := Status{Tanks: []ledger.TankStatus{{ID: "TK-1", Quality: collectors.Bad.String(), Error: "outside the tank"}}}
	if p := (&Server{}).tankProblems(s); len(p) != 1 || p[0].Cost != Tickets {
		t.Errorf("%+v", p)
	}
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	s = Status{Now: now, Tanks: []ledger.TankStatus{{ID: "TK-1", Quality: "good", LossSince: now.Add(-4 * time.Hour), LossEnd: now.Add(-2 * time.Hour), LossBbl: 45.3}, {ID: "TK-2", Quality: "good", LossSince: now.Add(-4 * time.Hour), LossBbl: 20.2}}}
	p := (&Server{}).tankProblems(s)
	if len(p) != 2 || p[0].Text != "TK-1: 45 bbl left slowly 2026-03-02 05:00 to 2026-03-02 07:00" || p[1].Text != "TK-2: 20 bbl left slowly since 2026-03-02 05:00, and it goes on" {
		t.Errorf("%+v", p)
	}
	s = Status{Now: now, Tanks: []ledger.TankStatus{{ID: "TK-1", Quality: "good", Gauge: "06-03-2", StoodFrom: now.Add(-42 * time.Hour)}, {ID: "TK-2", Quality: "good"}}}
	if p := (&Server{}).tankProblems(s); len(p) != 1 || p[0].Cost != Tickets || p[0].sentence() != "TK-1 STANDS STILL at 06-03-2 for 42.0 h, as its value never did: strap it by hand; no load and no high level is seen until it moves" {
		t.Errorf("%+v", p)
	}
}
