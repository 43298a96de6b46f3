package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gauger/agent/apply"
	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/config"
)

// Of a watch.
const (
	usualWatch = 5 * time.Minute
	leastWatch = 5 * time.Second
	mostWatch  = 24 * time.Hour
	serviceTry = 10 * time.Second // for an answer of the service
	lookBefore = 5 * time.Second  // for readings that may be bad by chance
)

// Arguments and results of the requests about changes of the configuration.
type (
	applyOrder struct {
		Text    []byte        `json:"text"`
		URL     string        `json:"url"` // where it comes from: a file, or an address
		Watch   time.Duration `json:"watch,omitempty"`
		Confirm bool          `json:"confirm,omitempty"`
		Again   bool          `json:"again,omitempty"`
		Steps   []string      `json:"steps,omitempty"`
		Dry     bool          `json:"dry,omitempty"`

		whole []byte
		by    string
	}
	applyPlan struct {
		Hash     string    `json:"hash"`
		Same     bool      `json:"same"` // it says what is at work already
		Changes  []string  `json:"changes"`
		Refused  []string  `json:"refused,omitempty"`
		Unjudged []string  `json:"not_judged,omitempty"` // tanks that have no good level before
		Foreseen []string  `json:"foreseen,omitempty"`   // levels of now that would be none by it, and tickets that have left by the old figures
		Until    time.Time `json:"until,omitzero"`       // of the watch; zero: it was not loaded
		Awaits   string    `json:"awaits,omitempty"`     // what ends before it takes over; empty: it does at once
		Next     string    `json:"next_start,omitempty"` // what is read then, once it stands; empty: the file itself
		Copy     string    `json:"copy,omitempty"`       // the command that has the file say it
	}
	applyState struct {
		Hash   string        `json:"hash"` // of what is at work
		Source string        `json:"source"`
		Now    *apply.Trial  `json:"now,omitempty"`
		Worse  []string      `json:"worse,omitempty"` // at the newest look
		Past   []apply.Trial `json:"past"`
	}
)

// Refusal is why it was not loaded; empty: it was, or nobody wanted it.
func (p applyPlan) Refusal() string { return strings.Join(p.Refused, "; ") }

// offer lets people change the configuration. The lock is held.
func (a *atWork) offer(d *daemon) {
	d.server.Register("apply.show", control.Look, control.RequestOf(func(context.Context, control.None) (applyState, error) { return a.state(), nil }))
	d.server.Register("apply.plan", control.Look, control.RequestOf(func(_ context.Context, o applyOrder) (applyPlan, error) {
		o.Dry = true
		return a.try(context.Background(), o)
	}))
	d.server.Register("apply.load", control.Operate, control.RequestOf(func(ctx context.Context, o applyOrder) (applyPlan, error) {
		o.by = control.Person(ctx)
		return a.try(ctx, o)
	}))
	d.server.Register("apply.keep", control.Operate, control.RequestOf(func(context.Context, control.None) (control.None, error) { return control.None{}, a.confirm() }))
	d.server.Register("apply.back", control.Operate, control.RequestOf(func(ctx context.Context, _ control.None) (control.None, error) {
		return control.None{}, a.goBack(control.Person(ctx) + " wanted it back")
	}))
}

func (a *atWork) state() applyState {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := applyState{Hash: a.is.hash, Source: a.is.source, Worse: a.worse, Past: slices.Clone(a.book.Past)}
	if a.book.Now != nil {
		s.Now = new(*a.book.Now)
	}
	return s
}

func (a *atWork) confirm() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.was == nil {
		return errors.New("nothing is tried that could be confirmed; `gauger apply --history` shows what was")
	}
	a.sure = true
	return nil
}

// try judges a configuration, and loads it unless nobody wants more than to see what it would change.
func (a *atWork) try(ctx context.Context, o applyOrder) (applyPlan, error) {
	a.mu.Lock()
	busy, d, is := a.was != nil || a.next != nil, a.daemon, a.is
	a.mu.Unlock()
	if d == nil {
		return applyPlan{}, errors.New("the configuration is being changed just now; try again in a moment")
	}
	name := filepath.Base(o.URL)
	cfg, err := config.Parse(name, o.Text, filepath.Dir(a.c.config))
	if err != nil {
		if !o.Dry {
			a.refuse(d, o, apply.HashOf(o.Text), []string{err.Error()})
		}
		return applyPlan{}, asConfigError(err)
	}
	o.whole = o.Text
	if whole, err := cfg.Whole(o.Text); err == nil {
		o.whole = whole
	}
	old, err := config.Parse(is.source, is.text, filepath.Dir(a.c.config))
	if err != nil {
		return applyPlan{}, fmt.Errorf("what is at work cannot be read again, so that there is nothing to go back to: %w", err)
	}
	changes, err := cfg.ChangesFrom(old)
	if err != nil {
		return applyPlan{}, err
	}
	plan := applyPlan{Hash: apply.HashOf(o.whole), Changes: apply.Words(changes), Same: len(changes) == 0 && is.bad == nil}
	status, err := d.server.Status()
	if err != nil {
		return plan, err
	}
	loading := tanksThat(status, func(t ledger.TankStatus) bool { return t.Phase != "idle" && t.Phase != "waiting" })
	why, forNow := apply.Refusals(cfg, old, changes, d.box.Used(), loading)
	known := ""
	if !o.Again {
		known = a.failure(plan.Hash)
	}
	if plan.Refused = slices.Concat(why, forNow); known != "" {
		plan.Refused = []string{known + "; --again tries it once more"}
	}
	plan.Unjudged = tanksThat(status, func(t ledger.TankStatus) bool { return t.Level == nil || t.Quality != "good" }) // a change can make nothing of theirs worse
	plan.Foreseen = foreseen(status, old, cfg)
	if left, err := d.server.Ledger.Tickets(); err == nil { // else who looks for them is told why not
		plan.Foreseen = append(plan.Foreseen, outdated(left, old, cfg, o.URL, time.Now())...)
	}
	switch {
	case o.Dry || plan.Same:
		return plan, nil
	case busy:
		return plan, errors.New("another change is being watched; `gauger apply --history` shows it, --back ends it")
	case known != "": // it is on record
		return plan, nil
	case len(why) > 0:
		a.refuse(d, o, plan.Hash, plan.Refused)
		return plan, nil
	case len(forNow) > 0:
		a.log.Warn().Str("hash", plan.Hash).Str("source", o.URL).Strs("reasons", forNow).Msg("a changed configuration is not loaded for now; apply it, or reload, again")
		a.putOff(o, plan.Hash, forNow)
		return plan, nil
	}
	if onDisk, _ := loadRevision(a.c.config); onDisk != nil && onDisk.hash != plan.Hash {
		plan.Next = nextStart(a.c.config, d.cfg.Store.Path)
		copies, loses := copyCommand(a.c.config, d.cfg.Store.Path, o.URL, plan.Hash)
		plan.Copy = copies + behind("  # ", loses)
	}
	plan.Until, err = a.load(ctx, d, o, cfg, plan, status, watchOf(changes, old, cfg))
	plan.Awaits = d.server.Awaited()
	return plan, err
}

// tanksThat are the ids of the tanks of which something holds.
func tanksThat(s control.Status, holds func(ledger.TankStatus) bool) (ids []string) {
	for _, t := range s.Tanks {
		if holds(t) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// foreseen are the tanks whose level of now would be above the tank, as far as a file alone tells it: not where it is read otherwise.
func foreseen(s control.Status, old, now *config.Config) (says []string) {
	was, is := makings(old), makings(now)
	for n := range now.Tanks {
		t := &now.Tanks[n]
		i := slices.IndexFunc(s.Tanks, func(x ledger.TankStatus) bool { return x.ID == t.ID && x.Level != nil })
		o := old.Tank(t.ID)
		if i < 0 || o == nil || o.Level != t.Level || was(t.Level) != is(t.Level) {
			continue
		}
		before, err1 := tank.LevelInches(1, is(t.Level).Unit, o.Height)
		after, err2 := tank.LevelInches(1, is(t.Level).Unit, t.Height)
		if err1 != nil || err2 != nil || before != after {
			continue // percent of the height
		}
		if at := *s.Tanks[i].Level + float64(t.Offset-o.Offset); at > float64(t.Height) {
			says = append(says, fmt.Sprintf("%s stands at %s (%.1f in), above its new height of %s (%g in): it would have no level, and no load would be seen",
				t.ID, gaugeText(at), at, gaugeText(float64(t.Height)), float64(t.Height)))
		}
	}
	return says
}

// watchOf is a watch that knows what was changed.
func watchOf(changes []config.Change, old, now *config.Config) *apply.Watch {
	w := &apply.Watch{Speed: now.Loads.Speed, Service: slices.ContainsFunc(changes, func(c config.Change) bool { return strings.HasPrefix(c.Path, "service") })}
	was, is := makings(old), makings(now)
	changed := map[string]bool{}
	for p := range now.Points() {
		changed[string(p.Point)] = was(p.Point) != is(p.Point)
	}
	w.Changed = func(point string) bool { return changed[point] }
	w.Offsets = map[string]float64{}
	for _, t := range now.Tanks {
		if o := old.Tank(t.ID); o != nil {
			w.Offsets[t.ID] = float64(t.Offset - o.Offset)
		}
	}
	return w
}

// refuse notes a file that is not loaded.
func (a *atWork) refuse(d *daemon, o applyOrder, hash string, why []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := apply.Trial{Hash: hash, Source: o.URL, By: o.by, Began: time.Now().Round(0)}
	now := a.book.Now
	if _, err := a.book.End(t, apply.Refused, why, o.Text); err != nil {
		a.log.Error().Err(err).Msg("the configuration that was refused is not on record")
	}
	a.book.Now = now
	a.log.Warn().Str("hash", hash).Str("source", o.URL).Strs("reasons", why).Msg("a changed configuration was refused")
	a.tellFailed(d, o.URL, "was refused", why)
}

// load lets a configuration take over, and begins to watch.
func (a *atWork) load(ctx context.Context, d *daemon, o applyOrder, cfg *config.Config, plan applyPlan, before control.Status, w *apply.Watch) (until time.Time, err error) {
	o.Watch = min(max(cmp.Or(o.Watch, usualWatch), leastWatch), mostWatch)
	service := ""
	if w.Service {
		service = d.serviceAnswers(ctx)
	}
	w.Before, w.Length, w.Moves = apply.HealthOf(before, service), o.Watch, o.Steps
	for end := time.Now().Add(lookBefore); !w.Before.AllGood() && time.Now().Before(end) && collectors.Wait(ctx, lookBefore/10); {
		if s, err := d.server.Status(); err == nil {
			w.Before.Add(apply.HealthOf(s, service))
		}
	}
	base := ""
	if onDisk, _ := loadRevision(a.c.config); onDisk != nil { // what the file says, should it be no configuration, stands for nothing
		base = onDisk.hash
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.was != nil || a.next != nil || a.daemon != d {
		return until, errors.New("another change was quicker; `gauger apply --history` shows it")
	}
	now := time.Now().Round(0)
	until = now.Add(o.Watch)
	t := apply.Trial{Hash: plan.Hash, Source: o.URL, By: o.by, Began: now, Until: until, Confirm: o.Confirm, Changes: plan.Changes}
	if err := a.book.Begin(t); err != nil {
		return until, fmt.Errorf("%w; nothing was changed, since nobody could go back", err)
	}
	was := a.is
	a.was, a.order, a.watch, a.worse, a.sure, a.base = &was, o, w, nil, false, base
	a.next = &revision{text: o.whole, hash: plan.Hash, source: o.URL, cfg: cfg}
	a.log.Info().Str("hash", plan.Hash).Str("source", o.URL).Str("by", o.by).Strs("changes", plan.Changes).Msg("a changed configuration takes over")
	leave := a.leave
	time.AfterFunc(leaveAfter, func() { close(leave) })
	return until, nil
}

// leaveAfter lets whoever has asked for a change be answered.
const leaveAfter = 200 * time.Millisecond

// serviceAnswers asks the service for something small; empty: it answers.
func (d *daemon) serviceAnswers(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, serviceTry)
	defer cancel()
	_, err := d.client.QueryDevices(ctx, cloud.DeviceQuery{ExternalID: "gauger", PageSize: 1})
	answered, ok := errors.AsType[*cloud.Error](err)
	if err == nil || errors.Is(err, cloud.ErrShape) || ok && answered.Class == cloud.Poison {
		return ""
	}
	return firstLine(err.Error())
}

// watchTrial looks at the site until the trial is decided.
func (a *atWork) watchTrial(ctx context.Context) error {
	a.mu.Lock()
	w, d, now := a.watch, a.daemon, a.book.Now
	a.mu.Unlock()
	if now == nil {
		return nil // somebody has decided it before this began
	}
	t := *now
	service, asked := "", time.Time{}
	for collectors.Wait(ctx, min(max(w.Length/60, 500*time.Millisecond), 5*time.Second)) {
		now := time.Now()
		if w.Service && now.Sub(asked) >= w.Patience()/2 {
			service, asked = d.serviceAnswers(ctx), now
		}
		s, err := d.server.Status()
		if err != nil {
			continue // the outbox is out of service, which ends the program
		}
		worse, lasting := w.Look(apply.HealthOf(s, service))
		over := now.Sub(w.Began) >= w.Length
		a.mu.Lock()
		a.worse = worse
		sure := a.sure
		a.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return nil
		case len(lasting) > 0:
			return a.goBack(lasting...)
		case over && len(worse) > 0:
			return a.goBack(worse...)
		case over && t.Confirm && !sure:
			return a.goBack("nobody confirmed it with `gauger apply --keep`")
		case over:
			if err := a.stand(); err != nil {
				return a.goBack(err.Error())
			}
			return nil
		}
	}
	return nil
}

// reload looks for what was lacking of the service's settings; on SIGHUP it reads the keys again, and the file.
func (a *atWork) reload(ctx context.Context) error {
	a.mu.Lock()
	d, again := a.daemon, a.again
	a.again = false
	a.mu.Unlock()
	if again {
		a.reloadFile(ctx)
	}
	for asked := range looks(ctx, lackingRetry, a.hup) {
		if asked || len(d.lacking) > 0 {
			d.retryLacking(ctx, asked)
		}
		if asked {
			a.reloadFile(ctx)
		}
	}
	return nil
}

// reloadFile applies the configuration's file, where it is another one than what is at work and was not tried before.
func (a *atWork) reloadFile(ctx context.Context) {
	path := a.c.config
	v, err := loadRevision(path)
	if v == nil {
		a.log.Error().Err(err).Msg("the configuration stays as it is")
		return
	}
	a.mu.Lock()
	// Who corrects the file while it is watched wants the corrected one, and not to wait for the end of the mistake.
	corrects := err == nil && a.was != nil && a.next == nil && a.is.source == path && v.hash != a.is.hash
	if corrects {
		a.again = v.hash != a.was.hash
	}
	same := v.hash == a.is.hash || a.book.Applied != nil && a.book.Applied.Base == v.hash
	known := failureText(a.book.Failure(v.hash), a.zone)
	a.mu.Unlock()
	switch {
	case corrects && known == "":
		if err := a.goBack(apply.Corrected); err != nil {
			a.log.Error().Err(err).Msg("the configuration stays as it is")
		}
		return
	case same:
		return
	case known != "":
		a.log.Warn().Str("file", path).Msg("the configuration stays as it is: " + known)
		return
	}
	if plan, err := a.try(ctx, applyOrder{Text: v.text, URL: path, by: "reload"}); err != nil || len(plan.Refused) > 0 {
		a.log.Error().Err(err).Strs("refused", plan.Refused).Msg("the configuration stays as it is")
	}
}
