package config

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	"gauger/agent/cloud"
	"gauger/collectors"
	"gauger/collectors/mqtt"
)

// mqttEntry is a device of the kind mqtt as it stands in the file.
type mqttEntry struct {
	plainEntry
	Options  mqtt.Device `yaml:",inline"`
	Password Secret      `yaml:"password" doc:"password at the broker: {credential: NAME}, {file: PATH} or {env: NAME}"`
	InClear  bool        `yaml:"password_in_clear" doc:"true: the password may cross the network readable for everybody there, as it does with mqtt:// and ws:// toward another box; without it check warns"`
	Named    named       `yaml:",inline"`
}

// NewMQTT is an MQTT device that stands in no file.
func NewMQTT(d mqtt.Device, password Secret) Device {
	e := &mqttEntry{Options: d, Password: password}
	e.Options = e.withPassword()
	return Device{Name: d.Name, kind: kindOf("mqtt"), options: e}
}

func (e *mqttEntry) name() string  { return e.Options.Name }
func (e *mqttEntry) named() *named { return &e.Named }
func (e *mqttEntry) device() any   { return &e.Options }

func (e *mqttEntry) points() []pointOptions {
	return pointOptionsOf(e.Options.Points, func(p mqtt.Point) pointOptions {
		return pointOptions{name: p.Name, unit: p.Unit, template: p.Template()}
	})
}

func (e *mqttEntry) interval(point int) time.Duration {
	if point < len(e.Options.Points) {
		return e.Options.Points[point].ExpectEvery
	}
	return 0
}

// unwatched is a point without expect_every. A Sparkplug node tells its own death.
func (e *mqttEntry) unwatched(point int) string {
	if point < len(e.Options.Points) && e.Options.Points[point].ExpectEvery == 0 && e.Options.Points[point].Sparkplug == "" {
		return "expect_every"
	}
	return ""
}

func (e *mqttEntry) without(drop func(name string) bool) options {
	kept := *e
	kept.Options.Points = without(e.Options.Points, func(p mqtt.Point) string { return p.Name }, drop)
	return &kept
}

func (e *mqttEntry) origin(point string) collectors.Origin {
	for _, p := range e.Options.Points {
		if p.Name == point {
			return collectors.Origin{Source: e.Options.Source(p), Unit: collectors.Unit(p.Unit), Scale: *cmp.Or(p.Scale, new(1.0)), Add: p.Offset}
		}
	}
	return collectors.Origin{}
}

func (e *mqttEntry) instance(name string) (options, bool) {
	for _, template := range e.Options.Points {
		if made, ok := template.Named(name); ok {
			with := *e
			with.Options.Points = append(slices.Clip(with.Options.Points), made)
			return &with, true
		}
	}
	return nil, false
}

func (e *mqttEntry) files() []*string {
	return []*string{&e.Password.File, &e.Options.CAFile, &e.Options.CertFile, &e.Options.KeyFile}
}

func (e *mqttEntry) complete(s siteFacts) {
	e.Options.ClientID, e.Options.Zone = e.clientID(s), s.zone
	e.Options = e.withPassword()
}

// clientID is the client id of a device: its own, or one that no other box has. A broker knows each shard by its index, however
// many there are.
func (e *mqttEntry) clientID(s siteFacts) string {
	id := cmp.Or(e.Options.ClientID, "gauger-"+s.id+"-"+e.Options.Name)
	if s.shard.Of > 0 {
		id += fmt.Sprintf("-%d", s.shard.Index)
	}
	return id
}

// withPassword joins the password's source to the device.
func (e *mqttEntry) withPassword() mqtt.Device {
	d := e.Options
	if e.Password.Given() {
		d.Password = e.Password.Read
	}
	return d
}

// reached joins all MQTT devices: they share sessions, by which their messages are acknowledged.
func (e *mqttEntry) reached() (by []string) { return []string{"mqtt"} }

func (e *mqttEntry) mend(r *report, at string) {
	for k, b := range e.Options.Brokers {
		if u, err := url.Parse(b); err == nil && !realPort(u.Port()) {
			r.strictf(brokerPath(r, at, k), "%s is no port; write one from 1 to 65535. Until then this broker cannot be reached", quote(u.Port()))
		}
	}
	for k := range e.Options.Points {
		p := &e.Options.Points[k]
		if p.ExpectEvery > 0 && p.ExpectEvery < time.Second || p.ExpectEvery > longestInterval {
			r.strictf(fmt.Sprintf("%s.points[%d].expect_every", at, k), "%s is no interval between messages; write 1s to 744h. Until then nobody watches for silence", shortDuration(p.ExpectEvery))
			p.ExpectEvery = 0
		}
	}
}

// brokerPath is the path of a broker's address, which stands alone or in a list.
func brokerPath(r *report, at string, k int) string {
	if path := fmt.Sprintf("%s.mqtt[%d]", at, k); r.given(path) {
		return path
	}
	return at + ".mqtt"
}

func (e *mqttEntry) check(r *report, at string, _ siteFacts) {
	r.problems(at, e.withPassword().Check())
	r.checkSecret(at+".password", e.Password)
	e.checkInClear(r, at)
	r.checkFile(at+".ca_file", e.Options.CAFile)
	r.checkFile(at+".cert_file", e.Options.CertFile)
	r.checkFile(at+".key_file", e.Options.KeyFile)
}

// checkInClear warns of a password that the network can read, unless somebody has written that it may.
func (e *mqttEntry) checkInClear(r *report, at string) {
	if !e.Password.Given() || e.InClear {
		return
	}
	for k, b := range e.Options.Brokers {
		u, err := url.Parse(b)
		if err == nil && (u.Scheme == "mqtt" || u.Scheme == "ws") && u.User == nil && !cloud.Loopback(u.Hostname()) {
			r.warnf(brokerPath(r, at, k), "the password crosses the network readable; use %ss:// if the broker can, or write password_in_clear: true where nobody else is on that network", u.Scheme)
		}
	}
}

// agreeOnSessions checks what MQTT devices at one broker must agree on.
func agreeOnSessions(r *report, s siteFacts, all []deviceAt) {
	devices := make([]mqtt.Device, len(all))
	for i, d := range all {
		e := d.options.(*mqttEntry)
		devices[i] = e.withPassword()
		devices[i].ClientID = e.clientID(s)
	}
	for k, found := range mqtt.CheckShared(devices) {
		for _, p := range found {
			r.problemf(fmt.Sprintf("devices[%d].%s", all[k].index, p.Path), "%s", p.Message)
		}
	}
}
