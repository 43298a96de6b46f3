package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/agent/tank"
)

const (
	whyNear  = 15 * time.Minute // a person's time is no better than this
	whyQuiet = 30 * time.Minute // about the time for which the level is told
	whyGap   = 20 * time.Minute // without a reading: nobody can say what happened
)

// explainQuestion is a ticket's number, or a time and a tank.
type explainQuestion struct {
	number, tank string
	at           time.Time
	taken        string // which day was taken for a time of day that has not come yet
}

// readQuestion reads the arguments; a tank and a time may come in either order.
func readQuestion(c *call, id, at string, rest []string) (q explainQuestion, err error) {
	wants := usageError{"tickets explain wants a ticket's number, or a time and a tank: `gauger tickets explain \"2026-03-01 14:30\" TK-1001`"}
	h := findSite(c)
	zone, now := h.zone(), time.Now()
	if id == "" && at == "" && len(rest) == 1 {
		if _, err := clockTime(rest[0], zone, now); err == nil {
			return q, usageError{fmt.Sprintf("at %s in which tank? `gauger tickets explain %[1]q TANK`%s", rest[0], h.tankNames(", one of "))}
		}
		return explainQuestion{number: rest[0]}, nil
	}
	for _, word := range rest {
		_, err := clockTime(word, zone, now)
		switch {
		case at == "" && err == nil:
			at = word
		case id == "":
			id = word
		default:
			return q, wants
		}
	}
	if id == "" || at == "" {
		return q, wants
	}
	q.tank = id
	if q.at, err = clockTime(at, zone, now); err != nil {
		return q, usageError{err.Error()}
	}
	q.taken = dayTaken(at, q.at, zone, now)
	return q, nil
}

// dayTaken says which day a time of day without one is of, where it is not today's.
func dayTaken(text string, at time.Time, zone *time.Location, now time.Time) string {
	if _, err := parseTime(text, zone, now); err == nil || at.In(zone).Format(time.DateOnly) == now.In(zone).Format(time.DateOnly) {
		return ""
	}
	return fmt.Sprintf("%s has not come yet today, it is %s: this is about yesterday, %s.", text, now.In(zone).Format("15:04"), at.In(zone).Format("January 2"))
}

func explainTime(ctx context.Context, c *call, q explainQuestion) error {
	var w ledger.Explanation
	var rows []ticketRow
	err := withConnection(c, func(d *connection) (err error) {
		if err = d.request(ctx, "tickets.why", ledger.ExplainArgs{Tank: q.tank, At: q.at}, &w); err == nil {
			rows, err = d.tickets(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	a := timeAnswer{&w, findSite(c), rows}
	says := a.sentences()
	if q.taken != "" {
		says = append([]string{q.taken}, says...)
	}
	return c.show(map[string]any{"says": says, "known": w}, func() error { return printSentences(c, says) })
}

// timeAnswer makes sentences of all that is known of a tank about a time.
type timeAnswer struct {
	*ledger.Explanation
	h    site
	rows []ticketRow
}

func (a *timeAnswer) clock(t time.Time) string {
	return t.In(a.h.zone()).Format("15:04")
}

// sentences tell of what covers the time first, then of the hour about it.
func (a *timeAnswer) sentences() []string {
	when := a.At.In(a.h.zone()).Format("15:04 on January 2, 2006")
	if a.At.After(a.Now) {
		return []string{fmt.Sprintf("%s has not come yet; it is %s.", when, a.clock(a.Now))}
	}
	nearest := whyNear
	for i := range a.Tickets {
		apart, _, _ := a.hauled(&a.Tickets[i])
		nearest = min(nearest, apart)
	}
	var hit, near []string
	for i := range a.Tickets {
		b := &a.Tickets[i]
		apart, unread, lies := a.hauled(b)
		if apart > nearest {
			near = append(near, fmt.Sprintf("Ticket %s is near, %s; `gauger tickets explain` tells of it.", b.Number, lies))
			continue
		}
		was := fmt.Sprintf("At %s tank %s was ", when, a.Tank)
		switch {
		case unread:
			was = fmt.Sprintf("Whether tank %s was being hauled at %s is not known: it was %s", a.Tank, when, lies)
		case apart > 0:
			was += "not being hauled, but it was " + lies
		default:
			was += "being hauled"
		}
		hit = append(append(hit, was+either(b.Rejected != "", "; its ticket was rejected.", "; there is a ticket.")), a.ticket(b)...)
	}
	for _, all := range [][]tank.Verdict{a.Verdicts, a.Waiting} {
		for i := range all {
			if says := a.verdictSentences(&all[i]); covers(all[i].Start, all[i].End, a.At) {
				hit = append(hit, says...)
			} else {
				near = append(near, "Near it: "+lowerFirst(strings.Join(says, " ")))
			}
		}
	}
	if len(hit) == 0 {
		quiet, blind := a.quietSentences()
		hit = append(hit, fmt.Sprintf("At %s no oil was hauled from tank %s that gauger could see.", when, a.Tank))
		if blind {
			hit = []string{fmt.Sprintf("Whether oil was hauled from tank %s at %s gauger cannot say.", a.Tank, when)}
		}
		hit = append(hit, quiet...)
	}
	return append(hit, near...)
}

// hauled says how far from a ticket's load the time is, whether no reading shows if it was in it, and when the load was. Where its start or end
// was not read those are guesses: the readings about it bound it. A time is given to the minute, so that a load has begun in the whole minute of
// its start.
func (a *timeAnswer) hauled(b *ledger.TicketRecord) (apart time.Duration, unread bool, lies string) {
	from, to := b.Start.Truncate(time.Minute), b.End
	words := [2]string{a.clock(from), a.clock(to)}
	edges, hidden := unreadEdges(b.Load), b.Load != nil && b.Load.Hidden() != nil
	if hidden {
		edges[0] = b.Load.Hidden()
	}
	for i, s := range edges {
		if s == nil {
			continue
		}
		first, last := outward(s)
		unread = unread || !a.At.Before(first) && !a.At.After(last)
		if first.Before(from) {
			from = first
		}
		if last.After(to) {
			to = last
		}
		words[i] = fmt.Sprintf("some time between %s and %s, when no reading came", a.clock(first), a.clock(last))
	}
	lies = "from " + words[0] + when(edges[0] != nil, ",") + " to " + words[1]
	if hidden {
		lies = "at " + words[0]
	}
	return max(0, from.Sub(a.At), a.At.Sub(to)), unread, lies
}

// covers says that a time lies in a stretch, as exactly as people know their times.
func covers(from, to, at time.Time) bool {
	return !at.Before(from.Add(-whyNear)) && !at.After(to.Add(whyNear))
}

// ticket is the story of the ticket that covers the time.
func (a *timeAnswer) ticket(b *ledger.TicketRecord) []string {
	for i := range a.rows {
		if r := &a.rows[i]; r.Number == b.Number && r.Tank == b.Tank && r.Start.Equal(b.Start) {
			return append([]string{"It is " + r.Name() + "."}, r.sentences(a.h)...)
		}
	}
	return []string{fmt.Sprintf("It is %s; `gauger tickets show` tells of it.", b.Number)} // it came while we asked
}

// notRuns say why a movement is no run, by what it was.
var notRuns = map[string]string{
	tank.Metered:       "It makes no ticket: %s.",
	tank.TooSmall:      "That is no run but a small draw, as a sample or a drain makes it: %s. Small draws of a day are told of in one event.",
	tank.TooSlow:       "That is no run but a loss: %s. An event told of it.",
	tank.TooLongUnseen: "It makes no ticket: %s, so nobody knows what happened in that time. An event told of it.",
	tank.WaterDrawn:    "That was water and no oil: %s. An event told of it.",
	tank.Transferred:   "The oil did not leave the site, it was moved: %s. An event told of it.",
	tank.Recirculated:  "The oil came back, so that is a recirculation and no run: %s. An event told of it.",
	tank.Echo:          "The sensor saw something that was not the level: %s.",
}

// maybeRuns say the same of a movement that no reading shows.
var maybeRuns = map[string]string{
	tank.TooSmall:     "It makes no ticket: %s. A small draw, as a sample or a drain makes it, looks so. Small draws of a day are told of in one event.",
	tank.WaterDrawn:   "It makes no ticket, since it may have been water: %s, though no reading shows it. An event told of it.",
	tank.Transferred:  "It makes no ticket, since the oil may have been moved to another tank: %s, though no reading shows it. Look whether a truck was there. An event told of it.",
	tank.Recirculated: "It makes no ticket, since the oil may have come back: %s, though no reading shows it. An event told of it.",
}

// faultWords of a sensor's events.
var faultWords = map[string]string{
	eventrules.Stuck: "the sensor's value was stuck", eventrules.Step: "the sensor's value jumped, as when somebody sets it anew", eventrules.Gap: "no reading came",
	eventrules.BadValue: "the sensor gave values that are no level", eventrules.SpikeRate: "the sensor gave false echoes", eventrules.ClockStep: "the clock of the readings jumped",
	eventrules.ConfigChanged:   "the configuration was changed",
	eventrules.UnexplainedLoss: "the level went down more slowly than any load",
}

func (a *timeAnswer) verdictSentences(v *tank.Verdict) []string {
	if what, isFault := faultWords[v.What]; isFault {
		return []string{fmt.Sprintf("%s %s: %s.", spokenPeriod(v.Start, v.End, a.h.zone()), what, v.Why)}
	}
	inflow := when(v.What != tank.Recirculated, " with what flowed in")
	fell := fmt.Sprintf("%s the level of tank %s fell from %s to %s, %.1f bbl%s.", spokenPeriod(v.Start, v.End, a.h.zone()), a.Tank, spokenLevel(v.Open), spokenLevel(v.Close), v.Bbl, inflow)
	if v.Unseen != nil {
		fell = fellUnseen(v.Unseen, a.h.zone(), a.Tank, v.Open, v.Close) + fmt.Sprintf(" It was %.1f bbl.", v.Bbl)
	}
	if v.What != tank.Undecided {
		text, known := notRuns[v.What]
		if guess, asserts := maybeRuns[v.What]; asserts && v.Unseen != nil {
			text = guess
		}
		if !known {
			text = "It makes no ticket: %s."
		}
		return []string{fell, fmt.Sprintf(text, v.Why)}
	}
	if a.Lact {
		return []string{fell, "It will make no ticket: a meter makes the tickets of this tank, never its level."}
	}
	if v.Bbl < a.MinLoad {
		return []string{fell, fmt.Sprintf("It is not over yet, or gauger still waits whether it goes on; a load here has %g bbl or more.", a.MinLoad)}
	}
	return []string{fell, fmt.Sprintf("That may become a ticket. It is not decided yet: %s.", untilText(v, a.clock))}
}

// untilText is what a fall still waits for, and until when, where that is known.
func untilText(v *tank.Verdict, clock func(time.Time) string) string {
	return v.Why + when(!v.Until.IsZero(), ", which would be until "+clock(v.Until))
}

// quietSentences tells how the level stood about the time, or that nobody knows: blind.
func (a *timeAnswer) quietSentences() (says []string, blind bool) {
	before, after := a.levelsAround()
	switch {
	case len(a.Levels) == 0 && a.Damage != "":
		return []string{fmt.Sprintf("What was recorded of that time cannot be read: %s.", a.Damage)}, true
	case len(a.Levels) == 0 && a.Oldest.IsZero():
		return []string{"No reading of the level is kept, and nothing was noted of that time."}, true
	case len(a.Levels) == 0 && a.At.Before(a.Oldest):
		return []string{fmt.Sprintf("The readings that are kept begin at %s, and nothing was noted of that time.", timeText(a.Oldest, a.h.zone()))}, true
	case len(a.Levels) == 0:
		return []string{"No reading of the level came within the hour before or after."}, true
	case before.At.IsZero():
		return []string{fmt.Sprintf("No reading of the level came before %s.", a.clock(after.At))}, true
	case after.At.IsZero() && a.At.Sub(before.At) > whyGap:
		return []string{fmt.Sprintf("No reading has come since %s, when the level was %s.", a.clock(before.At), spokenLevel(before.In))}, true
	case !after.At.IsZero() && after.At.Sub(before.At) > whyGap:
		return []string{fmt.Sprintf("No reading came from %s to %s; the level was %s before and %s after.", a.clock(before.At), a.clock(after.At),
			spokenLevel(before.In), spokenLevel(after.In))}, true
	}
	return []string{a.levelSentence(), fmt.Sprintf("A load here takes %g bbl or more, at %g bbl a minute or faster.", a.MinLoad, a.MinRate)}, false
}

// levelsAround are the last level at or before the time and the first after it.
func (a *timeAnswer) levelsAround() (before, after tank.Moment) {
	for _, l := range a.Levels {
		if !l.At.After(a.At) {
			before = l
		} else if after.At.IsZero() {
			after = l
		}
	}
	return before, after
}

// levelSentence tells where the level was in the half hour before and after.
func (a *timeAnswer) levelSentence() string {
	var near []tank.Moment
	var levels []float64
	for _, l := range a.Levels {
		if l.At.Sub(a.At).Abs() <= whyQuiet {
			near, levels = append(near, l), append(levels, l.In)
		}
	}
	if near == nil {
		return "The level of that time is known by few readings only, and none within half an hour."
	}
	first, last, low, high := near[0], near[len(near)-1], slices.Min(levels), slices.Max(levels)
	from, to := spokenLevel(low), spokenLevel(high)
	where := either(from == to, "at "+from, "between "+from+" and "+to)
	text := fmt.Sprintf("Between %s and %s the level lay %s (%.2f to %.2f in)", a.clock(first.At), a.clock(last.At), where, low, high)
	switch d := last.In - first.In; {
	case d > 1:
		return text + fmt.Sprintf(": it rose by %.1f in.", d)
	case d < -1:
		return text + fmt.Sprintf(": it fell by %.1f in.", -d)
	}
	return text + ": it stood."
}
