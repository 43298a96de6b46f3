package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"gauger/agent"
	"gauger/collectors"
	"gauger/eventrules"
)

// lookAgain is how often what is lacking of the service's settings is looked for again.
const lookAgain = time.Minute

// lacks is what of the service's settings cannot be used as it stands, by its key, and why. The site is read all the
// same. A login that can be read is taken on the way.
func (d *daemon) lacks() map[string]string {
	found := map[string]string{}
	lacking := func(key string, err error, do string) {
		if err != nil {
			found[key] = err.Error() + do
		}
	}
	lacking("ca_file", d.client.Ready(), "")
	const later = "; it is read again every minute and on reload, a systemd credential on restart"
	for key, from := range map[string]func() error{
		"primary_key":   func() error { _, err := secret(d.cfg.Service.PrimaryKey); return err },
		"secondary_key": func() error { _, err := secret(d.cfg.Service.SecondaryKey); return err },
	} {
		lacking(key, from(), "; `gauger keys set` gives a key now"+later)
	}
	login, err := loginOf(d.cfg.Service.Login)
	if err == nil {
		d.client.SetLogin(login)
	}
	lacking("login", err, later)
	return found
}

// tend looks for what is lacking, tells of it once and again when it is there, and lets everything be tried that waited
// for it. afresh: a person has put something else in the place of a key.
func (d *daemon) tend(ctx context.Context, afresh bool) {
	before := d.lacking
	d.lacking = d.lacks()
	healed := false
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, still := d.lacking[key]; !still {
			healed = true
			d.lack(ctx, key, before[key], true)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.lacking)) {
		if _, told := before[key]; !told {
			d.log.Error().Str("key", "service."+key).Msg("the site is read and queued without it: " + d.lacking[key])
			d.lack(ctx, key, d.lacking[key], false)
		}
	}
	if !healed && !afresh {
		return
	}
	seeds, _ := seedsOf(d.cfg) // what cannot be read was told just now
	fresh, err := d.client.Keys().Seed(seeds)
	if err != nil {
		d.log.Error().Err(err).Msg("a key was read and cannot be used or kept")
	}
	d.log.Info().Bool("new", fresh).Msg("the keys were read again")
	d.desk.Kick()
}

// lack tells people and the service of one key of the service's settings that cannot be used, or of its end.
func (d *daemon) lack(ctx context.Context, key, why string, over bool) {
	now := time.Now()
	n := collectors.Notice{Rule: eventrules.ServiceSettings, Source: agent.ServiceSource + key, Note: why, Since: now}
	if over {
		n.Until = now
	}
	if err := d.agent.Ledger.Host("service").Notice(ctx, n); err != nil {
		d.log.Error().Err(err).Msg(fmt.Sprintf("an event about service.%s could not be stored", key))
	}
}

// reload takes what has come of the service's settings: on SIGHUP everything, without a restart, and by looking again
// what was lacking.
func (d *daemon) reload(ctx context.Context) error {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-hup:
			d.tend(ctx, true)
		case <-look.C:
			if len(d.lacking) > 0 {
				d.tend(ctx, false)
			}
		}
	}
}
