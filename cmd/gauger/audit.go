package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gauger/agent/audit"
	"gauger/agent/console"
	"gauger/agent/control"

	"github.com/spf13/cobra"
)

type auditOptions struct{ since string }

func auditCommand(c *call) *cobra.Command {
	o := &auditOptions{}
	cmd := newCommand(c, "audit [--since T]", "who has changed what, and who was not let", o.run)
	takes(cmd, 0, "audit takes flags only, such as --since 7d")
	cmd.Flags().StringVar(&o.since, "since", "", "begin at this `TIME` (the site's), or so long ago: 24h, 7d")
	return cmd
}

// run lists the audit trail. Without a daemon its files are read, and no store is opened.
func (o *auditOptions) run(ctx context.Context, c *call, _ []string) error {
	zone := findSite(c).zone()
	times := siteTimes(zone)
	wanted := control.AuditArgs{Since: times.parse("since", o.since)}
	if times.err != nil {
		return times.err
	}
	all, err := readAudit(ctx, c, wanted)
	if err != nil {
		return err
	}
	return c.show(all, func() error { return printAudit(c.out, all, zone) })
}

func readAudit(ctx context.Context, c *call, wanted control.AuditArgs) (all audit.Log, err error) {
	daemon, err := c.dial()
	if err == nil {
		return all, daemon.Call(ctx, "audit", wanted, &all)
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return all, err
	}
	cfg, _, err := loadForStore(c)
	if err != nil {
		return all, err
	}
	back, err := becomeOwner(c, cfg.Store.Path)
	if err != nil {
		return all, err
	}
	all, err = audit.New(cfg.Store.Path).Read(wanted.Since)
	return all, errors.Join(err, back())
}

// printAudit prints an act in a line, and what has to be said of it in the next one.
func printAudit(w io.Writer, all audit.Log, zone *time.Location) error {
	text := when(len(all.Entries) == 0, "nothing was changed through gauger in that time\n")
	for _, e := range all.Entries {
		who := either(e.From != "", fmt.Sprintf("%s (page, %s)", e.Name, e.From), fmt.Sprintf("%s (%d)", e.Name, e.UID))
		text += fmt.Sprintf("%s  %-6s  %-15s  %-14s %s\n", clockText(e.At.In(zone), "2006-01-02 15:04:05"), e.Result, e.Verb, oneLine(who), oneLine(orDash(e.Record)))
		for _, says := range []string{behind("why: ", oneLine(e.Reason)), oneLine(e.Figures), oneLine(e.Why)} {
			text += when(says != "", wrapped("    ", says))
		}
		text += when(e.Skipped > 0, fmt.Sprintf("    %s of this user before it were counted and not kept\n", countText(e.Skipped, "denial")))
	}
	text += when(!all.Oldest.IsZero(), fmt.Sprintf("the trail reaches back to %s\n", timeText(all.Oldest, zone)))
	text += when(all.Torn > 0, fmt.Sprintf("%s cannot be read, as a power cut leaves the last one\n", countText(all.Torn, "line")))
	return printf(w, "%s", text)
}
