package control

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
)

// Problem is one thing that a person should look at, or several equal ones.
type Problem struct {
	Cost  string `json:"cost"` // what it may cost: tickets, readings, or the rest
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"` // what a person does about it, where the text does not say it
	Count int    `json:"count"`        // of equal ones; 0 and 1: it is one
}

// What a problem may cost, the dearest first.
const (
	Tickets  = "tickets"
	Readings = "readings"
	Rest     = "rest"
)

var costs = []string{Tickets, Readings, Rest}

// otherMasterToldFor: a master that was not heard for longer may be gone.
const otherMasterToldFor = time.Hour

// sentence is a problem in one line.
func (p Problem) sentence() string {
	if p.Do == "" {
		return p.Text
	}
	return p.Text + ": " + p.Do
}

func sentences(all []Problem) []string {
	out := []string{}
	for _, p := range all {
		out = append(out, p.sentence())
	}
	return out
}

// problems says what a person should look at, the dearest first.
func (d *Server) problems(s Status) []Problem {
	all := append(s.storeProblems(), smallOutbox(d.Box.Quota())...)
	all = append(all, d.clockProblems(s)...)
	all = append(all, d.configProblems()...)
	if d.Client != nil {
		for _, text := range d.Client.Keys().Endings() {
			all = append(all, Problem{Cost: Tickets, Text: text})
		}
		// Nobody knows whether the address of a service that has never accepted a key is right. An outage later, and what waits, are told of the records.
		if why, _ := d.Client.Silence.Load().(string); why != "" && s.Waiting() == 0 && s.Reached.IsZero() {
			all = append(all, Problem{Cost: Tickets, Text: "no answer of the service yet: " + why + unreachedHint(why), Do: "`gauger devices query` asks again"})
		}
	}
	if text, do := d.Ledger.MendedWarning(s.Now); text != "" {
		all = append(all, Problem{Cost: Tickets, Text: text, Do: do})
	}
	for _, text := range d.Ledger.EvictionWarnings(s.Now) {
		all = append(all, Problem{Cost: Readings, Text: text})
	}
	all = append(all, s.parkedProblems()...)
	all = append(all, s.waitingProblems(s.noKeyWorks())...)
	all = append(all, s.streamProblems()...)
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		all = append(all, s.dead[name].problems(d, name)...)
	}
	all = append(all, s.isolatedProblems()...)
	if s.Recorder != nil && s.Recorder.Error != "" {
		all = append(all, Problem{Cost: Readings, Text: "readings are not being recorded: " + s.Recorder.Error})
	}
	if d.Trail != nil && d.Trail.Err() != nil {
		all = append(all, Problem{Cost: Rest, Text: "who does what here is only in the journal: " + d.Trail.Err().Error()})
	}
	if s.Daemon { // else nobody looks whether they last
		all = append(all, d.episodeProblems(s)...)
	}
	all = append(all, d.tankProblems(s)...)
	for _, l := range s.Lines {
		if !l.OtherMaster.IsZero() && s.Now.Sub(l.OtherMaster) < otherMasterToldFor {
			all = append(all, Problem{Cost: Readings, Text: l.Line + ": another master speaks on this line, last " + Ago(s.Now, l.OtherMaster) + "; what may be the answer to its requests is not used",
				Do: "let one master ask, and the others ask that one (share:)"})
		}
	}
	cost := func(i int) int { return slices.Index(costs, all[i].Cost) }
	sort.SliceStable(all, func(i, j int) bool { return cost(i) < cost(j) }) // slices.SortStableFunc costs the binary 6 kB for a struct of this size
	return all
}

// answers are the four lines: is it reading, is it sending, is its clock right, do its keys work.
func (d *Server) answers(s Status) []Answer {
	all := []Answer{s.readingAnswer(), s.dead[ledger.Tickets].beside(s.sendingAnswer()), s.clockAnswer(d.Clock)}
	if d.Client != nil {
		a := keysAnswer(d.Client.Keys().Status(), s.Now)
		if other := s.saysNothingOfKeys(); other != "" && s.noKeyWorks() {
			a.State, a.Text = Unknown, "none was accepted when the service last spoke of them; its newest answer says nothing of them ("+other+")"
		}
		all = append(all, a)
	}
	return all
}

func (s Status) storeProblems() (all []Problem) {
	if s.StoreTrouble != "" {
		all = append(all, Problem{Cost: Tickets, Text: s.StoreTrouble})
	}
	return all
}

func (d *Server) clockProblems(s Status) []Problem {
	off, first, against := d.Clock.Deviation(s.Now), d.Clock.FirstSet(s.Now), d.Clock.Contradiction(s.Now)
	if s.ClockUnset() {
		return []Problem{{Cost: Tickets, Text: "the clock is not set: tickets, events and values wait; set it, or say `gauger clock trust` once it is right"}}
	}
	if against != 0 {
		waits := "tickets whose day would be another one wait, and what leaves has this clock's times"
		if off != 0 {
			waits = "tickets, events and values wait"
		}
		return []Problem{{Cost: Tickets, Text: clock.Says(against) + " than this box's clock, in answer after answer; " + waits,
			Do: "set the box's clock if it is wrong; if it is right, and the service's is not, say `gauger clock trust`"}}
	}
	if off != 0 && !first {
		until := "a quarter of an hour at most if it is not set again"
		if d.Clock.Disproved(s.Now) {
			until = "since it is behind what it was before"
		}
		return []Problem{{Cost: Tickets, Text: fmt.Sprintf("the clock was set by %s and nothing has confirmed it: tickets, events and values wait, %s; set it if it is wrong, or say `gauger clock trust` if it is right", off.Round(time.Second), until)}}
	}
	return nil
}

// configProblems are the doubts of the configuration that is at work, and that another one is on the disk.
func (d *Server) configProblems() (all []Problem) {
	for _, text := range d.ConfigDoubts {
		all = append(all, Problem{Cost: Rest, Text: text})
	}
	if d.ConfigOnDisk != nil {
		if text := d.ConfigOnDisk(); text != "" {
			all = append(all, Problem{Cost: Rest, Text: text})
		}
	}
	return all
}

// noKeyWorks says that both keys are refused, which is told as a problem.
func (s Status) noKeyWorks() bool {
	return slices.ContainsFunc(s.Open, func(e ledger.Episode) bool { return e.Rule == eventrules.KeyRefused && e.Source == keySource })
}

// keySource is that of notices about both keys; those about one have its name behind it.
const keySource = "service key"

// parkedProblems are the records that wait for a person, whenever the program began.
func (s Status) parkedProblems() (all []Problem) {
	for _, name := range slices.Sorted(maps.Keys(s.Drains)) {
		if n := s.Drains[name].Parked; n > 0 {
			all = append(all, Problem{Cost: Tickets, Count: n, Text: ofStream(uint64(n), name, "wait") + ": " + ParkedWhy})
		}
	}
	return all
}

// ofStream says that so many of a stream's records do something; nothing, and it is only counted.
func ofStream(n uint64, name, verb string) string {
	if n == 1 && verb != "" {
		verb += "s"
	}
	return strings.TrimSpace(fmt.Sprintf("%d of the %s %s", n, name, verb))
}

// waitingProblems say why nothing leaves, the streams to which the service says the same as one. What no key opens is told of the keys.
func (s Status) waitingProblems(noKey bool) (all []Problem) {
	if !s.Overdue() {
		return nil
	}
	at := map[string]int{}
	for _, name := range []string{ledger.Tickets, ledger.Events, ledger.Memos, ledger.TagValues, ledger.Targets} {
		n, d := s.Streams[name].Waiting, s.Drains[name]
		if n -= min(n, uint64(d.Parked)); d.unclear > 0 {
			n = uint64(d.unclear)
		}
		if n == 0 || d.Held.IsZero() || d.Unknown != "" || d.Why == "" || s.heldByLink(name) || noKey && d.Status == http.StatusUnauthorized {
			continue
		}
		if i, told := at[d.Answer]; told {
			all[i].Count++
			before, why, _ := strings.Cut(all[i].Text, ": ")
			all[i].Text = strings.TrimSuffix(strings.TrimSuffix(before, " waits"), " wait") + ", " + ofStream(n, name, "") + " wait: " + why
			continue
		}
		at[d.Answer] = len(all)
		all = append(all, Problem{Cost: costOf(name), Count: 1, Text: ofStream(n, name, "wait") + ": " + d.Why})
	}
	return all
}

// costOf is what trouble with a stream may cost.
func costOf(stream string) string {
	if stream == ledger.Tickets {
		return Tickets
	}
	return Rest
}

// streamProblems are what was lost of each stream.
func (s Status) streamProblems() (all []Problem) {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		if s.Streams[name].LostUnknown {
			unknown = append(unknown, StreamName(name))
		}
	}
	if len(unknown) > 0 {
		all = append(all, Problem{Cost: Tickets, Count: len(unknown), Text: "nobody knows how many records of " + strings.Join(unknown, ", ") + " are lost: the outbox was damaged and its counts with it; compare what the service has with the site's own papers"})
	}
	return all
}

// isolatedProblems are the ids for which the service takes nothing, while it takes others.
func (s Status) isolatedProblems() (all []Problem) {
	for _, name := range slices.Sorted(maps.Keys(s.Drains)) {
		apart := s.Drains[name].Isolated
		for _, a := range apart[:min(len(apart), isolatedNamed)] {
			all = append(all, Problem{Cost: Rest, Text: a.Why})
		}
		if more := len(apart) - isolatedNamed; more > 0 {
			all = append(all, Problem{Cost: Rest, Text: fmt.Sprintf("and so for %d other ids of %s", more, name)})
		}
		if why := s.Drains[name].Unknown; why != "" && len(apart) == 0 {
			all = append(all, Problem{Cost: Rest, Text: why})
		}
	}
	return all
}

// namedSources of equal episodes; the others are counted.
const namedSources = 3

// episodeProblems are what is going on. Episodes of one rule and note are one problem; of devices also those whose notes end in the
// same cause, as all behind a line have. Of keys that are all refused no single one is told.
func (d *Server) episodeProblems(s Status) (all []Problem) {
	var order []string
	alike := map[string][]ledger.Episode{}
	noKey := s.noKeyWorks()
	for _, e := range s.Open {
		if noKey && strings.HasPrefix(e.Source, keySource+" ") {
			continue
		}
		e.Note = strings.TrimPrefix(e.Note, e.Source+": ")
		if !e.Over.IsZero() && eventrules.Do(e.Rule) != "" {
			e.Note += "; it came and went, and has not been so since " + d.localMinute(e.Over)
		}
		key := e.Rule + "\x00" + e.Note
		if eventCost(e.Rule) == Readings {
			key = e.Rule + "\x00" + e.Note[strings.LastIndex(e.Note, ": ")+1:]
		}
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], e)
	}
	for _, key := range order {
		group := alike[key]
		first := group[0]
		var names []string
		for _, e := range group {
			names = append(names, e.Source)
			if e.Since.Before(first.Since) {
				first = e
			}
		}
		if more := len(names) - namedSources; more > 0 {
			names = append(names[:namedSources], fmt.Sprintf("%d others", more))
		}
		p := Problem{Cost: eventCost(first.Rule), Count: len(group), Do: eventrules.Do(first.Rule)}
		p.Text = first.Rule + ": " + strings.Join(names, ", ") + " since " + d.localMinute(first.Since)
		note := first.Note
		if len(group) > 1 {
			_, note, _ = strings.Cut(key, "\x00")
		}
		if note = strings.TrimSpace(note); note != "" {
			p.Text += " (" + note + ")"
		}
		if strings.Contains(note, "gauger keys set") {
			p.Do = "" // the note says it
		}
		if other := s.saysNothingOfKeys(); first.Rule == eventrules.KeyRefused && other != "" {
			p.Do = "its newest answer says nothing of the keys (" + other + "): wait for one that does before you get new ones"
		}
		all = append(all, p)
	}
	return all
}

// eventCost is what an event's rule may cost. A site's own rules watch its readings.
func eventCost(rule string) string {
	switch rule {
	case eventrules.CommLoss, eventrules.DeviceStatus, eventrules.DeviceTime, eventrules.MessageLost, eventrules.SessionLost, eventrules.Silent,
		eventrules.SubscriptionRefused, eventrules.ReadingsUnused, eventrules.TopicsTooMany, eventrules.Unreadable,
		eventrules.ValueMissing:
		return Readings
	case eventrules.BadValue, eventrules.Gap, eventrules.SpikeRate, eventrules.Step, eventrules.Stuck, eventrules.UnexplainedLoss, eventrules.OilUnloaded,
		eventrules.LoadNeedsReview, eventrules.TicketUnwritable, eventrules.KeyRefused, eventrules.KeyFile, eventrules.KeyUnusable,
		eventrules.OutboxFull, eventrules.OutboxShut, eventrules.SendRejected, eventrules.ServiceSettings:
		return Tickets
	}
	return Rest
}

// tankProblems are tanks whose levels cannot be used, and loads that wait for a person.
func (d *Server) tankProblems(s Status) (all []Problem) {
	for _, t := range s.Tanks {
		if !t.LossSince.IsZero() {
			text := fmt.Sprintf("%s: oil is missing since %s by the tank book, and it goes on", t.ID, t.LossSince.UTC().Format(time.DateOnly))
			switch {
			case !t.LossEnd.IsZero():
				text = fmt.Sprintf("%s: %.0f bbl left slowly %s to %s", t.ID, t.LossBbl, d.localMinute(t.LossSince), d.localMinute(t.LossEnd))
			case t.LossBbl > 0:
				text = fmt.Sprintf("%s: %.0f bbl left slowly since %s, and it goes on", t.ID, t.LossBbl, d.localMinute(t.LossSince))
			}
			all = append(all, Problem{Cost: Tickets, Text: text,
				Do: "look for a leak, a valve or a theft; `gauger book --tank " + t.ID + "` shows the days"})
		}
		if text := t.StandsStill(s.Now); text != "" {
			all = append(all, Problem{Cost: Tickets, Text: t.ID + " " + text, Do: "strap it by hand; no load and no high level is seen until it moves"})
		}
		if t.Waits != "" {
			all = append(all, Problem{Cost: Rest, Text: t.ID + ": " + t.Waits})
		}
		if t.Error != "" {
			all = append(all, Problem{Cost: Tickets, Text: t.ID + ": " + t.Error + "; compare the unit and scale of its level point and its height in the configuration with the gauge: no load is seen from such levels"})
		}
	}
	all = append(all, s.unusedLevels(d.localMinute)...)
	for _, h := range s.Held {
		if len(h.Load.Review) > 0 {
			name := cmp.Or(h.Number, h.Handle)
			all = append(all, Problem{Cost: Tickets, Text: fmt.Sprintf("ticket %s, %.1f bbl of %s from %s, is held: %s", name, h.Load.GaugeBbl, h.Load.Tank, d.localMinute(h.Load.Start), ledger.JoinReasons(h.Load.Review)),
				Do: fmt.Sprintf("`gauger tickets release %s` or `gauger tickets reject %[1]s --why TEXT`", name)})
		}
	}
	return all
}

// unknownIDs are hints: the tanks and devices of the configuration that the service does not know. Where it knows none of the tanks, it may
// have no devices for them at all.
func (d *Server) unknownIDs(all []ledger.TankStatus) (hints []string) {
	known, unknown := "", []string{}
	for _, t := range all {
		switch t.Known {
		case ledger.Known:
			known = t.ID
		case ledger.Unknown:
			unknown = append(unknown, t.ID)
		}
	}
	if len(unknown) > 0 {
		text := "the service knows no device with the external id " + strings.Join(unknown, ", ")
		if known != "" {
			text += ", and knows " + known
		}
		hints = append(hints, text+". Tickets are sent all the same: compare tanks.id with `gauger devices query`")
	}
	for _, id := range d.Site.DeviceIDs() {
		if looked, err := d.Ledger.LookupOf(id); err == nil && looked.Found == ledger.Unknown {
			hints = append(hints, "the service knows no device with the id "+id+" (object:), to which events and memos go: compare it with `gauger devices query`")
		}
	}
	return hints
}
