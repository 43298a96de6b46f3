package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent"
	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

// built is the day before which no clock can be right.
var built = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// timesyncMarker is where systemd-timesyncd says that the clock has been set.
const timesyncMarker = "/run/systemd/timesync/synchronized"

// siteOf turns the configuration into what the ledger has to know.
func siteOf(cfg *config.Config) agent.Site {
	s := agent.Site{
		Name: cfg.Site, ID: cfg.ID, Object: cfg.Object, ObjectType: cfg.ObjectType, Zone: cfg.Zone,
		ProductionDay: time.Duration(cfg.ProductionDay), Hold: cfg.Tickets.Hold, HoldDoubtful: cfg.Tickets.Review == "hold", LossLimit: cfg.Book.LossLimit,
		Wire: cfg.Service.Wire, Config: cfg.Hash(), Making: makings(cfg),
	}
	s.Wire.Zone = cfg.Zone
	every := map[collectors.Point]time.Duration{}
	objects := map[collectors.Point]config.Device{}
	for p := range cfg.Points() {
		every[p.Point], objects[p.Point] = p.Every, cfg.Devices[p.Device]
	}
	for _, t := range cfg.Tanks {
		s.Tanks = append(s.Tanks, agent.Tank{
			Tank: t.Model(every[t.Level]), Level: t.Level, Production: t.Production, Valve: t.LoadValve, Interface: t.Interface,
			Top: agent.Source(t.TopTemperature), Bottom: agent.Source(t.BottomTemperature),
			Gravity: agent.Source(t.SpecificGravity), BSW: agent.Source(t.BSW), Offset: t.Offset,
			Purchaser: t.Purchaser, Comments: t.Comments, Object: t.Object, ObjectType: t.ObjectType,
		})
	}
	for _, e := range cfg.Events {
		s.Rules = append(s.Rules, ruleOf(e, objects[e.Point]))
	}
	for _, w := range cfg.Wells {
		for _, v := range w.TagValues {
			s.Values = append(s.Values, agent.Value{Well: w.ID, Code: v.Code, Point: v.Point, Every: v.Every})
		}
		for _, v := range w.Targets {
			s.Values = append(s.Values, agent.Value{Well: w.ID, Code: v.Code, Point: v.Point, Every: v.Every, Target: true})
		}
	}
	return s
}

// ruleOf is a configured event; without an object of its own it names its device's.
func ruleOf(e config.Event, d config.Device) agent.Rule {
	r := agent.Rule{
		Name: e.Rule, Object: e.Object, ObjectType: e.ObjectType, Point: e.Point, Above: e.Above, Below: e.Below, Equals: e.Equals,
		Bit: e.Bit, Stale: e.Stale, Bad: e.Bad, Clear: e.Clear, For: e.For, Urgent: e.Urgent, Note: e.Note,
	}
	if r.Object == "" {
		r.Object, r.ObjectType = d.Object, d.ObjectType
	}
	return r
}

// streams are the outbox's queues. Tickets and memos never give way to the quota; events go oldest last, and of tag
// values the older are thinned. Each of the others has a share that it does not exceed.
func streams(w cloud.Wire, s config.Shares) []outbox.Stream {
	return []outbox.Stream{
		{Name: agent.Tickets, Batch: w.Batch.Tickets, Journal: true},
		{Name: agent.Memos, Batch: 1},
		{Name: agent.Events, Batch: w.Batch.Events, Keep: outbox.OldestLast, Share: s.Events},
		{Name: agent.Targets, Batch: w.Batch.Targets, Keep: outbox.OldestLast, Share: s.Targets},
		{Name: agent.TagValues, Batch: w.Batch.TagValues, Keep: outbox.ThinFirst, Share: s.TagValues},
		{Name: agent.Refused, Keep: outbox.OldestFirst, Held: true, Share: s.Refused},
	}
}

// boxFile is the outbox's place in the store.
func boxFile(cfg *config.Config) string { return filepath.Join(cfg.Store.Path, "outbox.db") }

// openBox opens the outbox of the store, and makes the folder when there is none.
func openBox(cfg *config.Config, pace func(ctx context.Context, stream string) error, notify func(outbox.Note)) (*outbox.Box, error) {
	if err := os.MkdirAll(cfg.Store.Path, 0o700); err != nil {
		return nil, fmt.Errorf("make the store (store.path): %w", err)
	}
	return outbox.Open(boxFile(cfg), outbox.Options{
		MaxBytes: int64(cfg.Store.MaxBytes), Streams: streams(cfg.Service.Wire, cfg.Store.Shares), Notify: notify, Label: agent.Label,
		ReceiptsFor: time.Duration(cfg.Store.Receipts.Days) * 24 * time.Hour, ReceiptsBytes: int64(cfg.Store.Receipts.MaxBytes),
		Preflight: preflight(), Pace: pace,
	})
}

// preflight lets a child process examine the outbox before it is opened: a damaged file can crash or hang its reader.
// Where the program cannot find itself the file is only looked at quickly.
func preflight() func(path string) error {
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		return nil
	}
	return outbox.CheckInChild(self, "outbox", "check")
}

// clockOf starts watching the clock.
func clockOf(site agent.Site) *clock.Clock {
	return clock.New(time.Now(), built, site.Steady(), func() time.Time {
		info, err := os.Stat(timesyncMarker) // the daemon touches it whenever it has set or compared the clock
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	})
}

// clientOf opens the key ring and the way to the service. Nothing of the service's settings holds the site up: what is
// read is queued, and leaves when the key, the login or the authorities are there (daemon.lacks).
func clientOf(cfg *config.Config, meter func(net.Conn) net.Conn) (*cloud.Client, error) {
	seeds, _ := seedsOf(cfg) // told by whoever looks for what is lacking
	if err := os.MkdirAll(cfg.Store.Path, 0o700); err != nil {
		return nil, fmt.Errorf("make the store: %w; run as the user gauger, or set store.path", err)
	}
	keys, err := cloud.OpenKeys(filepath.Join(cfg.Store.Path, "keys"), seeds)
	if err != nil {
		return nil, err
	}
	login, _ := loginOf(cfg.Service.Login) // likewise
	return cloud.New(cloud.Options{
		URL: cfg.Service.URL, Segments: cfg.Service.Segments, Wire: cfg.Service.Wire, Zone: cfg.Zone, CAFile: cfg.Service.CAFile,
		Keys: keys, Login: login, UserAgent: "gauger/" + version, Meter: meter,
	})
}

// seedsOf reads the configured keys: those that can be read, and why the others cannot.
func seedsOf(cfg *config.Config) (cloud.Seeds, error) {
	primary, err1 := secret(cfg.Service.PrimaryKey)
	if err1 != nil {
		err1 = fmt.Errorf("service.primary_key: %w", err1)
	}
	secondary, err2 := secret(cfg.Service.SecondaryKey)
	if err2 != nil {
		err2 = fmt.Errorf("service.secondary_key: %w", err2)
	}
	return cloud.Seeds{Primary: primary, Secondary: secondary}, errors.Join(err1, err2)
}

// secret reads one secret; one that is not configured is empty.
func secret(s config.Secret) (cloud.Secret, error) {
	if !s.Given() {
		return "", nil
	}
	v, err := s.Read()
	return cloud.Secret(v), err
}

// loginOf reads the secrets of the login; nil when none is configured.
func loginOf(l *config.Login) (*cloud.Login, error) {
	if l == nil {
		return nil, nil
	}
	out := &cloud.Login{AuthRequest: cloud.AuthRequest{
		AuthenticationType: l.Type, CustomerGUID: l.Customer, UserName: l.User, Feature: l.Feature,
	}}
	for _, x := range []struct {
		key  string
		from config.Secret
		into *cloud.Secret
	}{
		{"password_hash", l.PasswordHash, &out.PasswordHash}, {"token", l.Token, &out.Token}, {"api_key", l.APIKey, &out.APIKey},
		{"subscription_key", l.SubscriptionKey, &out.SubscriptionKey},
	} {
		v, err := secret(x.from)
		if err != nil {
			return nil, fmt.Errorf("service.login.%s: %w", x.key, err)
		}
		*x.into = v
	}
	return out, nil
}

// newLogger writes JSON lines to standard error, or readable ones to a terminal.
func newLogger(c *call, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		l = zerolog.InfoLevel
	}
	return zerolog.New(c.err).Level(l).With().Timestamp().Logger()
}
