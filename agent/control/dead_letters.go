package control

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"gauger/agent/ledger"
	"gauger/outbox"
)

// deadCounted bounds the dead letters of a stream that are looked at for a status: one page of the outbox.
const deadCounted = 256

// deadLetters are a stream's records that were refused or damaged and are kept for a person, the first of them with what they say.
type deadLetters struct {
	first            []deadLetter
	n                int
	refused, damaged int // of those that were looked at
}

// deadLetter is one of them, whose state says what became of it.
type deadLetter struct {
	Entry
	maybe bool // the service may have it
}

// deadLettersOf looks at those of each stream that has some.
func deadLettersOf(d *Server, streams map[string]outbox.Counts) (all map[string]*deadLetters, err error) {
	all = map[string]*deadLetters{}
	for stream, c := range streams {
		if c.Dead > 0 && err == nil {
			all[stream], err = deadOf(d, stream, int(c.Dead))
		}
	}
	return all, err
}

func deadOf(d *Server, stream string, n int) (all *deadLetters, err error) {
	all = &deadLetters{n: n}
	page, err := d.Box.Entries(stream, outbox.Dead, 0, deadCounted)
	if err != nil {
		return all, err
	}
	for i := range page {
		e, state := &page[i], "kept, not sent,"
		switch {
		case e.Class != outbox.Ambiguous: // that of an answer
			state, all.refused = "refused", all.refused+1
		case e.Raw != nil:
			state, all.damaged = "damaged on disk", all.damaged+1
		}
		if i >= namedSources {
			continue
		}
		l := deadLetter{entryOf(*e), e.MaybeStored()}
		l.State, l.Says = state, d.says(l.Entry)
		all.first = append(all.first, l)
	}
	return all, nil
}

// what names what became of them, as far as it is of all the same.
func (all *deadLetters) what() string {
	switch all.n {
	case all.refused:
		return "refused"
	case all.damaged:
		return "damaged on disk"
	}
	return "refused or damaged on disk"
}

// problems names each ticket among the first; of other streams the first stands for all.
func (all *deadLetters) problems(d *Server, stream string) (out []Problem) {
	if all == nil {
		return nil
	}
	cost, named := costOf(stream), all.first
	if stream != ledger.Tickets {
		named = all.first[:min(1, len(all.first))]
	}
	for i := range named {
		e := &named[i]
		record := fmt.Sprintf("%s/%d", e.Stream, e.Seq)
		says := ""
		if e.Says != "" {
			says = " (" + e.Says + ")"
		}
		lead := "ticket "
		if stream != ledger.Tickets {
			lead = fmt.Sprintf("%s of %s %s %s and kept: ", ledger.Plural(all.n, "record"), StreamName(stream), one(all.n, "was", "were"), all.what())
		}
		p := Problem{Cost: cost, Text: fmt.Sprintf("%s%s%s is %s since %s: %s", lead, cmp.Or(e.Label, record), says, e.State, d.localMinute(e.Since), e.Reason)}
		switch {
		case e.Raw != nil:
			p.Do = "it can only be dropped; write it again if the service has it not, then `gauger outbox drop " + record + " --why TEXT`"
		case e.State != "refused" || e.maybe:
			p.Do = fmt.Sprintf("look whether the service has it; then `gauger outbox confirm %s --why TEXT`, else `gauger outbox retry %[1]s`", record)
		case e.Status == http.StatusConflict:
			p.Do = alreadyThere(record)
		default:
			p.Do = fmt.Sprintf("mend that, then `gauger outbox retry %s`; `gauger outbox drop %[1]s --why TEXT` gives it up", record)
		}
		out = append(out, p)
	}
	if more := all.n - len(named); more > 0 && stream == ledger.Tickets {
		out = append(out, Problem{Cost: cost, Count: more, Text: fmt.Sprintf("%s more %s %s, and kept: see `gauger outbox dead %s`", ledger.Plural(more, "ticket"), one(more, "was", "were"), all.what(), stream)})
	}
	return out
}

// before tells of the tickets that nothing sends until a person has looked, before what is said of the others.
func (all *deadLetters) before(text string) string {
	if all == nil {
		return text
	}
	return strings.ToUpper(ledger.Plural(all.n, "ticket")+" "+all.what()) + "; " + strings.Replace(text, "everything is", "everything else is", 1)
}

// onlyDead says that nothing is wrong with the sending but tickets that were refused, each of which is told.
func (s Status) onlyDead() bool {
	return s.dead[ledger.Tickets] != nil && s.sendingAnswer().State != Bad
}

// beside is the answer about the sending with those tickets.
func (all *deadLetters) beside(a Answer) Answer {
	if all != nil {
		a.State, a.Text = Bad, fmt.Sprintf("%s %s; %s", ledger.Plural(all.n, "ticket"), all.what(), strings.Replace(a.Text, "nothing waits", "nothing else waits", 1))
	}
	return a
}
