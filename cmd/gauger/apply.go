package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/agent/apply"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/config"

	"github.com/spf13/cobra"
)

type applyOptions struct {
	order                       applyOrder
	history, keep, back, noWait bool
}

func applyCommand(c *call) *cobra.Command {
	o := &applyOptions{}
	cmd := newCommand(c, "apply [FILE]", "load a changed configuration without a restart, watch what it does, and go back if that is bad", o.run)
	cmd.ValidArgsFunction = fileNames
	f := cmd.Flags()
	f.BoolVar(&o.order.Dry, "dry-run", false, "only say what would change")
	f.DurationVar(&o.order.Watch, "watch", usualWatch, "how `LONG` the site is watched before the change stands")
	f.BoolVar(&o.order.Confirm, "confirm", false, "go back unless somebody says gauger apply --keep within the watch")
	f.StringSliceVar(&o.order.Steps, "steps", nil, "a `TANK` or DEVICE/POINT that is meant to step; may be given several times")
	f.BoolVar(&o.order.Again, "again", false, "try a file again that has failed")
	f.BoolVar(&o.noWait, "no-wait", false, "do not wait for the end of the watch")
	f.BoolVar(&o.history, "history", false, "what was tried, what became of it, and why")
	f.BoolVar(&o.keep, "keep", false, "confirm what is tried with --confirm")
	f.BoolVar(&o.back, "back", false, "put the configuration before what is tried in force again, now")
	return cmd
}

func (o *applyOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) > 1:
		return usageError{fmt.Sprintf("apply takes one file, not %q", args)}
	case (o.history || o.keep || o.back) && len(args) > 0:
		return usageError{"--history, --keep and --back take no file"}
	case o.order.Watch < leastWatch || o.order.Watch > mostWatch:
		return usageError{fmt.Sprintf("--watch is %s to %s", leastWatch, mostWatch)}
	case o.history:
		return applyHistory(ctx, c)
	}
	gauger, err := c.dial()
	if errors.Is(err, console.ErrNoDaemon) {
		return notRunning{errors.New("what it takes when it is started, `gauger check` looks over")}
	}
	if err != nil {
		return err
	}
	switch {
	case o.keep:
		return gauger.Call(ctx, "apply.keep", control.None{}, nil)
	case o.back:
		return gauger.Call(ctx, "apply.back", control.None{}, nil)
	}
	path := c.config
	if len(args) == 1 {
		path = args[0]
	}
	return o.load(ctx, c, gauger, path)
}

// load has the running gauger take a file, and waits for what becomes of it.
func (o *applyOptions) load(ctx context.Context, c *call, gauger *console.Client, path string) error {
	v, err := loadRevision(path)
	if v == nil {
		return err
	}
	o.order.Text, o.order.URL = v.text, absolute(path)
	var plan applyPlan
	if err := gauger.Call(ctx, either(o.order.Dry, "apply.plan", "apply.load"), o.order, &plan); err != nil {
		return err
	}
	if copies, loses := copyCommand(c.config, "", path, v.hash); plan.Copy != "" && loses == "" { // the daemon may see no home folders
		plan.Copy = copies
	}
	if c.json() && (o.noWait || plan.Until.IsZero()) {
		return errors.Join(printJSON(c.out, plan), planError(plan))
	}
	if !c.json() {
		printApplyPlan(c, plan, o.noWait)
	}
	if plan.Until.IsZero() || o.noWait {
		return planError(plan)
	}
	t, err := followTrial(ctx, c, plan)
	if ctx.Err() != nil {
		return fmt.Errorf("only the waiting ended: the new configuration is at work and is watched until %s; `gauger apply --history` then says whether it stands", timeText(plan.Until, findSite(c).zone()))
	}
	if err != nil {
		return err
	}
	stands := t.Outcome == apply.Stands
	if c.json() {
		err = printJSON(c.out, t)
	} else if printTrial(c, t); stands {
		printNextStart(c, "", plan)
	}
	if !stands {
		return errors.Join(err, errQuiet)
	}
	return err
}

// outdatedBack is how far back the readings reach from which a ticket can be made again.
const outdatedBack = 30 * 24 * time.Hour

// outdated are the tickets that have left with other barrels than they would have by a configuration in which a tank is measured otherwise:
// what was corrected is right from now on, and those were booked.
func outdated(all []ledger.TicketRecord, old, now *config.Config, file string, at time.Time) (says []string) {
	for n := range now.Tanks {
		t := &now.Tanks[n]
		o, was, is := old.Tank(t.ID), makings(old)(t.Level), makings(now)(t.Level)
		if o == nil || o.Level != t.Level {
			continue
		}
		if !slices.ContainsFunc(old.Tanks, func(x config.Tank) bool { return x.ID != t.ID && makings(old)(x.Level) == is }) { // two were exchanged
			was.Place = is.Place // the same number at another port or address means the same level
		}
		read := was == is // what is read otherwise only the readings can tell
		before, err1 := tank.LevelInches(1, was.Unit, o.Height)
		after, err2 := tank.LevelInches(1, is.Unit, t.Height)
		bbl := func(level float64) float64 {
			v, err := t.Table.Barrels((level-float64(o.Offset))*after/before + float64(t.Offset))
			if err != nil || !read {
				return math.NaN()
			}
			return v
		}
		if err1 != nil || err2 != nil || read && before == after && t.Offset == o.Offset && t.Table.Same(o.Table) {
			continue
		}
		var named []string
		for _, b := range slices.Backward(all) {
			if b.Tank != t.ID || b.Load == nil || !b.Left() || b.Off() || at.Sub(b.End) > outdatedBack {
				continue
			}
			switch would := bbl(b.Load.Open) - bbl(b.Load.Close); {
			case math.IsNaN(would):
				named = append(named, fmt.Sprintf("%s (%.1f bbl)", b.Number, b.Load.GaugeBbl))
			case math.Abs(would-b.Load.GaugeBbl) >= 0.1:
				named = append(named, fmt.Sprintf("%s (%.1f bbl, would be %.1f)", b.Number, b.Load.GaugeBbl, would))
			}
		}
		if more := len(named) - 3; more > 0 {
			named = append(named[:3], fmt.Sprintf("%d more", more))
		}
		if named != nil {
			says = append(says, fmt.Sprintf("%s: tickets of the last 30 days were written with the old figures: %s. `gauger backtest -c %s --against sent` shows what each would be; `gauger tickets add --replaces NUMBER --why TEXT` books the right one in its place once it has been delivered",
				t.ID, strings.Join(named, ", "), file))
		}
	}
	return says
}

func planError(p applyPlan) error {
	if len(p.Refused) > 0 {
		return errQuiet
	}
	return nil
}

func printApplyPlan(c *call, p applyPlan, noWait bool) {
	printWrapped(c, "- ", p.Changes...)
	printWrapped(c, "! ", p.Foreseen...)
	printWrapped(c, "refused: ", p.Refused...)
	switch {
	case p.Same:
		fmt.Fprintln(c.out, "nothing changes: this is what is at work")
	case len(p.Refused) > 0:
		fmt.Fprintln(c.out, "it was not loaded; what is at work stays")
	case !p.Until.IsZero():
		if len(p.Unjudged) > 0 {
			printWrapped(c, "not judged: ", strings.Join(p.Unjudged, ", ")+", which had no good level before")
		}
		if p.Awaits != "" {
			printWrapped(c, "taken, and not at work yet: ", p.Awaits+"; watched from then on. Ctrl-C ends only the waiting here.")
		} else {
			fmt.Fprintf(c.out, "loaded; watched until %s. Ctrl-C ends only the waiting here.\n", timeText(p.Until, findSite(c).zone()))
		}
		if noWait {
			printNextStart(c, "when it stands, ", p)
		}
	}
}

// printNextStart says what is read then, where that is not the file; the command stands alone, so that it can be copied.
func printNextStart(c *call, when string, p applyPlan) {
	if p.Next != "" {
		printWrapped(c, "", when+p.Next+". To have that file say the same:")
		fmt.Fprintln(c.out, "    "+p.Copy)
	}
}

// handOver is longer than the socket is closed while one configuration takes over from the other.
const handOver = 30 * time.Second

// followTrial waits until the trial of a plan is over.
func followTrial(ctx context.Context, c *call, plan applyPlan) (apply.Trial, error) {
	said, heard := "", time.Now()
	for {
		if !collectors.Wait(ctx, time.Second) {
			return apply.Trial{}, ctx.Err()
		}
		var s applyState
		gauger, err := c.dial()
		if err != nil || gauger.Call(ctx, "apply.show", control.None{}, &s) != nil {
			if time.Since(heard) > handOver {
				return apply.Trial{}, fmt.Errorf("gauger has not answered for %s: `systemctl status gauger` shows why; when it starts, the configuration before is at work, and `gauger apply --history` says so", handOver)
			}
			continue // the socket is closed for a moment while one configuration takes over from the other
		}
		heard = time.Now()
		for _, t := range slices.Backward(s.Past) {
			if t.Hash == plan.Hash && !t.Ended.Before(plan.Until.Add(-mostWatch)) && (s.Now == nil || s.Now.Hash != plan.Hash) {
				return t, nil
			}
		}
		if !c.json() {
			said = tellWorse(c, s.Worse, said)
		}
	}
}

// tellWorse tells the costliest of what is worse than before, anew only where that is another than was told last: all reasons of a change
// that goes back are told in the end.
func tellWorse(c *call, worse []string, told string) string {
	switch {
	case len(worse) == 0 && told != "":
		fmt.Fprintln(c.out, "nothing is worse than before")
		return ""
	case len(worse) == 0 || worse[0] == told:
		return told
	}
	more := len(worse) - 1
	printWrapped(c, "worse than before: ", worse[0]+when(more > 0, fmt.Sprintf(" (and %d more: `gauger apply --history`)", more)))
	return worse[0]
}

func printTrial(c *call, t apply.Trial) {
	zone := findSite(c).zone()
	fmt.Fprintf(c.out, "%s  %s  %s  by %s: %s\n", timeText(t.Began, zone), t.Hash[:min(8, len(t.Hash))], t.Source, cmp.Or(t.By, "nobody"), t.Outcome)
	printWrapped(c, "  because ", t.Reasons...)
	printWrapped(c, "  - ", t.Changes...)
	if t.Kept != "" {
		fmt.Fprintln(c.out, "  the file that was tried: "+t.Kept)
	}
}

// applyHistory shows what was tried, of a gauger that does not run, too.
func applyHistory(ctx context.Context, c *call) error {
	var s applyState
	remote, err := c.dial()
	switch {
	case err == nil:
		err = remote.Call(ctx, "apply.show", control.None{}, &s)
	case errors.Is(err, console.ErrNoDaemon):
		var book *apply.Book
		book, err = apply.Open(storeOf(c, c.config))
		s.Past, s.Now = book.Past, book.Now
	}
	if err != nil {
		return err
	}
	if c.json() {
		s.Past = append([]apply.Trial{}, s.Past...)
		return printJSON(c.out, s)
	}
	if len(s.Past) == 0 && s.Now == nil {
		fmt.Fprintln(c.out, "no change of the configuration was tried yet")
	}
	for _, t := range s.Past {
		printTrial(c, t)
	}
	if s.Now != nil {
		printTrial(c, *s.Now)
		printWrapped(c, "  worse than before: ", s.Worse...)
	}
	return nil
}

// printWrapped prints sentences, each behind what leads to it, in lines of 80 columns.
func printWrapped(c *call, lead string, texts ...string) {
	for _, text := range texts {
		fmt.Fprint(c.out, lead+strings.TrimLeft(wrapped(strings.Repeat(" ", len(lead)), text), " "))
	}
}
