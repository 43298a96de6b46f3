package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gauger/agent"
	"gauger/agent/cloud/keys"
	"gauger/agent/control"
	"gauger/agent/eventrules"
	"gauger/config"
)

// slots are the two keys that a site has.
var slots = []string{"primary", "secondary"}

// slotArg reads the one argument of the commands that change a key.
func slotArg(rest []string, name string) (string, error) {
	if len(rest) == 1 {
		if slot, err := oneOf(rest[0], slots...); err == nil {
			return slot, nil
		}
	}
	return "", usageError{name + " wants primary or secondary"}
}

func keysRenewCommand(c *call) *cobra.Command {
	cmd := newCommand(c, "renew primary|secondary", "renew a key now", runKeysRenew)
	cmd.ValidArgs = slots
	return cmd
}

// runKeysRenew renews a key now. A person may insist: a renewal that is too soon is done, with a warning.
func runKeysRenew(ctx context.Context, c *call, args []string) error {
	slot, err := slotArg(args, "keys renew")
	if err != nil {
		return err
	}
	var got control.RenewResult
	if err := ask(ctx, c, "keys.renew", control.KeyArgs{Slot: slot}, &got); err != nil {
		return fmt.Errorf("%w; `gauger keys show` tells what is known of the keys, `gauger keys set %s` takes a new one", err, slot)
	}
	if got.Warning != "" {
		fmt.Fprintln(c.err, "warning: it was renewed all the same: "+got.Warning)
	}
	if c.json() {
		return printJSON(c.out, got)
	}
	value := either(got.Key == "none", "its value stays", "its value now has the fingerprint "+got.Key)
	return printf(c.out, "renewed: the %s key ends %s; %s\n", slot, keyEndText(got.Expires, got.Assumed, findSite(c).zone()), value)
}

type keysSetOptions struct{ file, anyway string }

func keysSetCommand(c *call) *cobra.Command {
	o := &keysSetOptions{}
	cmd := newCommand(c, "set primary|secondary", "give a new key, read from standard input", o.run)
	cmd.ValidArgs = slots
	cmd.Flags().StringVar(&o.file, "file", "", "`FILE` that holds the key and nothing else; default standard input")
	cmd.Flags().StringVar(&o.anyway, "anyway", "", "`TEXT`: why it is a key though it has another length than keys have")
	return cmd
}

// run gives a new key, which never stands on the command line: it would be in the shell's history.
func (o *keysSetOptions) run(ctx context.Context, c *call, args []string) error {
	slot, err := slotArg(args, "keys set")
	if err != nil {
		return err
	}
	key, err := readSecret(ctx, c, o.file, "the "+slot+" key")
	if err != nil {
		return err
	}
	n := len(key)
	if (n < config.LeastKey || n > config.MostKey) && strings.TrimSpace(o.anyway) == "" && keys.Secret(key).Usable() == nil { // what cannot be used is told as that
		return usageError{fmt.Sprintf("that is %s, and keys have %d to %d: look whether all of it was given and nothing else. It was not taken; if it is the key all the same, say why with --anyway \"TEXT\"",
			countText(n, "character"), config.LeastKey, config.MostKey)}
	}
	if err := ask(ctx, c, "keys.set", control.KeyArgs{Slot: slot, Key: key}, nil); err != nil {
		return err
	}
	if cfg, err := config.Load(c.config); err == nil {
		from := cfg.Service.PrimaryKey
		if slot == "secondary" {
			from = cfg.Service.SecondaryKey
		}
		if from.Given() {
			fmt.Fprintf(c.err, "put it into its place too (%s), or the next start tries the old one again\n", from)
		}
	}
	fingerprint := keys.Secret(key).Fingerprint()
	return c.show(control.KeyArgs{Slot: slot, Key: fingerprint}, func() error {
		return printf(c.out, "taken: the %s key with the fingerprint %s; the next request tries it\n", slot, fingerprint)
	})
}

// readSecret reads a secret of one line from a file, or from standard input, where nothing of it shows on a terminal.
func readSecret(ctx context.Context, c *call, file, what string) (string, error) {
	if file != "" {
		text, err := config.Secret{File: file}.Read()
		return text, asUsageError(err)
	}
	if terminal, ok := c.in.(*os.File); ok {
		restore, err := changeTerminal(int(terminal.Fd()), func(t *unix.Termios) { t.Lflag &^= unix.ECHO })
		if err == nil { // else it is none
			defer func() { _ = restore() }() // the terminal is gone where it fails
			fmt.Fprintf(c.err, "paste %s and press Enter; it does not show: ", what)
			defer fmt.Fprintln(c.err)
		}
	}
	line, err := firstLineOf(ctx, c.in)
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", what, err)
	case line == "":
		return "", usageError{what + " is read from standard input, and nothing came; or give --file FILE"}
	}
	return line, nil
}

// firstLineOf reads a line, or gives up when ctx ends: nothing else ends the wait for a person at a terminal.
func firstLineOf(ctx context.Context, in io.Reader) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() { // ends with the line, else with the program
		all := bufio.NewReader(io.LimitReader(in, 16<<10))
		line, err := all.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if more, _ := all.Peek(all.Buffered()); err == nil && len(bytes.TrimSpace(more)) > 0 { // what came with it: nobody waits for more
			err = errors.New("more than one line came; give only the secret")
		}
		done <- read{strings.TrimSpace(line), err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", errors.New("interrupted")
	}
}

func keysShowCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "show", "the subscription keys in plain words, never their values", runKeysShow), 0, "keys show takes no arguments")
}

func runKeysShow(ctx context.Context, c *call, _ []string) error {
	all, running, unread := []keys.Status{}, false, map[string]string{}
	err := withConnection(c, func(d *connection) error {
		running = d.remote != nil
		return errors.Join(d.request(ctx, "keys.show", control.None{}, &all), d.unreadKeys(ctx, c, unread))
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(c.out, all)
	case len(all) == 0 && len(unread) == 0:
		return printf(c.out, "there is no key; `gauger keys set primary` takes one, or put one where service.primary_key says\n")
	}
	at := findSite(c).zone()
	t := newTable(c.out)
	for _, line := range keySentences(all, unread, running, at) {
		t.printf("%s\n", line)
	}
	t.printf("\n")
	t.printf("KEY\tFINGERPRINT\tSTATE\tENDS\tLAST RENEWAL\tNEXT RENEWAL\tCAME FROM\n")
	for _, k := range all {
		if k.State == "refused" {
			k.Expires = time.Time{} // what was said of it does not hold
		}
		t.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Slot, k.Fingerprint, keyStateText(k, at), keyEndText(k.Expires, k.Assumed, at),
			keyRenewalText(k, at), keyNextText(k, at, !usable(all)), k.Source)
	}
	return t.Flush()
}

// keySentences say what a person at the site wants to know: does a key work, until when, who renews it, what is to be
// done.
func keySentences(all []keys.Status, unread map[string]string, running bool, at *time.Location) []string {
	var lines []string
	works, tried := 0, 0
	newer := control.NewerKeys(all)
	for _, slot := range slots {
		var values []keys.Status
		for _, k := range all {
			if k.Slot == slot {
				values = append(values, k)
			}
		}
		if why := unread[slot]; why != "" && len(values) == 0 {
			lines = append(lines, fmt.Sprintf("The %s key cannot be read%s: %s", slot, when(!running, " by this command"), why))
			continue
		}
		if len(values) == 0 {
			lines = append(lines, fmt.Sprintf("The %s key is missing. With one key alone a refused key stops the sending: `gauger keys set %s` takes it.", slot, slot))
			continue
		}
		best := values[0]
		for _, k := range values {
			if k.State == "proven" || best.State == "refused" {
				best = k
			}
		}
		if best.State == "proven" {
			works++
		}
		if best.State != "refused" {
			tried++
		}
		lines = append(lines, keySentence(slot, best, at, !usable(all)))
		switch k := newer[slot]; {
		case k.State == "refused":
			lines = append(lines, fmt.Sprintf("WARNING: that is the %s key of before. The newer one (%s) is refused since %s: give the right one with `gauger keys set %s`.", slot, k.Fingerprint, timeText(k.Refused, at), slot))
		case k.State != "":
			lines = append(lines, fmt.Sprintf("That is the %s key of before. The newer one (%s) is not tried yet: records that are sent try it.", slot, k.Fingerprint))
		}
		if values[0].Warning != "" {
			lines = append(lines, "WARNING: "+values[0].Warning+".")
		}
	}
	head := "A key works, and records are sent with it."
	switch {
	case len(all) == 0 && len(unread) > 0 && !running:
		head = "Whether a key can be read is not known: gauger reads them when it starts, as its own user and with what its unit gives it; `sudo gauger check` looks with its eyes."
	case len(all) == 0 && len(unread) > 0:
		head = "NO KEY CAN BE READ: nothing is sent, everything is kept."
	case tried == 0:
		head = "NO KEY WORKS: nothing is sent, everything is kept. Get a new key from whoever runs the service and give it with `gauger keys set primary`, unless `gauger status` shows that it answers otherwise since."
	case works == 0:
		head = "No key is known to work; those that were not used yet are tried with the next record."
	case works == 2 && len(newer) > 0:
		head = "Records are sent with keys of before; of a newer one nobody knows that it works."
	case works == 2 && all[0].Fingerprint == all[len(all)-1].Fingerprint:
		head = "One key works, and stands in both places: refused, it stops the sending. Give the other one with `gauger keys set secondary`."
	case works == 2:
		head = "Both keys work."
	}
	if !running {
		lines = append(lines, "gauger is not running, so that nothing renews the keys now.")
	}
	return append([]string{head}, lines...)
}

// usable says whether there is a value that the service does not refuse.
func usable(all []keys.Status) bool {
	return slices.ContainsFunc(all, func(k keys.Status) bool { return k.State != "refused" })
}

// unreadKeys says of each slot whose configured key cannot be read why: the running gauger's own word, else what this user meets.
func (d *connection) unreadKeys(ctx context.Context, c *call, why map[string]string) error {
	if d.remote == nil {
		cfg, err := config.Load(c.config)
		if err != nil {
			return asConfigError(err)
		}
		for slot, from := range map[string]config.Secret{"primary": cfg.Service.PrimaryKey, "secondary": cfg.Service.SecondaryKey} {
			if _, err := readConfigured(from); err != nil {
				why[slot] = err.Error()
			}
		}
		return nil
	}
	var s control.Status
	if err := d.request(ctx, "status", control.None{}, &s); err != nil {
		return err
	}
	for _, e := range s.Open {
		slot, ok := strings.CutSuffix(strings.TrimPrefix(e.Source, agent.ServiceSource), "_key")
		switch {
		case ok && e.Rule == eventrules.ServiceSettings:
			why[slot] = e.Note
		case e.Rule == eventrules.KeyUnusable:
			why[strings.TrimPrefix(e.Source, agent.KeySource+" ")] = e.Note
		}
	}
	return nil
}

func keySentence(slot string, k keys.Status, at *time.Location, none bool) string {
	text := fmt.Sprintf("The %s key ", slot)
	switch {
	case k.State == "refused" && none:
		text += "is refused since " + timeText(k.Refused, at) + ", and no other works with which gauger could ask for a new one"
	case k.State == "refused":
		text += "is refused since " + timeText(k.Refused, at) + ". gauger asks for a new one with the other key by itself"
	case k.State == "proven" && !k.Accepted.IsZero():
		text += "works, last used " + timeText(k.Accepted, at)
	case k.State == "proven":
		text += "works"
	default:
		text += "is not tried yet"
	}
	if k.State != "refused" && !k.Expires.IsZero() {
		text += either(k.Expires.Before(k.Accepted), ", though the service said that it ends ", "; it ends ") + keyEndText(k.Expires, k.Assumed, at)
	}
	switch {
	case !k.Doubt.IsZero():
		text += "; it was to be renewed at " + timeText(k.Doubt, at) + " and no answer has shown that it was, so that gauger asks again by itself"
	case k.State == "refused" && none: // the first sentence says what to do
	case k.State == "refused":
		text += fmt.Sprintf("; if that lasts for a day, give one with `gauger keys set %s`", slot)
	case k.Next.IsZero():
		text += "; it is renewed when the other one's renewal is answered"
	default:
		text += "; it is renewed by itself " + keyNextText(k, at, none) + ", nothing to do"
	}
	return text + "."
}

func keyStateText(k keys.Status, at *time.Location) string {
	switch {
	case k.State == "refused":
		return "refused by the service at " + timeText(k.Refused, at)
	case k.State == "proven" && !k.Accepted.IsZero():
		return "works (used " + timeText(k.Accepted, at) + ")"
	case k.State == "proven":
		return "works"
	}
	return "not tried yet"
}

func keyEndText(t time.Time, assumed bool, at *time.Location) string {
	switch {
	case t.IsZero():
		return "unknown"
	case assumed:
		return "about " + t.In(at).Format(time.DateOnly)
	}
	return timeText(t, at)
}

func keyRenewalText(k keys.Status, at *time.Location) string {
	if !k.Doubt.IsZero() {
		return "asked at " + timeText(k.Doubt, at) + ", no answer that it was renewed"
	}
	return timeText(k.Renewed, at)
}

// keyNextText says when the running gauger renews a key by itself.
func keyNextText(k keys.Status, at *time.Location, none bool) string {
	switch {
	case none:
		return "-"
	case k.Next.IsZero():
		return "after the other"
	case k.Next.Before(time.Now().Add(time.Minute)):
		return "now"
	}
	return timeText(k.Next, at)
}
