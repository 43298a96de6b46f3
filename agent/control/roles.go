package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gauger/agent/audit"
)

// Role is what somebody may do.
type Role string

// The roles. Who may operate or change keys may look, too.
const (
	Look    Role = "look"    // at what there is; it changes nothing
	Operate Role = "operate" // tickets, tanks, the outbox, the lines
	Keys    Role = "keys"    // the subscription keys
)

// Caller is who asks: a local user, or somebody whom the status page knows by a token.
type Caller struct {
	UID, PID int
	Name     string
	From     string // the address from which the page is asked; empty: a local user
	Means    string // id of the site whose file was named beside the request; empty: none was
}

// PageUser is who has shown a token at the page. He is no user of the box.
func PageUser(name, from string) Caller { return Caller{UID: -1, Name: name, From: from} }

// caller is the key under which a request's context names who asks.
type caller struct{}

// WithCaller says who asks.
func WithCaller(ctx context.Context, who Caller) context.Context {
	return context.WithValue(ctx, caller{}, who)
}

// CallerOf is who asks; unknown, and nobody's user id, when nobody said.
func CallerOf(ctx context.Context) Caller {
	who, _ := ctx.Value(caller{}).(Caller)
	if who.Name == "" {
		who = Caller{UID: -1, Name: "unknown"}
	}
	return who
}

// Roles are the groups of the box that have each role. A role that is not there is everybody's who may connect.
type Roles map[Role][]string

// groupsOf are the names of a user's groups now, and not those of the process: who is put out of a group is out at once.
var groupsOf = func(uid int) (names []string, err error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return nil, err
	}
	ids, err := u.GroupIds()
	for _, id := range ids {
		if g, err := user.LookupGroupId(id); err == nil {
			names = append(names, g.Name)
		}
	}
	return names, err
}

// refusal says why somebody has not the role for a request; nil: he has. Root has all, and so has the agent's own user, whose the
// store is. A token of the page is for operating, whatever groups there are, and never for keys.
func (r Roles) refusal(who Caller, verb string, needs Role) error {
	if who.From != "" {
		if needs == Keys {
			return fmt.Errorf("%s may not do %s: it needs the role %s (control.%s in the configuration), which nobody has on the page; use the commands on the box", who.Name, verb, needs, needs)
		}
		return nil
	}
	having := slices.Clone(r[needs])
	if _, set := r[needs]; !set || who.UID == 0 || who.UID == os.Geteuid() {
		return nil
	}
	if needs == Look {
		having = slices.Concat(having, r[Operate], r[Keys])
	}
	mine, err := groupsOf(who.UID)
	if slices.ContainsFunc(mine, func(g string) bool { return slices.Contains(having, g) }) {
		return nil
	}
	unknown := ""
	if err != nil {
		unknown = fmt.Sprintf(" (of which groups %s is in could not be found out: %v)", who.Name, err)
	}
	having = slices.DeleteFunc(having, func(g string) bool { return g == "root" }) // nobody is to be put into that one
	if len(having) == 0 {
		return fmt.Errorf("%s may not do %s: it needs the role %s, which only root has here (control.%s in the configuration); use sudo%s", who.Name, verb, needs, needs, unknown)
	}
	slices.Sort(having)
	having = slices.Compact(having)
	return fmt.Errorf("%s may not do %s: it needs the role %s, which members of %s have (control.%s in the configuration); ask one of them, or have root put you in: usermod -aG %s %s%s",
		who.Name, verb, needs, strings.Join(having, ", "), needs, having[0], who.Name, unknown)
}

// LooksOnly says that a request leaves a store as it is. What asks the service may end with a renewed key, which must be kept.
func LooksOnly(request string) bool {
	d := (&Server{}).Open()
	asks := request == "devices.query" || request == "events.get"
	return !asks && (d.requests[request].needs == Look || d.live[request].needs == Look)
}

// Allow says whether whoever asks means this site and has the role for a request with these arguments; a denial is left in the audit trail.
func (d *Server) Allow(ctx context.Context, verb string, needs Role, args json.RawMessage) error {
	who := CallerOf(ctx)
	if who.Means != "" && who.Means != d.Site.ID && needs != Look {
		return fmt.Errorf("nothing was done: site %s (%s) answers, and the file of -c is of %s; give its --socket", d.Site.Name, d.Site.ID, who.Means)
	}
	err := d.Roles.refusal(who, verb, needs)
	if err == nil {
		return nil
	}
	d.denied(who, verb, args, err)
	return err
}

func (d *Server) denied(who Caller, verb string, args json.RawMessage, why error) {
	if skipped, keep := d.denials.keeps(who.UID, time.Now()); keep {
		e := who.entry(verb)
		e.Record, e.Figures, e.Reason = aboutRequest(args, nil)
		e.Result, e.Why, e.Skipped = audit.Denied, why.Error(), skipped
		d.note(e)
	}
}

// NoteLogin leaves an entry of who has come in at the page; why: he was not let.
func (d *Server) NoteLogin(who Caller, why error) {
	if why != nil {
		d.denied(who, "page.login", nil, why)
		return
	}
	e := who.entry("page.login")
	e.Result = audit.Done
	d.note(e)
}

// entry is one of what somebody does.
func (who Caller) entry(verb string) audit.Entry {
	return audit.Entry{UID: who.UID, Name: who.Name, PID: who.PID, From: who.From, Verb: verb}
}

// audited leaves an entry of something that was done, or was tried.
func (d *Server) audited(ctx context.Context, verb string, args json.RawMessage, result any, err error) {
	e := CallerOf(ctx).entry(verb)
	e.Result = audit.Done
	e.Record, e.Figures, e.Reason = aboutRequest(args, result)
	if r, ok := result.(interface{ Refusal() string }); ok && err == nil && r.Refusal() != "" {
		e.Result, e.Why = audit.Failed, r.Refusal()
	}
	if err != nil {
		e.Result, e.Why = audit.Failed, err.Error()
	}
	d.note(e)
}

// NoteOwn leaves an entry of what the agent has done by itself.
func (d *Server) NoteOwn(verb, record string) {
	d.note(audit.Entry{UID: os.Geteuid(), Name: "gauger", PID: os.Getpid(), Verb: verb, Record: record, Result: audit.Done})
}

// note puts an entry on disk. That it could not be kept stops nothing: a site with a full disk must be operable. It is told.
func (d *Server) note(e audit.Entry) {
	e.At = time.Now().Round(0)
	var err error
	if d.Trail != nil {
		err = d.Trail.Add(e)
	}
	if d.Audited != nil {
		d.Audited(e, err)
	}
}

// denials bound what those who are denied can make the agent write: so many each, and then one a while.
type denials struct {
	mu    sync.Mutex
	all   map[int]*denied
	hosts []string // names by which the page was asked for, and which nobody has given to the box
}

// hostsTold are the names that are told of in a run; anybody can invent more.
const hostsTold = 4

// DenyHost notes that the page was asked for by a name that is not the box's, and not shown: once for each name.
func (d *Server) DenyHost(host string) {
	d.denials.mu.Lock()
	told := len(d.denials.hosts) >= hostsTold || slices.Contains(d.denials.hosts, host)
	if !told {
		d.denials.hosts = append(d.denials.hosts, host)
	}
	d.denials.mu.Unlock()
	if !told {
		d.note(audit.Entry{UID: -1, Name: "page", Verb: "page", Record: host, Result: audit.Denied, Why: "http.hosts does not have the name"})
	}
}

// deniedHosts are hints about those names.
func (d *Server) deniedHosts() (hints []string) {
	d.denials.mu.Lock()
	defer d.denials.mu.Unlock()
	for _, host := range d.denials.hosts {
		hints = append(hints, fmt.Sprintf("the page was asked for as %q and not shown; if that is a name of this box, write it to http.hosts", host))
	}
	return hints
}

type denied struct {
	left    int
	filled  time.Time
	skipped int
}

// Denials of one user that are kept: a burst, then one in every deniedEvery.
const (
	deniedBurst = 20
	deniedEvery = 10 * time.Minute
)

// keeps says whether the next denial of a user is kept, and how many were not since the last one.
func (d *denials) keeps(uid int, now time.Time) (skipped int, keep bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.all[uid]
	if u == nil {
		u = &denied{left: deniedBurst, filled: now}
		if d.all == nil {
			d.all = map[int]*denied{}
		}
		d.all[uid] = u // there are as many as the box has users
	}
	if n := int(now.Sub(u.filled) / deniedEvery); n > 0 {
		u.left, u.filled = min(u.left+n, deniedBurst), now
	}
	if u.left == 0 {
		u.skipped++
		return 0, false
	}
	u.left--
	skipped, u.skipped = u.skipped, 0
	return skipped, true
}

// AuditArgs says from when on somebody wants to see the audit trail.
type AuditArgs struct {
	Since time.Time `json:"since,omitzero"`
}

func (d *Server) auditLog(_ context.Context, a AuditArgs) (audit.Log, error) {
	if d.Trail == nil {
		return audit.Log{}, errors.New("this gauger keeps no audit trail")
	}
	return d.Trail.Read(a.Since)
}
