package main

import (
	"fmt"
	"time"

	"gauger/agent/tank"
)

// Of a load inside of which no reading came, only what the readings before and after bound is said.

// bounds are the two readings between which something happened, by the minute outwards.
func bounds(s *tank.Span, zone *time.Location) string {
	from, to := s.From.In(zone).Truncate(time.Minute), s.To.In(zone)
	if up := to.Truncate(time.Minute); up.Before(to) {
		to = up.Add(time.Minute)
	}
	if from.Format(time.DateOnly) == to.Format(time.DateOnly) {
		return fmt.Sprintf("on %s between %s and %s", from.Format("January 2"), from.Format("15:04"), to.Format("15:04"))
	}
	return fmt.Sprintf("between %s on %s and %s on %s", from.Format("15:04"), from.Format("January 2"), to.Format("15:04"), to.Format("January 2"))
}

// fellUnseen is the first sentence about a fall that nobody saw.
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

// inflowUnseen estimates the inflow by the levels before and after.
func inflowUnseen(l *tank.Load) string {
	if l.InflowUnknown || l.InflowBbl < 0.05 {
		return "What flowed in meanwhile is not known; more than the difference may have left the tank."
	}
	return fmt.Sprintf("At the pace of before and after about %s flowed in meanwhile; then %.1f bbl left the tank.", inflowText(l), l.RemovedBbl)
}

// paceUnseen bounds the rate at which the oil left.
func paceUnseen(l *tank.Load) string {
	text := "It is not known how fast it left, nor in how many parts"
	if least := leastRate(l); least > 0 {
		text += fmt.Sprintf(": on the average at least %.1f bbl a minute, since all of it left within %s", least, spokenDuration(l.Gap))
	}
	return text + "."
}

// otherCausesUnseen are those of a fall without readings inside, which exclude nothing.
func otherCausesUnseen(l *tank.Load, v *tank.Rivals, say func(format string, args ...any)) {
	if least := leastRate(l); least > v.MinRate {
		say("A leak: hardly, a leak takes hours, and this left within %s; below %g bbl a minute it would have been told of as a loss.", spokenDuration(l.Gap), v.MinRate)
	} else {
		say("A leak: not known, since no reading shows how fast it fell.")
	}
	switch {
	case v.Others == 0:
		say("A transfer to another tank: gauger watches no other tank here into which it could have gone.")
	case v.RoseBbl < 0.5:
		say("A transfer to another tank: not known, no reading shows it; compare the levels of the others before and after.")
	default:
		say("A transfer to another tank: not known, no reading shows it; by the readings that there are %s rose most, and all others together by %.1f bbl.", v.Rose, v.RoseBbl)
	}
	after := "nothing came back"
	if v.BackIn >= 0.5 {
		after = fmt.Sprintf("%.1f in came back", v.BackIn)
	}
	say("A recirculation: not known of the time without readings; after it %s.", after)
}
