package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/commission"
	"gauger/agent/dialogue"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/config"
)

type commissionOptions struct {
	gauges, rights, wrongs, accepts []string
	memoTo, by                      string
	noMemo, again, list             bool
	wait                            time.Duration
}

func commissionCommand(c *call) *cobra.Command {
	o := &commissionOptions{}
	cmd := newCommand(c, "commission [TANK|POINT...]", "walk through the points with a hand gauge, and set the tanks' offsets", o.run)
	f := cmd.Flags()
	f.StringArrayVar(&o.gauges, "gauge", nil, "hand gauge of a tank, as `TANK=GAUGE`: TK-1001=15-04-1, 15'4 1/4\", 15ft4in or 184.25in; instead of the question")
	f.StringArrayVar(&o.rights, "right", nil, "the `POINT` reads what it should, or all: every one that reads anything; instead of the question")
	f.StringArrayVar(&o.wrongs, "wrong", nil, "a point reads what it should not, as `POINT=WHY`")
	f.StringArrayVar(&o.accepts, "accept", nil, "take the offset of `TANK` although something speaks against it")
	f.StringVar(&o.memoTo, "memo-to", "", "service's `ID` of the device that the memos are for; default the tank's object")
	f.BoolVar(&o.noMemo, "no-memo", false, "leave no memos at the service")
	f.StringVar(&o.by, "by", "", "`NAME` of who gauges; default the user's")
	f.BoolVar(&o.again, "again", false, "look at what is named anew, or at everything")
	f.BoolVar(&o.list, "list", false, "print what was found so far, and what is left")
	f.DurationVar(&o.wait, "wait", 30*time.Second, "how `LONG` to wait for a point that speaks when it likes")
	return cmd
}

// commissioner walks through one site.
type commissioner struct {
	*dialogue.Dialogue
	c      *call
	o      *commissionOptions
	cfg    *config.Config
	file   string // what is kept of the walk
	walk   commission.Walk
	places []commission.Place
	offset []string // tanks for which one was written
}

func (o *commissionOptions) run(ctx context.Context, c *call, args []string) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	k := &commissioner{c: c, o: o, cfg: cfg, file: strings.TrimSuffix(c.config, ".yaml") + ".commissioned.json", places: commissionPlaces(cfg)}
	k.Dialogue = &dialogue.Dialogue{In: c.in, Out: c.out, Echo: terminalOf(c.in) == nil}
	if k.Given, err = o.given(); err != nil {
		return err
	}
	if err := errors.Join(k.checkGiven(), k.only(args), k.read()); err != nil {
		return err
	}
	if o.list {
		return k.print()
	}
	left := k.walk.Left(k.places)
	k.Say("%s of %s left to look at. Ctrl-C stops; `gauger commission` then goes on here.", countText(len(left), "point"), cfg.Site)
	if daemon, err := c.dial(); err == nil {
		if daemon.Means != "" {
			return errors.New("another site's levels: nothing was done")
		}
		if other := otherAtWork(ctx, c, daemon); other != "" && len(left) > 0 {
			k.Say("! gauger is running, and what is read are its readings%s.", other)
		}
	}
	for _, p := range left {
		if err := k.visit(ctx, p); err != nil {
			return k.stopped(err)
		}
	}
	return k.end(ctx)
}

func (o *commissionOptions) given() (map[string]string, error) {
	given := map[string]string{}
	for _, name := range o.rights {
		given["right."+name] = "yes"
	}
	for _, name := range o.accepts {
		given["accept."+name] = "yes"
	}
	for _, x := range []struct {
		flag, key string
		values    []string
	}{{"--gauge", "gauge.", o.gauges}, {"--wrong", "wrong.", o.wrongs}} {
		for _, text := range x.values {
			name, value, ok := strings.Cut(text, "=")
			if !ok || strings.TrimSpace(value) == "" {
				return nil, usageError{fmt.Sprintf("%s %s: write what it is about, = and the value", x.flag, text)}
			}
			name = strings.TrimSpace(name)
			if given[x.key+name] = value; x.flag == "--wrong" {
				given["right."+name] = "no"
			}
		}
	}
	return given, nil
}

// checkGiven refuses an answer that was given for a tank or a point that there is not, or that is no gauge: it would be asked for instead.
func (k *commissioner) checkGiven() error {
	var points []string
	for _, p := range k.places {
		points = append(points, string(p.Point))
	}
	for _, key := range slices.Sorted(maps.Keys(k.Given)) {
		kind, name, _ := strings.Cut(key, ".")
		switch kind {
		case "gauge", "accept":
			if err := (site{k.cfg}).checkTank(name); err != nil {
				return usageError{"--" + kind + ": " + err.Error()}
			}
			if _, err := checkGauge(k.Given[key]); kind == "gauge" && err != nil {
				return usageError{"--gauge " + name + ": " + err.Error()}
			}
		default:
			if name != "all" && !slices.Contains(points, name) {
				return usageError{fmt.Sprintf("--%s: %q is no point of %s%s", kind, name, k.c.config, didYouMean(name, points))}
			}
		}
	}
	return nil
}

// commissionPlaces are the points that tanks are fed by, tank by tank with the level first, then all others.
func commissionPlaces(cfg *config.Config) (all []commission.Place) {
	seen := map[collectors.Point]bool{}
	add := func(t config.Tank, role string, p collectors.Point) {
		info, ok := cfg.PointInfo(p)
		if !ok || seen[p] {
			return
		}
		seen[p] = true
		origin := cfg.Devices[info.Device].Origin(strings.TrimPrefix(string(p), cfg.Devices[info.Device].Name+"/"))
		source := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%s, %s, %s", origin.Place, origin.Source, origin.Unit), ", "), ", ")
		if origin.Scale != 1 || origin.Add != 0 {
			source += fmt.Sprintf(", x %g + %g", origin.Scale, origin.Add)
		}
		all = append(all, commission.Place{Point: p, Tank: t.ID, Role: role, Source: source, Height: t.Height, Offset: t.Offset})
	}
	for _, t := range cfg.Tanks {
		for _, ref := range t.PointRefs() {
			add(t, ref.Key, ref.Point)
		}
	}
	for info := range cfg.Points() {
		add(config.Tank{}, "", info.Point)
	}
	return all
}

// only leaves the places of the tanks and points that are named; none means all.
func (k *commissioner) only(names []string) error {
	if len(names) == 0 {
		return nil
	}
	var known []string
	for _, p := range k.places {
		known = append(known, string(p.Point), p.Tank)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return usageError{fmt.Sprintf("%q is neither a tank nor a point of %s%s", name, k.c.config, didYouMean(name, known))}
		}
	}
	k.places = slices.DeleteFunc(k.places, func(p commission.Place) bool {
		return !slices.Contains(names, string(p.Point)) && !slices.Contains(names, p.Tank)
	})
	return nil
}

// read takes up what was found before.
func (k *commissioner) read() error {
	text, err := os.ReadFile(k.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read what was commissioned before: %w; `sudo gauger commission` can", err)
	}
	if k.walk, err = commission.Parse(text); err != nil {
		return fmt.Errorf("%s: %w; take the file away to begin anew", k.file, err)
	}
	if k.o.again {
		k.walk.Forget(k.places)
	}
	return nil
}

// keep writes down what was found so far.
func (k *commissioner) keep() error {
	text, err := k.walk.Text()
	if err == nil {
		err = replaceFile(k.file, text)
	}
	return err
}

// stopped says what goes on where, when a walk ends early.
func (k *commissioner) stopped(err error) error {
	k.Say("%s left. What was found is kept in %s.", countText(len(k.walk.Left(k.places)), "point"), k.file)
	k.sayOffsets()
	return err
}

// sayOffsets says how the offsets that this walk wrote come to work: until then a load is gauged without them.
func (k *commissioner) sayOffsets() {
	if len(k.offset) > 0 {
		k.Say("Where gauger runs already, `gauger apply --steps %s %s` takes the new offsets.", strings.Join(k.offset, ","), k.c.config)
	}
}

func (k *commissioner) print() error {
	if k.c.json() {
		return printJSON(k.c.out, k.walk)
	}
	t := newTable(k.c.out)
	t.printf("TANK\tPOINT\tFOUND\tREAD\tGAUGE\tOFFSET\tWHEN\tBY\tMEMO\n")
	for _, p := range k.places {
		v, ok := k.walk.Of(p)
		if !ok {
			t.printf("%s\t%s\tnot looked at yet\n", p.Tank, p.Point)
			continue
		}
		gauge, offset := "", ""
		if v.Role == commission.Level {
			gauge, offset = v.Gauge.Gauge(), fmt.Sprintf("%gin", float64(v.Offset))
		}
		t.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.Tank, p.Point, v.Outcome, v.Read, gauge, offset, v.At.In(k.cfg.Zone).Format("2006-01-02 15:04"), v.By, v.Memo)
	}
	return t.Flush()
}

// end queues the memos that are owed, and says how to go on.
func (k *commissioner) end(ctx context.Context) error {
	if err := k.memos(ctx); err != nil {
		return k.stopped(err)
	}
	left, wrong := k.walk.Left(k.places), 0
	for _, p := range left {
		if v, ok := k.walk.Of(p); ok && v.Outcome == commission.Wrong {
			wrong++
		}
	}
	k.Say("%d of %s right, %d wrong, %d not looked at. `gauger commission --list` shows them.", len(k.places)-len(left), countText(len(k.places), "point"), wrong, len(left)-wrong)
	k.sayOffsets()
	if len(left) > 0 {
		return errQuiet
	}
	return nil
}

// unread has the hand gauge say in which order of words there would be a level, where none is good as it is read.
func (k *commissioner) unread(ctx context.Context, p commission.Place, v *commission.Visit, gauge string) error {
	if _, err := checkGauge(gauge); err != nil || gauge == "s" {
		return cmp.Or(err, errSkipped)
	}
	v.Gauge, _ = tank.ParseLength(gauge) // checked
	wrong, _ := k.order(ctx, p, v)
	if wrong == "" {
		return errSkipped
	}
	return k.conclude(ctx, p, v, commission.Verdict{}, wrong)
}

// exchanged doubts a level where another tank reads what this one was gauged.
func (k *commissioner) exchanged(ctx context.Context, p commission.Place, v *commission.Visit) (doubts []string) {
	ctx, cancel := context.WithTimeout(ctx, sampleSpan)
	defer cancel()
	for _, q := range commissionPlaces(k.cfg) {
		if q.Role != commission.Level || q.Tank == p.Tank {
			continue
		}
		gauge, err := tank.ParseLength(k.Given["gauge."+q.Tank])
		seen, ok := k.walk.Of(q)
		if !ok || time.Since(seen.At) > time.Hour {
			got, _ := k.sample(ctx, q.Point, 1)
			if len(got) == 0 {
				continue
			}
			level, _ := tank.LevelInches(commission.Median(valuesOf(got)), got[0].Unit, q.Height)
			seen.Level, seen.Gauge = tank.Length(level), tank.Length(math.NaN())
		}
		if err == nil {
			seen.Gauge = gauge
		}
		if commission.Exchanged(v.Level, v.Gauge, seen.Level, seen.Gauge) {
			doubts = append(doubts, p.Tank+" was gauged what "+q.Tank+" reads: are the two exchanged?")
		}
	}
	return doubts
}

// setOffset writes the tank's offset into the configuration.
func (k *commissioner) setOffset(p commission.Place, offset tank.Length, note string) error {
	text, err := os.ReadFile(k.c.config)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	value, _ := offset.MarshalText() // it has no error
	if text, err = config.SetTank(text, p.Tank, "offset", string(value), note); err != nil {
		return fmt.Errorf("%s: %w", k.c.config, err)
	}
	if err := replaceFile(k.c.config, text); err != nil {
		return fmt.Errorf("write the offset of %s: %w; use sudo, or write offset: %s at the tank", p.Tank, err, value)
	}
	k.offset = append(k.offset, p.Tank)
	k.Say("  offset: %s is in %s now", value, k.c.config)
	return nil
}
