package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"os/user"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // a box without a zone database knows every zone
	"unicode"
	"unicode/utf8"

	"gauger/agent/cloud"
	"gauger/collectors"

	"go.yaml.in/yaml/v3"
)

// checker looks at the decoded configuration: what each value means, and how the values fit together.
type checker struct {
	*report
	cfg          *Config
	pointsByName map[collectors.Point]PointInfo
}

func newChecker(cfg *Config, d *decoder, root *yaml.Node, dir string) *checker {
	c := &checker{report: newReport(d, root, dir), cfg: cfg}
	c.pointsByName = map[collectors.Point]PointInfo{}
	for p := range c.cfg.Points() {
		if _, twice := c.pointsByName[p.Point]; !twice {
			c.pointsByName[p.Point] = p
		}
	}
	return c
}

func (c *checker) check() {
	c.mendValues()
	c.checkReadable("", c.d.file)
	c.checkSite()
	c.checkService()
	c.checkLoads()
	c.checkDevices()
	c.checkAgreements()
	c.checkTanks()
	c.checkLink()
	c.checkBook()
	c.checkPull()
	c.checkEvents()
	c.checkWells()
	c.checkObjects()
}

// SiteID is the form of a site's id, which is a part of every ticket number.
var SiteID = regexp.MustCompile(`^[A-Z0-9-]{1,12}$`)

func (c *checker) checkSite() {
	cfg := c.cfg
	if c.given("site") && strings.TrimSpace(cfg.Site) == "" {
		c.problemf("site", "empty; write the name that people use for the site")
	}
	switch upper := strings.ToUpper(cfg.ID); {
	case SiteID.MatchString(cfg.ID) || !c.given("id"):
	case len(cfg.ID) > 12:
		c.problemf("id", "%s has %d characters; write at most 12 of A-Z 0-9 -", quote(cfg.ID), len(cfg.ID))
	case SiteID.MatchString(upper):
		c.problemf("id", "%s has small letters; write %s", quote(cfg.ID), upper)
	default:
		c.problemf("id", "%s has other characters than A-Z 0-9 -; write 1 to 12 of those", quote(cfg.ID))
	}
	c.checkGUID("object", cfg.Object)
	c.resolveZone()
	if lowest := Size(1 << 20); cfg.Store.MaxBytes < lowest {
		c.problemf("store.max_bytes", "%s is too small; write at least %s", cfg.Store.MaxBytes, lowest)
	}
	if d := cfg.Store.Linger; d < 0 || d > mostLinger {
		c.problemf("store.linger", "%s; write 0s to %s", shortDuration(d), shortDuration(mostLinger))
	}
	c.checkReceipts()
	c.checkFlash()
	shares := cfg.Store.Shares
	c.checkShare("events", shares.Events)
	c.checkShare("tag_values", shares.TagValues)
	c.checkShare("targets", shares.Targets)
	c.checkShare("refused", shares.Refused)
	if cfg.Store.Path == "" {
		c.problemf("store.path", "empty; write a folder such as /var/lib/gauger")
	}
	c.checkRecorder()
	c.checkListen()
	c.checkControl()
}

// mostLinger bounds what a kill costs of the values that were polled.
const mostLinger = 30 * time.Second

// mostReceiptDays bounds the days for which receipts are kept.
const mostReceiptDays = 3650

func (c *checker) checkReceipts() {
	r := c.cfg.Store.Receipts
	if lowest := Size(1 << 20); r.MaxBytes < lowest {
		c.problemf("store.receipts.max_bytes", "%s is too small; write at least %s", r.MaxBytes, lowest)
	}
	if r.Days < 1 || r.Days > mostReceiptDays {
		c.problemf("store.receipts.days", "%d days; write 1 to %d", r.Days, mostReceiptDays)
	}
}

// checkFlash checks what may be stored of nonsense, and what the store is on.
func (c *checker) checkFlash() {
	r, f := c.cfg.Store.Refused, c.cfg.Flash
	if r.Messages < 1 {
		c.problemf("store.refused.messages", "%d messages; write at least 1", r.Messages)
	}
	if lowest := Size(100e3); r.Bytes < lowest {
		c.problemf("store.refused.max_bytes", "%s is too small for a few messages of the largest size; write at least %s", r.Bytes, lowest)
	}
	if f.Cycles < 0 {
		c.problemf("flash.cycles", "%d; write how often a cell may be written, such as 3000", f.Cycles)
	}
	if (f.Size == 0) != (f.Cycles == 0) {
		c.problemf("flash", "size and cycles tell the life of the memory only together; write both, as in {size: 8GB, cycles: 3000}, or neither")
	}
}

func (c *checker) checkShare(key string, percent int) {
	if percent < 1 || percent > 100 {
		c.problemf("store.shares."+key, "%d percent; write 1 to 100", percent)
	}
}

func (c *checker) checkRecorder() {
	r := c.cfg.Recorder
	if lowest := Size(1 << 20); r.MaxBytes != 0 && r.MaxBytes < lowest {
		c.problemf("recorder.max_bytes", "%s is too small; write at least %s, or 0 to keep no readings", r.MaxBytes, lowest)
	}
	if r.Days < 1 {
		c.problemf("recorder.days", "%d days; write at least 1, or max_bytes: 0 to keep no readings", r.Days)
	}
}

// zonesNearby are offered to whoever misspells a zone.
var zonesNearby = strings.Fields("America/Anchorage America/Boise America/Chicago America/Denver America/Edmonton America/Los_Angeles " +
	"America/Mexico_City America/New_York America/Phoenix America/Regina America/Winnipeg Europe/London UTC")

func (c *checker) resolveZone() {
	name := c.cfg.TimeZone
	if name == "" {
		c.cfg.Zone = time.Local
		if c.given("time_zone") {
			c.problemf("time_zone", "empty; write a name such as America/Chicago")
			return
		}
		c.warnf("time_zone", "missing; the box's own zone (%s) is used: write the site's, such as America/Chicago", time.Local)
		return
	}
	found, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		meant := Nearest(name, zonesNearby)
		meant = cmp.Or(meant, "America/Chicago")
		c.problemf("time_zone", "%s is not a time zone's name; write one such as %s", quote(name), meant)
		return
	}
	c.cfg.Zone = found
}

func (c *checker) checkListen() {
	for i, name := range c.cfg.HTTP.Hosts {
		if name == "" || strings.ContainsAny(name, "/: *") {
			c.problemf(fmt.Sprintf("http.hosts[%d]", i), "%s is no name; write it without scheme and port, as in rtu-7.example.com (IP addresses need no entry)", quote(name))
		}
	}
	c.checkTokens()
	at := c.cfg.HTTP.Listen
	if at == "" {
		return
	}
	host, port, err := net.SplitHostPort(at)
	if err != nil || port == "" {
		c.problemf("http.listen", "%s is no address and port; write 127.0.0.1:8480", quote(at))
		return
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		c.problemf("http.listen", "%s is not a port; write 127.0.0.1:8480", quote(port))
		return
	}
	if !cloud.Loopback(host) {
		c.warnf("http.listen", "everyone who reaches the box over the network can read the status page here; 127.0.0.1:%s is the box alone", port)
		if len(c.cfg.HTTP.Tokens) > 0 {
			c.warnf("http.tokens", "tokens cross the network in clear here, where whoever listens on it can take them; listen on 127.0.0.1:%s and come by `ssh -L`, or by a VPN", port)
		}
	}
}

func (c *checker) checkTokens() {
	if c.given("http.tokens") && c.cfg.HTTP.Listen == "" {
		c.strictf("http.tokens", "there is no page without http.listen; write it too, or leave the tokens away")
	}
	whose := map[string]string{} // the name by its token
	for _, name := range slices.Sorted(maps.Keys(c.cfg.HTTP.Tokens)) {
		path := "http.tokens." + name
		if !isTokenName(name) {
			c.problemf("http.tokens", "%s is no name of a person; write letters, digits, dots and dashes, at most 32", quote(name))
			continue
		}
		if !c.cfg.HTTP.Tokens[name].Given() {
			c.problemf(path, "says not where the token is; write {credential: page-token}, {file: PATH} or {env: NAME}")
		}
		text := c.checkSecret(path, c.cfg.HTTP.Tokens[name])
		if text == "" {
			continue
		}
		if err := CheckToken(text); err != nil {
			c.tellContent(c.cfg.HTTP.Tokens[name], path, "nobody can come in with it: %v", err)
		}
		if other, twice := whose[text]; twice {
			c.tellContent(c.cfg.HTTP.Tokens[name], path, sameToken, other)
		}
		whose[text] = name
	}
}

// sameToken is told of the second of two names with one token, and names the first.
const sameToken = "it is the token of %s too, who can then sign as this one; make each a token of its own with `openssl rand -hex 16`"

// CheckToken says why nobody can come in at the page with a token; nil: he can.
func CheckToken(token string) error {
	const least, most = 16, 500 // characters; the field of the page's form takes no more
	switch n := utf8.RuneCountInString(token); {
	case n < least:
		return fmt.Errorf("it has fewer than %d characters, so that it could be guessed; make one with `openssl rand -hex 16`", least)
	case n > most:
		return fmt.Errorf("it has %d characters, and the page's form takes %d; make one with `openssl rand -hex 16`", n, most)
	case token != printable(token) || !utf8.ValidString(token):
		return errors.New("it holds characters that nobody sees or types, as an editor puts before a file; make one with `openssl rand -hex 16`")
	}
	return nil
}

// ReadTokens are the tokens of people who can come in at the page, by name, and what is wrong with any.
func (h HTTP) ReadTokens() (tokens map[string]string, doubts []string) {
	tokens = map[string]string{}
	whose := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(h.Tokens)) {
		token, err := h.Tokens[name].Read()
		if err == nil {
			err = CheckToken(token)
		}
		if err != nil {
			doubts = append(doubts, fmt.Sprintf("http.tokens.%s: nobody can come in with it: %v; then restart gauger", name, err))
			continue
		}
		if other, twice := whose[token]; twice {
			doubts = append(doubts, fmt.Sprintf("http.tokens.%s: "+sameToken+"; then restart gauger", name, other))
		}
		tokens[name], whose[token] = token, name
	}
	return tokens, doubts
}

// isTokenName says that somebody who has a token may be called so: his name stands in the audit trail and in tickets. A pattern for it
// holds all letters of the world as often as it may repeat them, which was 1.3 MB in every running gauger.
func isTokenName(name string) bool {
	return name != "" && utf8.RuneCountInString(name) <= 32 && !strings.ContainsAny(name[:1], "._-") && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("._-", r)
	})
}

// checkControl checks the groups of the roles. One that this box has not is a warning: it may come with the next package.
func (c *checker) checkControl() {
	for _, role := range []struct {
		path   string
		groups []string
	}{{"control.look", c.cfg.Control.Look}, {"control.operate", c.cfg.Control.Operate}, {"control.keys", c.cfg.Control.Keys}} {
		if role.groups == nil && c.given(role.path) {
			c.problemf(role.path, "empty; write [GROUP], or [] for root alone")
		}
		for i, name := range role.groups {
			at := fmt.Sprintf("%s[%d]", role.path, i)
			if strings.TrimSpace(name) == "" {
				c.problemf(at, "empty; write the name of a group of the box")
			} else if name == "root" {
				c.warnf(at, "root has every role anyway; write [] for root alone, and the group of those who shall have it too otherwise")
			} else if _, err := user.LookupGroup(name); err != nil {
				c.warnf(at, "there is no group %s here, so nobody has the role through it; make it with groupadd, or write another", quote(name))
			}
		}
	}
}

// checkObjects checks the GUIDs, and that there is one to name.
func (c *checker) checkObjects() {
	cfg := c.cfg
	first, owner := "", "" // object, and what has it
	check := func(list string, i int, object string) {
		at := fmt.Sprintf("%s[%d]", list, i)
		c.checkGUID(at+".object", object)
		if first == "" && object != "" {
			first, owner = object, at
		}
	}
	for i, dev := range cfg.Devices {
		check("devices", i, dev.Object)
	}
	for i, t := range cfg.Tanks {
		check("tanks", i, t.Object)
	}
	for i, e := range cfg.Events {
		check("events", i, e.Object)
	}
	if cfg.Object != "" || c.given("object") {
		return
	}
	if first == "" {
		tell := c.strictf // for who has no key yet cannot know it, and levels and tickets do without
		if len(c.d.problems) > 0 {
			tell = c.problemf // such a file is refused anyway, with so many mistakes and no more
		}
		tell("object", "missing; gauger's diagnostics must name an object of the service: write the GUID of the site's device, which `gauger devices query` shows as soon as a key works. "+
			"Until then gauger sends no events; tickets leave")
		return
	}
	cfg.Object = first
	c.warnf("object", "missing; gauger's own diagnostics name the object of %s (%s)", owner, first)
}
