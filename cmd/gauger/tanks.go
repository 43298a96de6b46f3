package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

func tanksListCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "list", "each tank's level, barrels, state and last load", runTanksList), 0, "tanks list takes flags only")
}

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
	h := findSite(c)
	zone := h.zone()
	t := newTable(c.out)
	t.printf("TANK\tLEVEL\tINCHES\tBBL\tREAD\tPHASE\tLAST LOAD\tREMARK\n")
	for _, r := range rows {
		last := "-"
		remarks := slices.DeleteFunc([]string{r.Error, r.StandsStill(time.Now()), r.Waits}, func(text string) bool { return text == "" })
		if r.Last != nil {
			last = timeText(r.Last.Start, zone)
			if bbl := (&ticketRow{control.TicketRow{TicketRecord: *r.Last}}).figures(h).bbl; bbl != nil {
				last += fmt.Sprintf(", %.1f bbl", *bbl)
			}
		}
		if now := time.Now(); r.Quiet(now) {
			remarks = append(remarks, "the newest level came "+control.Ago(now, r.At))
		}
		if w := r.Inhibited; w != nil {
			remarks = append(remarks, fmt.Sprintf("inhibited until %s by %s: %s", timeText(w.Until, zone), w.Person, w.Why))
		}
		t.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, orDash(r.Gauge), orDash(figureText(r.Level, 2)), orDash(figureText(r.Barrels, 1)), timeText(r.At, zone), doing(r.TankStatus, func(t time.Time) string { return timeText(t, zone) }), last, strings.Join(remarks, "; "))
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

// doing is what a tank does in words; of one without a level nobody knows, but when it was last seen and what it did then. at writes a
// time down.
func doing(t ledger.TankStatus, at func(time.Time) string) string {
	word := cmp.Or(phaseWords[t.Phase], t.Phase)
	if t.Quality == "good" || t.Level != nil || t.Phase == "waiting" {
		return word
	}
	return "not seen" + when(!t.GoodAt.IsZero(), " since "+at(t.GoodAt)) + when(t.Phase != "idle", "; then: "+word)
}

type tanksInhibitOptions struct{ why string }

func tanksInhibitCommand(c *call) *cobra.Command {
	o := &tanksInhibitOptions{}
	cmd := newCommand(c, "inhibit ID 2h --why TEXT", "no tickets while somebody works on a tank", o.run)
	takes(cmd, 2, "tanks inhibit wants a tank and for how long, as in `gauger tanks inhibit TK-1001 2h --why \"cleaning\"`")
	cmd.Flags().StringVar(&o.why, "why", "", "`TEXT` of the reason, which stands in the event")
	return cmd
}

func (o *tanksInhibitOptions) run(ctx context.Context, c *call, args []string) error {
	if strings.TrimSpace(o.why) == "" {
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
		return c.show(w, func() error { return printf(c.out, text, w.Tank, timeText(w.Until, findSite(c).zone())) })
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
		ids = append(ids, r.ID)
	}
	i := slices.IndexFunc(ids, func(id string) bool { return strings.EqualFold(id, given) })
	switch {
	case slices.Contains(ids, given):
		return given, nil
	case i >= 0:
		return ids[i], nil
	case ids == nil:
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
		seen := func(i int) int { return strings.Index(tanks[i].Quality, "good") }
		sort.SliceStable(tanks, func(i, j int) bool { return seen(i) < seen(j) }) // slices.SortStableFunc costs the binary 10 kB for a struct of this size
	}
	for _, k := range tanks[:first] {
		phase := doing(k, p.clock)
		if w := k.Inhibited; w != nil {
			phase += ", inhibited until " + timeText(w.Until, p.zone) + " by " + w.Person
		}
		quality := k.Quality + when(k.Quiet(p.s.Now), " "+control.Ago(p.s.Now, k.At))
		p.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s", k.ID, either(k.Level == nil, "no level", k.Gauge), figureText(k.Level, 2), figureText(k.Barrels, 1), p.clock(k.At), quality, phase)
	}
	if left > 0 {
		p.printf("and %d more: `gauger tanks list`", left)
	}
}

// mostHandover bounds a file of tanks, in bytes.
const mostHandover = 64 << 20

type tanksExportOptions struct {
	shards int
	out    string
}

func tanksExportCommand(c *call) *cobra.Command {
	o := &tanksExportOptions{}
	cmd := takes(newCommand(c, "export --shards N --out FOLDER", "hand tanks over before the number of instances changes", o.run), 0, "tanks export takes flags only")
	cmd.Flags().IntVar(&o.shards, "shards", 0, "`N`: how many instances share the site from now on; 1 is none but one")
	cmd.Flags().StringVar(&o.out, "out", "", "`FOLDER` for the files, one for each instance that tanks go to")
	return cmd
}

// run takes the tanks out of this instance's store that others watch from now on. gauger must not be running on it.
func (o *tanksExportOptions) run(_ context.Context, c *call, _ []string) error {
	cfg, err := config.Load(c.config)
	switch {
	case err != nil:
		return asConfigError(err)
	case o.out == "":
		return usageError{"tanks export wants a folder for the files: --out FOLDER"}
	}
	shard := func(i int) config.Shard { return config.Shard{Index: i, Of: o.shards} }
	if o.shards == 1 {
		shard = func(int) config.Shard { return config.Shard{} }
	} else if _, err := config.ParseShard(shard(0).String()); err != nil || o.shards < 1 {
		return usageError{"tanks export wants the number of instances that there are to be: --shards 4"}
	}
	owner := map[string]string{}
	for i := range o.shards {
		theirs, err := config.LoadShard(c.config, shard(i))
		if err != nil {
			return asConfigError(err)
		}
		for _, t := range theirs.Tanks {
			owner[t.ID] = shard(i).String()
		}
	}
	stays := ledger.HandedAll // more instances than there are to be
	if cfg.Shard.Index < o.shards {
		stays = shard(cfg.Shard.Index).String()
	}
	return withStore(c, cfg, func(box *outbox.Box) error {
		to := func(id string) (string, bool) {
			of, watched := owner[id]
			return of, watched && of != stays
		}
		return ledger.HandOver(box, newAgentSite(cfg), cfg.Shard.String(), to, stays, func(all []ledger.Handover) error { return o.keep(c, all) })
	})
}

func (o *tanksExportOptions) keep(c *call, all []ledger.Handover) error {
	for _, h := range all {
		name := fmt.Sprintf("handover-%s-to-%s.json", shardInName(h.From), shardInName(h.To))
		path := filepath.Join(o.out, name)
		if err := writeFile(path, "tanks", 0o600, func(w io.Writer) error { return json.NewEncoder(w).Encode(h) }); err != nil {
			return fmt.Errorf("%w; nothing was taken out of the store", err)
		}
		fmt.Fprintf(c.out, "%s: %s; import it there: gauger tanks import --shard %s %s\n", path, countText(len(h.Tanks), "tank"), h.To, name)
	}
	if len(all) == 0 {
		fmt.Fprintln(c.out, "no tank goes to another instance")
	}
	return nil
}

// shardInName is a shard as a part of a file's name.
func shardInName(shard string) string {
	return cmp.Or(strings.Replace(shard, "/", "of", 1), "all")
}

// runTanksImport puts handed over tanks into this instance's store. gauger must not be running on it.
func runTanksImport(_ context.Context, c *call, files []string) error {
	cfg, err := config.Load(c.config)
	switch {
	case err != nil:
		return asConfigError(err)
	case len(files) == 0:
		return usageError{"tanks import wants the files that `gauger tanks export` has written"}
	}
	return withStore(c, cfg, func(box *outbox.Box) error {
		for _, path := range files {
			b, err := collectors.ReadFile(path, mostHandover)
			if err != nil {
				return fmt.Errorf("read tanks: %w", err)
			}
			var h ledger.Handover
			if err := json.Unmarshal(b, &h); err != nil {
				return fmt.Errorf("%s is no file of `gauger tanks export`: %w", path, err)
			}
			if err := ledger.TakeOver(box, newAgentSite(cfg), cfg.Shard.String(), h); err != nil {
				return fmt.Errorf("take over the tanks in %s: %w; nothing of it was taken", path, err)
			}
			fmt.Fprintf(c.out, "%s: %s taken over from %s\n", path, countText(len(h.Tanks), "tank"), shardInName(h.From))
		}
		return nil
	})
}

// withStore opens the outbox of a site on which nothing runs.
func withStore(c *call, cfg *config.Config, do func(*outbox.Box) error) error {
	back, err := becomeOwner(c, cfg.Store.Path)
	if err != nil {
		return err
	}
	box, err := openOutbox(cfg, false, nil, func(outbox.Note) {})
	if errors.Is(err, outbox.ErrHeld) {
		err = fmt.Errorf("%s is in use, %w: stop gauger first, since the tanks are another's from now on", cfg.Store.Path, outbox.ErrHeld)
	}
	if err == nil {
		err = errors.Join(do(box), box.Close())
	}
	return errors.Join(err, back())
}
