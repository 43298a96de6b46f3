package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/audit"
	"gauger/agent/ledger"
	"gauger/agent/ledger/ledgertest"
)

// boxGroups are the groups of the box's users while a test runs.
func boxGroups(t *testing.T, of map[int][]string) {
	t.Helper()
	before := groupsOf
	t.Cleanup(func() { groupsOf = before })
	groupsOf = func(uid int) ([]string, error) {
		if of[uid] == nil {
			return nil, errors.New("no such user")
		}
		return of[uid], nil
	}
}

var (
	ann = Caller{UID: 70001, PID: 11, Name: "ann"} // looks
	bob = Caller{UID: 70002, PID: 12, Name: "bob"} // operates
	cat = Caller{UID: 70003, PID: 13, Name: "cat"} // has the keys
	dan = Caller{UID: 70004, PID: 14, Name: "dan"} // is in the socket's group and no other
)

// TestARoleIsTheGroups: what each of four users may, with roles of which some are given.
func TestARoleIsTheGroups(t *testing.T) {
	boxGroups(t, map[int][]string{ann.UID: {"gauger", "lookers"}, bob.UID: {"gauger", "pumpers"}, cat.UID: {"gauger", "keepers"}, dan.UID: {"gauger"}})
	all := Roles{Look: {"lookers"}, Operate: {"pumpers"}, Keys: {"keepers"}}
	for _, x := range []struct {
		roles Roles
		who   Caller
		may   string
	}{
		{nil, PageUser("eve", "10.20.0.9"), "look operate"}, {all, PageUser("hal", "10.20.0.9"), "look operate"}, {Roles{Operate: {}}, PageUser("eve", "the box itself"), "look operate"},
		{nil, dan, "look operate keys"}, {nil, Caller{Name: "unknown", UID: -1}, "look operate keys"},
		{all, ann, "look"}, {all, bob, "look operate"}, {all, cat, "look keys"}, {all, dan, ""},
		{all, Caller{Name: "root"}, "look operate keys"}, {all, Caller{UID: 70009, Name: "uid 70009"}, ""}, {all, Caller{UID: -1, Name: "unknown"}, ""},
		{Roles{Keys: {"keepers"}}, dan, "look operate"}, {Roles{Keys: {"keepers"}}, cat, "look operate keys"},
		{Roles{Keys: {}}, cat, "look operate"}, {Roles{Operate: {"pumpers", "keepers"}}, cat, "look operate keys"},
	} {
		var may []string
		for _, role := range []Role{Look, Operate, Keys} {
			err := x.roles.refusal(x.who, "tanks.allow", role)
			if err == nil {
				may = append(may, string(role))
				continue
			}
			for _, word := range []string{x.who.Name, "tanks.allow", "the role " + string(role), "control." + string(role)} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %s", err, word)
				}
			}
			if needs := x.roles[role]; len(needs) > 0 && !strings.Contains(err.Error(), "usermod -aG "+needs[0]+" "+x.who.Name) && role != Look && x.who.From == "" {
				t.Errorf("%q does not say what to do", err)
			}
		}
		if got := strings.Join(may, " "); got != x.may {
			t.Errorf("%s with %v may %q, want %q", x.who.Name, x.roles, got, x.may)
		}
	}
}

// TestNobodyIsPutIntoTheGroupRoot: where a role is that group's, it is root's.
func TestNobodyIsPutIntoTheGroupRoot(t *testing.T) {
	boxGroups(t, map[int][]string{bob.UID: {"pumpers"}})
	for _, c := range []struct {
		groups []string
		want   string
	}{{[]string{"root"}, "which only root has here (control.keys in the configuration); use sudo"}, {[]string{"root", "keepers"}, "usermod -aG keepers"}} {
		if err := (Roles{Keys: c.groups}).refusal(bob, "keys.set", Keys); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "-aG root") {
			t.Errorf("%v: %v", c.groups, err)
		}
	}
}

// TestEveryChangingVerbLeavesAnEntry: each verb of the table is asked for by one who may and one who may not. What needs more
// than to look leaves an entry of each, what only looks leaves one when it was denied.
func TestEveryChangingVerbLeavesAnEntry(t *testing.T) {
	boxGroups(t, map[int][]string{bob.UID: {"pumpers", "keepers"}, dan.UID: {"gauger"}})
	b := ledgertest.New(t, nil)
	d := (&Server{Ledger: b.Ledger, Box: b.Box, Clock: b.Clock, Site: b.Site, Trail: audit.New(t.TempDir()),
		Roles: Roles{Look: {"lookers"}, Operate: {"pumpers"}, Keys: {"keepers"}}}).Open()
	d.RegisterLive("scan", Operate, func(context.Context, json.RawMessage, func(any) error) error { return nil })
	logged := 0
	d.Audited = func(audit.Entry, error) { logged++ }
	args := json.RawMessage(`{"number":"TEST-1","slot":"none","key":"a-secret","password_hash":"a-secret","PasswordHash":"a-secret","why":"because"}`)
	before := 0
	ask := func(who Caller, name string, live bool) (last audit.Entry, more int, err error) {
		ctx := WithCaller(t.Context(), who)
		if live {
			err = d.Follow(ctx, name, args, func(any) error { return nil })
		} else {
			func() {
				defer func() { _ = recover() }() // verbs of the service have no client here
				_, err = d.Call(ctx, name, args)
			}()
		}
		all, unread := d.Trail.Read(time.Time{})
		if unread != nil {
			t.Fatal(unread)
		}
		more, before = len(all.Entries)-before, len(all.Entries)
		if before > 0 {
			last = all.Entries[before-1]
		}
		return last, more, err
	}
	changing := 0
	names := append(slices.Sorted(maps.Keys(d.requests)), slices.Sorted(maps.Keys(d.live))...)
	for i, name := range names {
		live, needs := i >= len(d.requests), Role("")
		if live {
			needs = d.live[name].needs
		} else {
			needs = d.requests[name].needs
		}
		d.denials = denials{}
		e, more, err := ask(dan, name, live)
		if err == nil || more != 1 || e.Result != audit.Denied || e.Name != "dan" || e.UID != dan.UID || e.PID != dan.PID || e.Verb != name || e.Record != "TEST-1" || e.Reason != "because" || e.Why != err.Error()[:len(e.Why)] {
			t.Errorf("%s of dan: %v, %d entries, the last %+v", name, err, more, e)
		}
		if needs == Look {
			if _, more, _ := ask(bob, name, live); more != 0 {
				t.Errorf("%s only looks and left %d entries", name, more)
			}
			continue
		}
		changing++
		if name == "login" { // has no client here
			continue
		}
		e, more, err = ask(bob, name, live)
		if result := map[bool]string{true: audit.Done, false: audit.Failed}[err == nil]; more != 1 || e.Result != result || e.Name != "bob" || e.Verb != name || e.Record != "TEST-1" || e.Reason != "because" {
			t.Errorf("%s of bob: %v, %d entries, the last %+v", name, err, more, e)
		}
	}
	if changing < 16 || logged != before {
		t.Errorf("%d verbs change something; %d entries and %d of them in the log", changing, before, logged)
	}
	all, err := d.Trail.Read(time.Time{})
	if text := fmt.Sprintf("%+v", all); err != nil || strings.Contains(text, "a-secret") {
		t.Errorf("a secret stands in the trail (%v): %s", err, text)
	}
}

// TestWhoIsDeniedCannotFillTheDisk: of a user's denials a burst is kept, and then one in a while, with the number of the others.
func TestWhoIsDeniedCannotFillTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boxGroups(t, map[int][]string{dan.UID: {"gauger"}, ann.UID: {"gauger"}})
		d := &Server{Trail: audit.New(t.TempDir()), Roles: Roles{Operate: {"pumpers"}}}
		denied := func(who Caller) {
			if d.Allow(WithCaller(t.Context(), who), "tickets.add", Operate, nil) == nil {
				t.Fatal("not denied")
			}
		}
		for range 1000 {
			denied(dan)
		}
		denied(ann)
		ledgertest.Pass(deniedEvery)
		denied(dan)
		denied(dan)
		all, err := d.Trail.Read(time.Time{})
		if err != nil || len(all.Entries) != deniedBurst+2 {
			t.Fatalf("%d entries (%v)", len(all.Entries), err)
		}
		if e := all.Entries[deniedBurst]; e.Name != "ann" || e.Skipped != 0 {
			t.Errorf("another user: %+v", e)
		}
		if e := all.Entries[deniedBurst+1]; e.Name != "dan" || e.Skipped != 1000-deniedBurst {
			t.Errorf("after a while: %+v", e)
		}
	})
}

// An act that books barrels stands in the trail with them: which truck's ticket, which gauges, in the place of what.
func TestTheTrailHasTheFiguresThatWereBooked(t *testing.T) {
	for args, want := range map[string]string{
		`{"number":"A-1","hauler":"77","bbl":174.7,"basis":"observed","metered":true}`: "truck's ticket 77 of 174.70 bbl observed, by its meter",
		`{"number":"A-1","hauler":"77","remove":true}`:                                 "truck's ticket 77 taken back",
		`{"Tank":"TK-1","Number":"M-1","Open":205.02,"Close":102.56,"Replaces":"A-1"}`: "in the place of A-1, 205.02 to 102.56 in",
	} {
		if _, got, _ := aboutRequest(json.RawMessage(args), nil); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	edit := json.RawMessage(`{"number":"A-1","set":{"bsw":"0.4","seal_on":"7"},"why":"retested","anyway":"so"}`)
	if _, got, why := aboutRequest(edit, []ledger.Edit{{Field: "bsw", Old: "0.2", New: "0.4"}, {Field: "seal_on", New: "7"}}); got != "bsw 0.4, was 0.2; seal on 7, which it had not" || why != "retested, anyway: so" {
		t.Errorf("an edit: %q, %q", got, why)
	}
	if _, got, _ := aboutRequest(edit, nil); got != "bsw 0.4; seal_on 7" {
		t.Errorf("an edit that was refused: %q", got)
	}
}
