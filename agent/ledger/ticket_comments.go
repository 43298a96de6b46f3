package ledger

import (
	"fmt"
	"slices"
	"strings"

	"gauger/agent/clock"
	"gauger/agent/tank"
)

// comments writes the evidence of a load in its fixed order, so that a person and a program find each figure where
// they expect it. What the tank's configuration says comes first. The whole is at most limit characters; the reasons
// for a review are the last to be cut.
func (s *Site) comments(t Tank, h HeldTicket, grade clock.Grade, limit int) string {
	load := h.Load
	parts := []string{"auto observation, not a custody ticket",
		fmt.Sprintf("conf=%.2f", load.Confidence),
		"open=" + tank.Length(load.Open).Gauge(), "close=" + tank.Length(load.Close).Gauge(),
		fmt.Sprintf("gauge_bbl=%.1f", load.GaugeBbl), fmt.Sprintf("err_bbl=%.1f", load.ErrorBbl),
		inflowText(load), fmt.Sprintf("removed_bbl=%.1f", load.RemovedBbl), s.rateText(load),
		"table=" + load.Table, fmt.Sprintf("n=%d", load.Samples),
		"day=" + s.productionDay(load.End),
	}
	if load.Group != "" {
		parts = append(parts, fmt.Sprintf("group=%s", load.Group), fmt.Sprintf("group_bbl=%.1f", load.GroupBbl))
	}
	edited := func(field string) bool {
		return slices.ContainsFunc(h.Edits, func(e Edit) bool { return e.Field == field || "specific_"+e.Field == field })
	}
	if c := t.constants(&load, edited); c != "" {
		parts = append(parts, "constant="+c)
	}
	parts = append(parts, load.Remarks...)
	if grade < clock.Trusted {
		parts = append(parts, "clock="+grade.String())
	}
	tail := reasons{edited: editedBy(h.Edits), review: load.Review}
	text, written := ownComments(t.Comments, h.Edits)
	if !written || text == "" {
		return joinComments(text, parts, tail, limit)
	}
	said := len([]rune(text)) + len("; ") // what a person has written is never left out
	return joinComments("", []string{text, joinComments("", parts, tail, max(0, limit-said))}, reasons{}, limit)
}

// rateText has rate and parts of a load; of one that nobody saw, the readings between which it was.
func (s *Site) rateText(load tank.Load) string {
	if u := load.Hidden(); u != nil {
		return fmt.Sprintf("unseen between %s and %s", u.From.In(s.Zone).Format("15:04:05"), u.To.In(s.Zone).Format("15:04:05"))
	}
	return fmt.Sprintf("rate=%.1f; parts=%d", load.Rate, load.Parts)
}

// inflowText is empty where the inflow is not known: 0.0 would be a claim.
func inflowText(load tank.Load) string {
	if load.InflowUnknown {
		return ""
	}
	return fmt.Sprintf("inflow_bbl=%.1f", load.InflowBbl) + either(load.InflowErrorBbl > 0, fmt.Sprintf("; inflow_err_bbl=%.1f", load.InflowErrorBbl), "")
}

const (
	leadFigures = 8 // pieces up to the barrels: reasons give way to them,
	leadReasons = 3 // but so many, or one where all of those are no more than half
)

// joinComments puts the pieces together. What does not fit is left out whole: the configured words first, then the last figures, then
// the last reasons, then the first figures.
func joinComments(words string, parts []string, why reasons, limit int) string {
	shown := len(why.review)
	for {
		var all []string
		for _, p := range append(append([]string{words}, parts...), why.text(shown)) {
			if p != "" {
				all = append(all, p)
			}
		}
		text := []rune(strings.Join(all, "; "))
		switch {
		case len(text) <= limit:
			return string(text)
		case words != "":
			words = ""
		case len(parts) > leadFigures:
			parts = parts[:len(parts)-1]
		case shown > leadReasons || shown > 1 && len(parts) == leadFigures && 2*len(strings.Join(parts, "; ")) <= limit:
			shown--
		case len(parts) > 0:
			parts = parts[:len(parts)-1]
		default:
			return string(text[:limit])
		}
	}
}

// reasons are what a person changed of a ticket, and why one should look at it.
type reasons struct {
	edited string
	review []string
}

// JoinReasons is tank.JoinReasons for those who answer people: nothing of the tanks is theirs.
func JoinReasons(why []string) string { return tank.JoinReasons(why) }

// text has the first of the reasons, and how many more there are.
func (r reasons) text(shown int) string {
	if len(r.review) == 0 {
		return r.edited
	}
	more := len(r.review) - shown
	review := "needs review: " + tank.JoinReasons(r.review[:shown]) + either(more > 0, fmt.Sprintf(" and %d more", more), "")
	return strings.TrimPrefix(r.edited+"; "+review, "; ")
}

// ownComments are the words before the evidence: the configuration's, or a person's by the last of some edits.
func ownComments(configured string, edits []Edit) (text string, edited bool) {
	text = configured
	for _, e := range edits {
		if e.Field == "comments" {
			text, edited = e.New, true
		}
	}
	return text, edited
}

// editedBy says by whom which fields were edited, for the comments; empty when nobody did.
func editedBy(edits []Edit) string {
	last := map[string]string{}
	var people []string
	for _, e := range edits {
		last[e.Field] = e.Person
		if !slices.Contains(people, e.Person) {
			people = append(people, e.Person)
		}
	}
	var all []string
	for i, e := range edits {
		if e.Anyway != "" && !slices.ContainsFunc(edits[:i], func(x Edit) bool { return x.Anyway == e.Anyway }) {
			all = append(all, "edited anyway: "+e.Anyway)
		}
	}
	for _, p := range people {
		var fields []string
		for _, f := range editFields {
			if last[f.name] == p {
				fields = append(fields, f.name)
			}
		}
		if fields != nil {
			all = append(all, "edited by "+p+": "+strings.Join(fields, ", "))
		}
	}
	return strings.Join(all, "; ")
}
