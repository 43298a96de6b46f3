package mqtt

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"gauger/collectors"
)

// maxClientID is the longest client id that the protocol can carry, in bytes.
const maxClientID = 65535

// Check returns what is wrong with the options of one device; nothing when they can be used. It looks at no file
// and no network.
func (d Device) Check() []collectors.Problem {
	var found []collectors.Problem
	add := func(path, message string) { found = append(found, collectors.Problem{Path: path, Message: message}) }
	if d.Name == "" {
		add("name", "missing; the points of a device are named NAME/POINT")
	}
	d.checkBroker(add)
	if len(d.Points) == 0 {
		add("points", "missing; list at least one, like {name: tk2-level, topic: field/tk2, value: level.in, unit: in}")
	}
	seen := map[string]int{}
	for i, p := range d.Points {
		at := func(field, message string) { add(fmt.Sprintf("points[%d].%s", i, field), message) }
		first, twice := seen[p.Name]
		switch {
		case p.Name == "":
			at("name", "missing; give the part after the slash, like tk2-level")
		case p.Template():
			p.checkTemplate(at)
		case strings.ContainsAny(p.Name, "/,\" \t\r\n}"):
			at("name", fmt.Sprintf("%q has a slash, comma, quote, brace or blank; use letters, digits, - and _", p.Name))
		case twice:
			at("name", fmt.Sprintf("%q is already points[%d]; each point needs a name of its own", p.Name, first))
		}
		seen[p.Name] = i
		p.check(at)
	}
	return found
}

// checkBroker looks at the address and the credentials.
func (d Device) checkBroker(add func(path, message string)) {
	brokers, err := d.Brokers.endpoints()
	if err != nil {
		add("mqtt", err.Error())
	}
	open := slices.IndexFunc(brokers, func(u *url.URL) bool { return !encrypted(u) })
	for i, u := range brokers {
		if slices.ContainsFunc(brokers[:i], func(v *url.URL) bool { return *u == *v }) {
			add(fmt.Sprintf("mqtt[%d]", i), u.String()+" stands there twice; leave one out")
		}
	}
	if len(d.ClientID) > maxClientID || strings.ContainsRune(d.ClientID, 0) {
		add("client_id", "too long, or has a NUL character; letters, digits and - are safe everywhere")
	}
	if d.Password != nil && d.Username == "" {
		add("username", "missing; MQTT 3.1.1 has no password without a user name")
	}
	if d.Status != "" && (wildcard(d.Status) || filterProblem(d.Status) != "") {
		add("status_topic", fmt.Sprintf("%q cannot be published to; give one topic, like field/gauger/status", d.Status))
	}
	if strings.ContainsAny(strings.TrimPrefix(d.SparkplugHost, "STATE/"), "/+# \x00") {
		add("sparkplug_host", fmt.Sprintf("%s has a slash, blank, + or #; letters, digits and - are safe everywhere", excerpt(d.SparkplugHost)))
	}
	if d.ListenOnly && d.SparkplugHost+d.Status != "" {
		add("listen_only", "contradicts sparkplug_host and status_topic, which publish that gauger is online; leave one out")
	}
	if d.SparkplugHost != "" && d.Status != "" {
		add("status_topic", "has no place beside sparkplug_host: a session has one last will; leave one out")
	}
	if (d.CertFile == "") != (d.KeyFile == "") {
		missing := "cert_file"
		if d.KeyFile == "" {
			missing = "key_file"
		}
		add(missing, "missing; a client certificate needs both cert_file and key_file")
	}
	if err != nil || open < 0 {
		return
	}
	for _, f := range [][2]string{{"ca_file", d.CAFile}, {"cert_file", d.CertFile}, {"key_file", d.KeyFile}, {"server_name", d.Server}} {
		if f[1] != "" {
			add(f[0], fmt.Sprintf("has no effect with %s, which is not encrypted; use mqtts:// or wss://", brokers[open]))
		}
	}
}

func (p Point) check(add func(field, message string)) {
	if p.Sparkplug != "" || p.Metric != "" {
		p.checkSparkplug(add)
	} else if message := filterProblem(p.Topic); message != "" {
		add("topic", message)
	}
	p.checkRegisters(add)
	p.checkPaths(add)
	p.checkNumbers(add)
	if p.ExpectEvery < 0 {
		add("expect_every", fmt.Sprintf("%s is negative; give the usual interval between messages, like 10m", p.ExpectEvery))
	}
}

// checkSparkplug looks at a point that is a metric of a Sparkplug node.
func (p Point) checkSparkplug(add func(field, message string)) {
	switch _, _, _, err := nodePath(p.Sparkplug); {
	case p.Sparkplug == "":
		add("sparkplug", "missing; name the node that publishes the metric, like Lease/Node1 or Lease/Node1/PLC")
	case err != nil:
		add("sparkplug", err.Error())
	}
	if p.Metric == "" {
		add("metric", "missing; write the metric's name as the node's birth has it, like Tank 1/Level")
	}
	for _, f := range [][2]string{{"topic", p.Topic}, {"value", p.Value}, {"time", p.Time}, {"quality", p.Quality}, {"unit_path", p.UnitPath}, {"encoding", p.Encoding}} {
		if f[1] != "" {
			add(f[0], "has no place beside sparkplug: a metric has its own value, time and quality; leave it out")
		}
	}
}

// checkPaths looks at the path of the value, and of what belongs to it.
func (p Point) checkPaths(add func(field, message string)) {
	ready := point{Point: p}
	if p.Value != "" {
		whole, err := parsePath(p.Value)
		if err == nil {
			ready.listPath, _, err = whole.split()
		}
		if err != nil {
			add("value", err.Error())
			return
		}
	}
	for _, f := range [][2]string{{"time", p.Time}, {"quality", p.Quality}, {"unit_path", p.UnitPath}} {
		if _, err := ready.relativePath(f[1]); err != nil {
			add(f[0], err.Error())
		} else if f[1] != "" && p.Value == "" && p.Sparkplug == "" {
			add(f[0], "needs value as well: without a path to the value the whole payload is the number")
		}
	}
	switch {
	case p.TimeZone == "":
	case p.Time == "":
		add("time_zone", "needs time as well: the path that leads to the times")
	case !slices.Contains(zoneWords, p.TimeZone):
		add("time_zone", fmt.Sprintf("%s is none that a device's time can be in; write site, utc or box", excerpt(p.TimeZone)))
	}
	if len(p.GoodQuality) > 0 && p.Quality == "" {
		add("good_quality", "needs quality as well: the path that leads to the words")
	}
}

// checkNumbers looks at scale, offset, range and sentinels.
func (p Point) checkNumbers(add func(field, message string)) {
	if p.Scale != nil && (*p.Scale == 0 || !isFinite(*p.Scale)) {
		add("scale", fmt.Sprintf("%v makes every value the same; give a finite number other than 0", *p.Scale))
	}
	if !isFinite(p.Offset) {
		add("offset", fmt.Sprintf("%v is no number to add", p.Offset))
	}
	switch {
	case len(p.Range) == 0:
	case len(p.Range) != 2:
		add("range", fmt.Sprintf("has %d numbers; give two, like [0, 240]", len(p.Range)))
	case !(p.Range[0] < p.Range[1]):
		add("range", fmt.Sprintf("[%v, %v] is empty; the first must be less than the second", p.Range[0], p.Range[1]))
	}
	for i, b := range p.Bad {
		if !isFinite(b) {
			add(fmt.Sprintf("bad[%d]", i), fmt.Sprintf("%v cannot be sent as a number", b))
		}
	}
	if p.Unit == textUnit && (p.Scale != nil || p.Offset != 0 || len(p.Range) > 0 || len(p.Bad) > 0) {
		add("unit", "text has no scale, offset, range or bad; leave them out, or give the unit of a number")
	}
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// CheckShared returns what is wrong between devices, one list for each in the order given: devices that share a
// session must agree on how it is opened, and one client id may not open two sessions at one broker, because there
// each connection would throw out the other.
func CheckShared(devices []Device) [][]collectors.Problem {
	found := make([][]collectors.Problem, len(devices))
	for i, d := range devices {
		ours, err := d.Brokers.endpoints()
		if err != nil {
			continue // Check tells
		}
		for _, e := range devices[:i] {
			theirs, err := e.Brokers.endpoints()
			if err == nil && d.clientID() == e.clientID() && shareHost(ours, theirs) {
				found[i] = append(found[i], d.compareShared(ours, e, theirs)...)
			}
		}
	}
	return found
}

// shareHost says whether two devices have a broker's host in common.
func shareHost(a, b []*url.URL) bool {
	return slices.ContainsFunc(a, func(u *url.URL) bool {
		return slices.ContainsFunc(b, func(v *url.URL) bool { return u.Hostname() == v.Hostname() })
	})
}

// compareShared compares a device with an earlier one that uses the same client id at the same host.
func (d Device) compareShared(ours []*url.URL, e Device, theirs []*url.URL) []collectors.Problem {
	if fmt.Sprint(ours) != fmt.Sprint(theirs) {
		return []collectors.Problem{{Path: "client_id", Message: fmt.Sprintf(
			"%q is also the client id of %s at the same host by another URL, and a broker lets only one of them stay; give each its own, or the same URLs", d.clientID(), e.Name)}}
	}
	var found []collectors.Problem
	for _, f := range [][3]string{
		{"username", d.Username, e.Username}, {"ca_file", d.CAFile, e.CAFile},
		{"cert_file", d.CertFile, e.CertFile}, {"key_file", d.KeyFile, e.KeyFile}, {"server_name", d.Server, e.Server}, {"status_topic", d.Status, e.Status},
		{"sparkplug_host", d.SparkplugHost, e.SparkplugHost}, {"listen_only", fmt.Sprint(d.ListenOnly), fmt.Sprint(e.ListenOnly)},
	} {
		if f[1] != f[2] {
			found = append(found, collectors.Problem{Path: f[0], Message: fmt.Sprintf(
				"%q differs from %q of %s, which shares this session (same URL and client id); make them equal, or give another client_id", f[1], f[2], e.Name)})
		}
	}
	return found
}
