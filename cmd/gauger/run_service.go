package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gauger/agent"
	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/config"
)

// lackingRetry between two looks for settings of the service that are lacking.
const lackingRetry = time.Minute

// newClient opens the key ring and the way to the service. Nothing of the service's settings holds the site up: what is
// read is queued, and leaves when the key, the login or the authorities are there (daemon.findLacking).
func newClient(cfg *config.Config, looks bool, s serviceSecrets, meter func(net.Conn) net.Conn) (*cloud.Client, error) {
	if !s.whole { // some may be there now: it can take days until the outbox opens
		now := readSecrets(cfg)
		s.seeds = keys.Seeds{Primary: cmp.Or(s.seeds.Primary, now.seeds.Primary), Secondary: cmp.Or(s.seeds.Secondary, now.seeds.Secondary)}
		s.login = cmp.Or(s.login, now.login)
	}
	file := filepath.Join(cfg.Store.Path, "keys")
	ring := keys.Look(file, s.seeds)
	if !looks {
		if err := os.MkdirAll(cfg.Store.Path, 0o700); err != nil {
			return nil, fmt.Errorf("make the store: %w; run as the user gauger, or set store.path", err)
		}
		var err error
		if ring, err = keys.Open(file, s.seeds); err != nil {
			return nil, err
		}
	}
	return cloud.New(cloud.Options{
		URL: cfg.Service.URL, Segments: cfg.Service.Segments, Wire: cfg.Service.Wire, Zone: cfg.Zone, CAFile: cfg.Service.CAFile,
		Keys: ring, Login: s.login, UserAgent: "gauger/" + version, Meter: meter,
		SecretHeaders: func() (map[string]keys.Secret, error) { return readHeaders(cfg) },
	})
}

// serviceSecrets are those of the service's settings that can be read. Which cannot is told by whoever looks for what is lacking.
type serviceSecrets struct {
	seeds keys.Seeds
	login *cloud.Login
	whole bool // all that are configured
}

func readSecrets(cfg *config.Config) serviceSecrets {
	seeds, err1 := readSeeds(cfg)
	login, err2 := readLogin(cfg.Service.Login)
	return serviceSecrets{seeds, login, err1 == nil && err2 == nil}
}

// readSeeds reads the configured keys: those that can be read, and why the others cannot.
func readSeeds(cfg *config.Config) (keys.Seeds, error) {
	primary, err1 := readConfigured(cfg.Service.PrimaryKey)
	secondary, err2 := readConfigured(cfg.Service.SecondaryKey)
	return keys.Seeds{Primary: primary, Secondary: secondary}, errors.Join(err1, err2)
}

// readConfigured reads one secret; one that is not configured is empty.
func readConfigured(s config.Secret) (keys.Secret, error) {
	if !s.Given() {
		return "", nil
	}
	v, err := s.Read()
	return keys.Secret(v), err
}

// readLogin reads the secrets of the login; nil when none is configured.
func readLogin(l *config.Login) (*cloud.Login, error) {
	if l == nil {
		return nil, nil
	}
	out := &cloud.Login{AuthRequest: cloud.AuthRequest{
		AuthenticationType: l.Type, CustomerGUID: l.Customer, UserName: l.User, Feature: l.Feature,
	}}
	for _, x := range []struct {
		key  string
		from config.Secret
		into *keys.Secret
	}{
		{"password_hash", l.PasswordHash, &out.PasswordHash}, {"token", l.Token, &out.Token}, {"api_key", l.APIKey, &out.APIKey},
		{"subscription_key", l.SubscriptionKey, &out.SubscriptionKey},
	} {
		v, err := readConfigured(x.from)
		if err != nil {
			return nil, fmt.Errorf("service.login.%s: %w", x.key, err)
		}
		*x.into = v
	}
	return out, nil
}

// readHeaders reads the headers whose values are secrets. Without one of them no request is made: the service would refuse it, as
// if something were wrong with the key.
func readHeaders(cfg *config.Config) (map[string]keys.Secret, error) {
	all := map[string]keys.Secret{}
	for name, from := range cfg.Service.SecretHeaders {
		value, err := readConfigured(from)
		if err != nil {
			return nil, fmt.Errorf("service.secret_headers.%s: %w", name, err)
		}
		all[name] = value
	}
	return all, nil
}

// findLacking names the service's settings that cannot be used as they stand, with the reason. The site is read all the
// same. A login that can be read is taken on the way.
func (d *daemon) findLacking() map[string]string {
	found := map[string]string{}
	lacking := func(key string, err error, do string) {
		if err != nil {
			found[key] = err.Error() + do
		}
	}
	lacking("ca_file", d.client.Ready(), "")
	const later = "; it is read again every minute and on reload, a systemd credential on restart"
	for key, from := range map[string]config.Secret{"primary_key": d.cfg.Service.PrimaryKey, "secondary_key": d.cfg.Service.SecondaryKey} {
		_, err := readConfigured(from)
		lacking(key, err, "; `gauger keys set` gives a key now"+later)
	}
	_, err := readHeaders(d.cfg)
	lacking("secret_headers", err, later)
	login, err := readLogin(d.cfg.Service.Login)
	if err == nil {
		d.client.SetLogin(login)
	}
	lacking("login", err, later)
	return found
}

// retryLacking looks for what is lacking, tells of it once and again when it is there, and lets everything be tried that waited
// for it. afresh: a person has put something else in the place of a key.
func (d *daemon) retryLacking(ctx context.Context, afresh bool) {
	if afresh {
		d.client.Reread()
	}
	before := d.lacking
	d.lacking = d.findLacking()
	healed := false
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, still := d.lacking[key]; !still {
			healed = true
			d.tellLacking(ctx, key, before[key], true)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(d.lacking)) {
		if before[key] != d.lacking[key] {
			d.log.Error().Str("key", "service."+key).Msg("the site is read and queued without it: " + d.lacking[key])
			d.tellLacking(ctx, key, d.lacking[key], false)
		}
	}
	if !healed && !afresh {
		return
	}
	seeds, _ := readSeeds(d.cfg) // what cannot be read was told just now
	fresh, err := d.client.Keys().Seed(seeds)
	if err != nil {
		d.log.Error().Err(err).Msg("a key was read and cannot be used or kept")
	}
	d.log.Info().Bool("new", fresh).Msg("the keys were read again")
	if fresh {
		d.server.NoteOwn("keys.read", "service.primary_key, service.secondary_key")
	}
	d.server.Kick()
}

// tellLacking tells people and the service of one key of the service's settings that cannot be used, or of its end.
func (d *daemon) tellLacking(ctx context.Context, key, why string, over bool) {
	now := time.Now()
	n := collectors.Notice{Rule: eventrules.ServiceSettings, Source: agent.ServiceSource + key, Note: why, Since: now}
	if over {
		n.Until = now
	}
	if err := d.agent.Ledger.Host("service").Notice(ctx, n); err != nil {
		d.log.Error().Err(err).Msg(fmt.Sprintf("an event about service.%s could not be stored", key))
	}
}

// looks come after each interval, and at once when somebody asks for one, until ctx ends.
func looks(ctx context.Context, every time.Duration, ask <-chan os.Signal) iter.Seq[bool] {
	return func(yield func(asked bool) bool) {
		again := time.NewTicker(every)
		defer again.Stop()
		for {
			asked := false
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			case <-ask:
				asked = true
			}
			if !yield(asked) {
				return
			}
		}
	}
}
