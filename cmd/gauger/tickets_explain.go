package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/ledger"
	"gauger/agent/tank"
)

type ticketsExplainOptions struct{ id, at string }

func ticketsExplainCommand(c *call) *cobra.Command {
	o := &ticketsExplainOptions{}
	cmd := newCommand(c, "explain NUMBER | TIME TANK", "why it is a ticket, or why there is none, in sentences", o.run)
	f := cmd.Flags()
	f.StringVar(&o.id, "tank", "", "`ID` of the tank, to ask about a time")
	f.StringVar(&o.at, "at", "", "`TIME` to ask about: \"2026-03-01 14:30\", 14:30 (the last one), 2h (ago)")
	return cmd
}

func (o *ticketsExplainOptions) run(ctx context.Context, c *call, args []string) error {
	q, err := readQuestion(c, o.id, o.at, args)
	if err != nil {
		return err
	}
	if q.tank != "" {
		return explainTime(ctx, c, q)
	}
	rows, err := listTickets(ctx, c)
	if err != nil {
		return err
	}
	r, err := byNumber(rows, q.number)
	if err != nil {
		return err
	}
	return printSentences(c, r.sentences(findSite(c)))
}

func printSentences(c *call, says []string) error {
	return c.show(says, func() error { return printf(c.out, "%s\n", strings.Join(says, "\n")) })
}

// spokenLevel is a level as people say it: 14 ft 3 1/4 in.
func spokenLevel(inches float64) string {
	q := int64(math.Round(math.Abs(inches) * 4))
	return when(inches < 0 && q > 0, "minus ") + fmt.Sprintf("%d ft %d%s in", q/48, q%48/4, [4]string{"", " 1/4", " 1/2", " 3/4"}[q%4])
}

// spokenPeriod is a stretch of time as people say it, with the date where it is not clear from the end. Minutes are those that a clock
// shows, as in the list: a time stands in one way everywhere.
func spokenPeriod(from, to time.Time, zone *time.Location) string {
	a, z := from.In(zone), to.In(zone)
	if a.Format(time.DateOnly) == z.Format(time.DateOnly) {
		return fmt.Sprintf("On %s from %s to %s", a.Format("January 2"), a.Format("15:04"), z.Format("15:04"))
	}
	return fmt.Sprintf("From %s on %s to %s on %s", a.Format("15:04"), a.Format("January 2"), z.Format("15:04"), z.Format("January 2"))
}

func (r *ticketRow) sentences(h site) []string {
	l := r.Load
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if l == nil {
		g := r.figures(h)
		if r.Replaces != "" {
			say("Ticket %s was written by %s in the place of %s; `gauger tickets explain %[3]s` says what that one was.", r.Number, r.Person, r.Replaces)
		} else {
			say("Ticket %s was written by %s; gauger made none of the load by itself.", r.Number, r.Person)
		}
		if g.open != nil {
			say("It says: %s the level of tank %s fell from %s to %s.", lowerFirst(spokenPeriod(r.Start, r.End, h.zone())), r.Tank, spokenLevel(*g.open), spokenLevel(*g.closing))
		}
		if g.bbl != nil {
			say("By the tank's table that is %.1f bbl.", *g.bbl)
		}
		if r.Anyway != "" {
			say("Something spoke against it, and %s entered it anyway: %s.", r.Person, r.Anyway)
		}
		return append(out, r.outcomeSentences(h)...)
	}
	hidden := l.Hidden()
	if hidden != nil {
		out = append(out, fellUnseen(hidden, h.zone(), l.Tank, l.Open, l.Close))
	} else {
		say("%s the level of tank %s fell from %s to %s.", spokenPeriod(l.Start, l.End, h.zone()), l.Tank, spokenLevel(l.Open), spokenLevel(l.Close))
	}
	for _, edge := range computedEdges(l) {
		say("No reading shows the level at the %s: it is computed from the readings on both sides, not gauged.", edge)
	}
	if v := r.Volumes; v != nil && v.OpenBbl > 0 {
		say("By the %s there were %.1f bbl in the tank before and %.1f after.", tableName(l.Table), v.OpenBbl, v.CloseBbl)
	}
	least, what := "", "what"
	if why := l.Least(); why != "" {
		least, what = "at least ", "the least that"
		say("The difference is %.1f bbl, %s; the load was at least that: %s, and what was taken then is not in it.", l.GaugeBbl, ledger.ErrorText(l), why)
	} else {
		say("The difference is %.1f bbl, %s.", l.GaugeBbl, ledger.ErrorText(l))
	}
	switch {
	case hidden != nil:
		out = append(out, inflowUnseen(l), paceUnseen(l))
	case l.InflowUnknown:
		say("What flowed in meanwhile is not known, since the tank was not seen at rest for long enough; more than that may have left it.")
	case l.InflowBbl < 0.05:
		say("No inflow could be seen meanwhile, so that is also %s left the tank.", what)
	default:
		say("Meanwhile about %s flowed in, so %s%.1f bbl left the tank.", ledger.InflowText(l), least, l.RemovedBbl)
	}
	if hidden == nil {
		say("It left at %.1f bbl a minute, %s, seen in %s.", l.Rate, partsText(l), countText(l.Samples, "reading"))
	}
	out = append(out, otherCauses(l)...)
	if l.Group != "" {
		say("The tank stands in the group %s, joined by an open equaliser; its levels fell by %.1f bbl together, without what flowed in.", l.Group, l.GroupBbl)
	}
	switch took := l.End.Sub(l.Start); {
	case !tellsOfGap(l) || hidden != nil:
	case l.Gap > took:
		say("Nothing shows the level for %s about its end or its beginning: when in that time it was, and what else the level did, is not known.", spokenDuration(l.Gap))
	default:
		say("No reading came for %s of its %s: what the level did in that time is not known.", spokenDuration(l.Gap), spokenDuration(took))
	}
	if len(l.Remarks) > 0 {
		say("A reader should know: %s.", strings.Join(l.Remarks, "; "))
	}
	out = append(out, r.confidenceSentences()...)
	return append(out, r.outcomeSentences(h)...)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func partsText(l *tank.Load) string {
	switch {
	case l.Parts > 1:
		return fmt.Sprintf("in %d parts with pauses between them", l.Parts)
	case tellsOfGap(l):
		return "without a pause that a reading shows"
	}
	return "without a pause"
}

// otherCauses are what the fall could have been instead of a load, each with the figure that speaks against it.
func otherCauses(l *tank.Load) []string {
	v := l.Rivals
	if v == nil {
		return []string{"A version of gauger made it that did not keep what else the fall could have been."}
	}
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	say("Could it have been something else?")
	say("A sample or a drain: no, those take less than the %g bbl that count as a load here, and this took %.1f.", v.MinLoad, l.RemovedBbl)
	if l.Hidden() != nil {
		otherCausesUnseen(l, v, say)
	} else {
		otherCausesSeen(l, v, say)
	}
	if v.WaterIn != nil {
		say("Water: no, the water under the oil fell by %.1f in, the level by %.1f in.", *v.WaterIn, l.Open-l.Close)
	}
	switch {
	case l.Hidden() != nil:
		say("A jump of the sensor: not known, no reading came while the level fell.")
	case l.Samples >= 3:
		if from, to := widestStep(l); from > to {
			say("A jump of the sensor: not excluded, no reading shows the level on its way from %s to %s; %s came while it fell.", spokenLevel(from), spokenLevel(to), countText(l.Samples, "reading"))
		} else {
			say("A jump of the sensor: no, %s came while the level fell.", countText(l.Samples, "reading"))
		}
	}
	return out
}

// widestStep is the part of a fall that no reading shows, where that is more than a quarter of it and three times what lies between two readings
// else; nothing: the readings show it all.
func widestStep(l *tank.Load) (from, to float64) {
	if l.Trend == nil {
		return 0, 0
	}
	n, end := 0.0, l.End.Sub(l.Start).Seconds()
	at, level := l.Trend.Seconds, l.Trend.Level
	for i := 1; i < len(at); i++ {
		if at[i] > 0 && float64(at[i-1]) < end {
			n++
			if a, b := float64(level[i-1])/100, float64(level[i])/100; a-b > from-to {
				from, to = a, b
			}
		}
	}
	if fell := l.Open - l.Close; from-to <= fell/4 || from-to <= 3*fell/n {
		return 0, 0
	}
	return from, to
}

// sayUnread says which tanks nobody read, so that oil may have gone there, and what went into the others.
func sayUnread(v *tank.Rivals, say func(format string, args ...any)) {
	others := when(v.RoseBbl >= 0.5, fmt.Sprintf("; the others took %.1f bbl", v.RoseBbl))
	say("A transfer to another tank: not known, %s had no reading meanwhile, or a value that stood still%s.", strings.Join(v.Unread, " and "), others)
}

// otherCausesSeen are those that the readings inside the fall exclude.
func otherCausesSeen(l *tank.Load, v *tank.Rivals, say func(format string, args ...any)) {
	say("A leak: no, a leak takes hours; this fell at %.1f bbl a minute, and below %g it would have been told of as a loss.", l.Rate, v.MinRate)
	switch {
	case len(v.Unread) > 0:
		sayUnread(v, say)
	case v.Others == 0:
		say("A transfer to another tank: gauger watches no other tank here into which it could have gone.")
	case v.RoseBbl < 0.5 && v.Others == 1:
		say("A transfer to another tank: no, the other tank that gauger watches here took in no more meanwhile than its well makes.")
	case v.RoseBbl < 0.5:
		say("A transfer to another tank: no, none of the %d others that gauger watches here took in more meanwhile than its well makes.", v.Others)
	case v.Others == 1:
		say("A transfer to another tank: no, %s is the only other tank that gauger watches here, and it took %.1f bbl.", v.Rose, v.RoseBbl)
	default:
		say("A transfer to another tank: no, of the %d others that gauger watches here %s rose most, and together they took %.1f bbl.",
			v.Others, v.Rose, v.RoseBbl)
	}
	watched := spokenDuration(v.Watched)
	switch fell := l.Open - l.Close; {
	case v.BackIn < 0.5:
		say("A recirculation: no, gauger watched for %s after the end, and nothing came back.", watched)
	case v.BackIn > fell/2:
		say("A recirculation: most likely, in the %s that gauger watched after the end %.1f of %.1f in came back.", watched, v.BackIn, fell)
	default:
		say("A recirculation: no, gauger watched for %s after the end, and of %.1f in only %.1f in came back.", watched, fell, v.BackIn)
	}
}

// confidenceSentences tell the ticket's confidence and its grounds.
func (r *ticketRow) confidenceSentences() []string {
	l := r.Load
	text := fmt.Sprintf("How sure: gauger puts the chance that the barrels are right, to one barrel or one in a hundred, at %.0f in 100; it never claims more than 99.",
		min(100*l.Confidence, 99))
	if len(l.Review) > 0 {
		return []string{text, fmt.Sprintf("A person should look at it: %s.", tank.JoinReasons(l.Review))}
	}
	if l.Sigma > 0 {
		text += fmt.Sprintf(" The sensor's readings scatter by %.2f in.", l.Sigma)
	}
	if len(l.Remarks)+len(r.Found)+len(r.ForReview()) > 0 || r.Hauled.Verdict() == "APART" || !r.Booked() {
		return []string{text} // something else that is said asks for one
	}
	return []string{text, "Nothing was found that calls for a person."}
}

// outcomeSentences tell of the truck's ticket, of a rejection, and of what comes next.
func (r *ticketRow) outcomeSentences(h site) []string {
	var out []string
	for _, f := range r.Found {
		out = append(out, fmt.Sprintf("Learned later, on %s: %s.", timeText(f.At, h.zone()), f.Note))
	}
	if d := r.Hauled; d != nil {
		out = append(out, fmt.Sprintf("The truck's ticket %s says %.2f bbl %s: %s.", strings.Join(d.Numbers, " and "), d.Bbl, basisOf(d.Basis, d.Metered), differenceOf(d, &r.TicketRecord)))
	}
	if r.Rejected != "" {
		return append(out, "It was rejected by "+r.Rejected+".", "It never leaves, and nothing of it is booked.")
	}
	out = append(out, "The ticket is "+r.stateText(h)+".")
	for _, text := range r.Repeated() {
		out = append(out, "Before that "+countText(r.Unclear.Count, "send")+" without a clear answer went out: "+text+", so look into its list, and say what you find with `gauger outbox confirm "+fmt.Sprintf("%s/%d", ledger.Tickets, r.Seq)+" --why TEXT`.")
	}
	switch {
	case r.Voided != "":
		out = append(out, "It is void, by "+r.Voided+". Nothing of it is booked here; the service has it still.")
	case r.State == "waiting" && r.Waits != "": // the sentence before says what to do
	case r.State == "delivered":
		out = append(out, fmt.Sprintf("It cannot be changed any more. If it is wrong, `gauger tickets add --replaces %[1]s --why TEXT` books the right one in its place; "+
			"if no oil was run, `gauger tickets reject %[1]s --left --why TEXT`.", r.Name()), "Should gauger learn better, it says so in an event.")
	case r.State == "waiting":
		out = append(out, "It leaves as soon as the service can be reached, and with the same number however often it has to be sent.")
	case r.State == "held":
		out = append(out, "Until then a person can still `gauger tickets reject` it.")
	}
	return out
}

// Of a load inside of which no reading came, only what the readings before and after bound is said.

// outward is the stretch between two readings, by the whole minutes that hold it.
func outward(s *tank.Span) (from, to time.Time) {
	return s.From.Truncate(time.Minute), s.To.Add(time.Minute - 1).Truncate(time.Minute)
}

// bounds are the two readings between which something happened, by the minute outwards.
func bounds(s *tank.Span, zone *time.Location) string {
	from, to := outward(s)
	from, to = from.In(zone), to.In(zone)
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return fmt.Sprintf("on %s between %s and %s", from.Format("January 2"), from.Format("15:04"), to.Format("15:04"))
	}
	return fmt.Sprintf("between %s on %s and %s on %s", from.Format("15:04"), from.Format("January 2"), to.Format("15:04"), to.Format("January 2"))
}

func fellUnseen(s *tank.Span, zone *time.Location, id string, open, closing float64) string {
	text := bounds(s, zone)
	return fmt.Sprintf("%s%s the level of tank %s fell from %s to %s; no reading came in between, so when in that time it fell is not known.",
		map[byte]string{'o': "O", 'b': "B"}[text[0]], text[1:], id, spokenLevel(open), spokenLevel(closing))
}

// leastRate is the pace in barrels a minute below which a load cannot have been on the average; 0: nothing bounds it.
func leastRate(l *tank.Load) float64 {
	if l.Gap <= 0 {
		return 0
	}
	return l.RemovedBbl / l.Gap.Minutes()
}

func inflowUnseen(l *tank.Load) string {
	if !ledger.InflowKnown(l) {
		return "What flowed in meanwhile is not known; more than the difference may have left the tank."
	}
	return fmt.Sprintf("At the pace of before and after about %s flowed in meanwhile; then %.1f bbl left the tank.", ledger.InflowText(l), l.RemovedBbl)
}

func paceUnseen(l *tank.Load) string {
	least := leastRate(l)
	return "It is not known how fast it left, nor in how many parts" +
		when(least > 0, fmt.Sprintf(": on the average at least %.1f bbl a minute, since all of it left within %s", least, spokenDuration(l.Gap))) + "."
}

// otherCausesUnseen are those of a fall without readings inside, which exclude nothing.
func otherCausesUnseen(l *tank.Load, v *tank.Rivals, say func(format string, args ...any)) {
	if least := leastRate(l); least > v.MinRate {
		say("A leak: hardly, a leak takes hours, and this left within %s; below %g bbl a minute it would have been told of as a loss.", spokenDuration(l.Gap), v.MinRate)
	} else {
		say("A leak: not known, since no reading shows how fast it fell.")
	}
	switch {
	case len(v.Unread) > 0:
		sayUnread(v, say)
	case v.Others == 0:
		say("A transfer to another tank: gauger watches no other tank here into which it could have gone.")
	case v.RoseBbl < 0.5:
		say("A transfer to another tank: not known, no reading shows it; compare the levels of the others before and after.")
	default:
		say("A transfer to another tank: not known, no reading shows it; by the readings that there are %s rose most, and all others together by %.1f bbl.", v.Rose, v.RoseBbl)
	}
	say("A recirculation: not known of the time without readings; after it %s.", either(v.BackIn >= 0.5, fmt.Sprintf("%.1f in came back", v.BackIn), "nothing came back"))
}
