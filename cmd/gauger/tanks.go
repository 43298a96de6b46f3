package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gauger/agent/control"
	"gauger/agent/ledger"

	"github.com/spf13/cobra"
)

func tanksListCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "list", "each tank's level, barrels, state and last load", runTanksList), 0, "tanks list takes flags only")
}

// runTanksList shows how each tank stands.
func runTanksList(ctx context.Context, c *call, _ []string) error {
	var rows []ledger.TankRow
	live := false
	err := withConnection(c, func(d *connection) error {
		live = d.remote != nil
		return d.request(ctx, "tanks.list", control.None{}, &rows)
	})
	if err != nil {
		return err
	}
	if c.json() {
		return printJSON(c.out, rows)
	}
	zone := findSite(c).zone()
	t := newTable(c.out)
	t.printf("TANK\tLEVEL\tINCHES\tBBL\tREAD\tPHASE\tLAST LOAD\tREMARK\n")
	for _, r := range rows {
		last := "-"
		remarks := slices.DeleteFunc([]string{r.Error, r.Waits}, func(text string) bool { return text == "" })
		if r.Last != nil {
			last = timeText(r.Last.Start, zone)
			if r.Last.Load != nil {
				last += fmt.Sprintf(", %.1f bbl", r.Last.Load.GaugeBbl)
			}
		}
		if w := r.Inhibited; w != nil {
			remarks = append(remarks, fmt.Sprintf("inhibited until %s by %s: %s", timeText(w.Until, zone), w.Person, w.Why))
		}
		t.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, orDash(r.Gauge), orDash(figureText(r.Level, 2)), orDash(figureText(r.Barrels, 1)), timeText(r.At, zone), doing(r.TankStatus), last, strings.Join(remarks, "; "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if !live {
		fmt.Fprintln(c.err, "gauger is not running: there are no levels")
	}
	return nil
}

// phaseWords are what the detector's phases mean at the tank.
var phaseWords = map[string]string{"idle": "no load", "drawing": "the level falls", "confirming": "settling", "waiting": "not watched yet"}

// doing is what a tank does in words; of one without a level nobody knows.
func doing(t ledger.TankStatus) string {
	if t.Phase == "idle" && t.Quality != "good" && t.Level == nil {
		return "not seen"
	}
	return cmp.Or(phaseWords[t.Phase], t.Phase)
}

type tanksInhibitOptions struct {
	why string
}

func tanksInhibitCommand(c *call) *cobra.Command {
	o := &tanksInhibitOptions{}
	cmd := newCommand(c, "inhibit ID 2h --why TEXT", "no tickets while somebody works on a tank", o.run)
	cmd.Flags().StringVar(&o.why, "why", "", "`TEXT` of the reason, which stands in the event")
	return cmd
}

// run keeps a tank from making tickets while somebody works on it.
func (o *tanksInhibitOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) != 2:
		return usageError{"tanks inhibit wants a tank and for how long, as in `gauger tanks inhibit TK-1001 2h --why \"cleaning\"`"}
	case strings.TrimSpace(o.why) == "":
		return usageError{"say why with --why: the reason stands in the event"}
	}
	length, ok := parseSpan(args[1])
	if !ok || length == 0 {
		return usageError{fmt.Sprintf("%q is no time for work; want one such as 45m, 2h or 3d", args[1])}
	}
	return changeInhibit(ctx, c, "tanks.inhibit", control.InhibitArgs{Tank: args[0], For: length, Why: o.why},
		"inhibited: %s until %s: its levels are read, and no ticket is made for what begins meanwhile; one event tells of it when it is over\n")
}

func tanksAllowCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "allow ID", "the work on a tank is over", runTanksAllow), 1, "tanks allow wants one tank; `gauger tanks list` shows which are inhibited")
}

// runTanksAllow ends the work on a tank.
func runTanksAllow(ctx context.Context, c *call, args []string) error {
	return changeInhibit(ctx, c, "tanks.allow", control.InhibitArgs{Tank: args[0]}, "allowed: %s makes tickets again for what begins after %s\n")
}

// changeInhibit sends a request about work on a tank and says what came of it: the tank and the end.
func changeInhibit(ctx context.Context, c *call, request string, a control.InhibitArgs, text string) error {
	return withConnection(c, func(d *connection) (err error) {
		if a.Tank, err = d.findTank(ctx, a.Tank); err != nil {
			return err
		}
		var w ledger.Inhibition
		if err := d.request(ctx, request, a, &w); err != nil {
			return err
		}
		if c.json() {
			return printJSON(c.out, w)
		}
		_, err = fmt.Fprintf(c.out, text, w.Tank, timeText(w.Until, findSite(c).zone()))
		return err
	})
}

// findTank finds a tank as a person writes it, in upper or lower case.
func (d *connection) findTank(ctx context.Context, given string) (string, error) {
	var rows []ledger.TankRow
	if err := d.request(ctx, "tanks.list", control.None{}, &rows); err != nil {
		return "", err
	}
	var ids []string
	for _, r := range rows {
		if r.ID == given {
			return given, nil
		}
		ids = append(ids, r.ID)
	}
	for _, id := range ids {
		if strings.EqualFold(id, given) {
			return id, nil
		}
	}
	if ids == nil {
		return "", errors.New("no tank is configured")
	}
	return "", fmt.Errorf("no tank %q is configured%s; the tanks are %s", given, didYouMean(given, ids), strings.Join(ids, ", "))
}

// tanks shows each tank's newest level. What was read long ago says when.
func (p *statusPage) tanks() {
	if len(p.s.Tanks) == 0 || !p.s.Daemon {
		return // the store does not keep levels
	}
	p.printf("\nTANK\tGAUGE\tINCHES\tBARRELS\tAT\tQUALITY\tDOING")
	tanks := slices.Clone(p.s.Tanks)
	first, left := p.shown(len(tanks), shortTanks)
	if left > 0 { // those that nobody sees first
		slices.SortStableFunc(tanks, func(a, b ledger.TankStatus) int {
			return cmp.Compare(strings.Index(a.Quality, "good"), strings.Index(b.Quality, "good"))
		})
	}
	for _, k := range tanks[:first] {
		level := "no level"
		if k.Level != nil {
			level = k.Gauge
		}
		phase := doing(k)
		if w := k.Inhibited; w != nil {
			phase += ", inhibited until " + timeText(w.Until, p.zone) + " by " + w.Person
		}
		p.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s", k.ID, level, figureText(k.Level, 2), figureText(k.Barrels, 1), p.clock(k.At), k.Quality, phase)
	}
	if left > 0 {
		p.printf("and %d more: `gauger tanks list`", left)
	}
}
