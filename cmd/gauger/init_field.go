package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/collectors/mqtt"
	"gauger/config"
	"gauger/config/draft"
)

// siteField finds out at the site what init offers.
type siteField struct {
	c *call
	o *initOptions
}

// scan looks which unit ids answer on a line.
func (v siteField) scan(ctx context.Context, url, units string) (found []draft.Unit, err error) {
	a := scanRequest{URL: url, Table: line.Holding, Timeout: 300 * time.Millisecond}
	if a.Units, err = parseUnits(units); err != nil {
		return nil, err
	}
	t, err := openModbus(v.c)
	if err != nil {
		return nil, err
	}
	err = t.scan(ctx, a, func(f unitFound) error {
		if f.Answers {
			found = append(found, draft.Unit{ID: f.Unit, How: f.How})
		}
		return nil
	})
	if errors.Is(err, line.ErrDown) && !(modbus.Device{URL: url}).SerialLine() {
		err = fmt.Errorf("%w: look at the address, the port (502 is usual), the network between, and whether the gateway takes one more connection; or go on and mend it later", err)
	}
	return found, errors.Join(err, t.close())
}

// probe reads a register in every way, the likeliest first.
func (v siteField) probe(ctx context.Context, url string, unit, register int, input bool, gauge, height string) (all []draft.Guess, err error) {
	a := probeRequest{URL: url, Unit: unit, Address: register, Input: input, Timeout: time.Second}
	tall, _ := tank.ParseLength(height) // checked, or not known yet
	if err := a.readExpected(gauge, "", tall); err != nil {
		return nil, err
	}
	found, err := probeOnce(ctx, v.c, a)
	if err != nil {
		return nil, err
	}
	if height != "" && !found.anyFits() {
		fmt.Fprintln(v.c.out, found.noneFits(a, fmt.Sprintf("%s%d", when(!input, "input "), register)))
	}
	told := map[string]bool{}
	for _, g := range found.Guesses {
		if told[g.key(g.Type, g.Order)] || g.Value == nil {
			continue
		}
		for _, same := range g.Same {
			name, order, _ := strings.Cut(same, " ")
			told[g.key(name, order)] = true
		}
		p := modbus.Point{Type: g.Type, Order: g.Order, Unit: g.Unit}
		at := g.Address
		if input {
			p.Input = &at
		} else {
			p.Holding = &at
		}
		if g.Scale != 1 {
			p.Scale = &g.Scale
		}
		reads := strings.TrimSuffix(g.valueText(), " fits")
		if g.Inches != nil && g.Unit != "in" { // in which the gauge is told
			reads += fmt.Sprintf(" = %.2f in", *g.Inches)
		}
		all = append(all, draft.Guess{Point: p, Reads: reads, Fits: g.Fits, Doubt: g.Doubt, HalfOf: g.HalfOf})
	}
	return all, nil
}

func (v siteField) hear(ctx context.Context, b draft.Broker) (all []mqtt.Suggestion, err error) {
	dev := mqtt.Device{Name: "broker", Brokers: mqtt.Brokers{b.URL}, Username: b.Username}
	if b.Password != "" {
		dev.Password = secretAt(b.Password).Read
	}
	fmt.Fprintf(v.c.out, "  listening for %s; Ctrl-C stops\n", v.o.listen)
	listening, cancel := context.WithTimeout(ctx, v.o.listen)
	defer cancel()
	heard, _, err := mqtt.Discover(listening, dev, "#", mqtt.Session{})
	taken := map[string]bool{}
	for _, h := range heard {
		for _, s := range h.Suggest() {
			s.Point.Name = uniqueName(s.Point.Name, taken)
			all = append(all, s)
		}
	}
	if len(all) == 0 && err == nil {
		err = errors.New("nothing with a number was heard; listen longer (--for 5m), or give the points with --point")
	}
	return all, err
}

// secretAt is the secret of a place such as credential:primary-key. Outside of systemd a credential is the file that the
// units hand over.
func secretAt(place string) config.Secret {
	kind, name, _ := strings.Cut(place, ":")
	switch {
	case kind == "env":
		return config.Secret{Env: name}
	case kind == "file":
		return config.Secret{File: name}
	case os.Getenv("CREDENTIALS_DIRECTORY") == "":
		return config.Secret{File: filepath.Join("/etc/gauger", name)}
	}
	return config.Secret{Credential: name}
}

func (v siteField) devices(ctx context.Context, s *draft.Site) ([]cloud.Device, error) {
	cfg, err := serviceOnly(s)
	if err != nil {
		return nil, err
	}
	if cfg.Service.CAFile = v.o.caFile; v.o.caFile != "" && !filepath.IsAbs(v.o.caFile) {
		cfg.Service.CAFile = filepath.Join(filepath.Dir(v.c.config), v.o.caFile) // as the configuration will have it
	}
	// A store that is here may be another site's: its keys are nobody else's.
	if cfg.Store.Path, err = os.MkdirTemp("", "gauger-"); err != nil {
		return nil, fmt.Errorf("make a folder for the keys: %w", err)
	}
	cfg.Store.MaxBytes = 1 << 20
	quiet := *v.c
	quiet.err = io.Discard
	d := &connection{command: &quiet, cfg: cfg, close: func() error { return nil }}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var found control.QueryResult[cloud.Device]
	if err = d.request(ctx, "devices.query", control.DevicesArgs{All: true}, &found); err != nil {
		why, _, _ := strings.Cut(err.Error(), "; `gauger keys show`") // which has no file to look into yet
		err = errors.New(strings.Replace(why, "set service.ca_file", "give the authority's certificate with --ca-file FILE", 1))
	}
	return found.Items, errors.Join(err, d.close(), os.RemoveAll(cfg.Store.Path))
}

// serviceOnly is a configuration with which the service can be asked.
func serviceOnly(s *draft.Site) (*config.Config, error) {
	text := fmt.Sprintf("site: %q\nid: %q\nobject: 00000000-0000-0000-0000-000000000000\ntime_zone: %s\nservice:\n  url: %q\n", s.Name, s.ID, s.Zone, s.URL)
	for key, place := range map[string]string{"primary_key": s.PrimaryKey, "secondary_key": s.SecondKey} {
		if place == "none" {
			continue
		}
		from := secretAt(place)
		for kind, name := range map[string]string{"credential": from.Credential, "file": from.File, "env": from.Env} {
			if name != "" {
				text += fmt.Sprintf("  %s: {%s: %q}\n", key, kind, name)
			}
		}
	}
	return config.Parse("the answers", []byte(text), ".")
}
