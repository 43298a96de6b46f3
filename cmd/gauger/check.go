package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gauger/agent/console"
	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/config"
	"gauger/outbox/disk"
)

type checkOptions struct {
	print, example, schema, templates, plan, slow, onBox bool
	template, mapOf                                      string
}

func checkCommand(c *call) *cobra.Command {
	o := &checkOptions{}
	cmd := newCommand(c, "check [--print] [--example] [--templates]", "look the configuration over, without a network", o.run)
	cmd.ValidArgsFunction = fileNames
	f := cmd.Flags()
	f.BoolVar(&o.print, "print", false, "print the effective configuration, secrets by their source only")
	f.BoolVar(&o.example, "example", false, "print the example configuration, which is the documentation")
	f.BoolVar(&o.schema, "schema", false, "print the JSON Schema for an editor")
	f.BoolVar(&o.templates, "templates", false, "list the register maps that devices may name with template:")
	f.StringVar(&o.template, "template", "", "print the register map `NAME`")
	f.StringVar(&o.mapOf, "template-of", "", "print a register map made of the Modbus device `NAME`, for other sites")
	f.BoolVar(&o.plan, "plan", true, "print every Modbus request of a round, and what it takes; --plan=false does not")
	f.BoolVar(&o.onBox, "on-box", false, "this is the box that the file is for: refuse secrets that the agent cannot read, or others can; so it is for root with a file in /etc/gauger")
	f.BoolVar(&o.slow, "allow-slow", false, "only warn of a line that cannot keep up with its intervals")
	return cmd
}

// run looks the configuration over. It needs no network and no credentials.
func (o *checkOptions) run(_ context.Context, c *call, args []string) error {
	switch {
	case len(args) > 1:
		return usageError{fmt.Sprintf("check takes one file, not %q", args)}
	case len(args) == 1:
		c.config = args[0]
	}
	switch {
	case o.example:
		return printf(verbatim(c.out), "%s", config.Example)
	case o.schema:
		return printf(verbatim(c.out), "%s", config.Schema())
	case o.templates:
		return printTemplates(c)
	case o.template != "":
		return printTemplate(c, o.template)
	case o.mapOf != "":
		return printTemplateOf(c, o.mapOf)
	}
	cfg, doubts, err := o.look(c.config).Examine(c.config)
	var late error
	if err == nil {
		late = strictProblems(cfg, o.slow)
		doubts = cfg.Warnings
	}
	if c.json() && !o.print {
		return checkJSON(c, cfg, doubts, errors.Join(err, late))
	}
	for _, w := range doubts {
		complain(c, "warning: "+w.String())
	}
	if err != nil {
		return asConfigError(err)
	}
	warned := len(doubts)
	if u, err := url.Parse(cfg.Service.URL); err == nil && strings.HasSuffix("."+u.Hostname(), ".example.com") {
		warned++
		complain(c, fmt.Sprintf("warning: service.url is the example's, %s: write your service's, and look whether id, object and the devices' addresses are the example's too", u.Hostname()))
	}
	if o.print {
		return errors.Join(late, cfg.Print(verbatim(c.out)))
	}
	if late == nil {
		good := "good" + when(warned > 0, ", but for "+countText(warned, "warning"))
		fmt.Fprintf(c.out, "%s: %s: %s, %s, %s\n", c.config, good, countText(len(cfg.Devices), "device"), countText(cfg.CountPoints(), "point"), countText(len(cfg.Tanks), "tank"))
	} else {
		fmt.Fprintln(c.err, late)
		late = strictAdvice(cfg)
	}
	outbox, receipts, recorder := cfg.Store.MaxBytes, cfg.Store.Receipts.MaxBytes, cfg.Recorder.MaxBytes
	t := newTable(c.out)
	printTanks(t, cfg)
	t.printf("disk: at most %s in %s: %s for the outbox, %s for its receipts, %s for the recorder\n",
		outbox+receipts+recorder, cfg.Store.Path, outbox, receipts, recorder)
	if text := noRoom(cfg.Store.Path, outbox+receipts+recorder, roomFor(cfg.Store.Path)); text != "" {
		t.printf("%s\n", text)
	}
	return errors.Join(t.Flush(), printBudgets(c.out, cfg.Budgets, o.plan), late)
}

// roomFor is what a store may have on the disk where it is or will be: what is free there, and what it has already; -1: nobody knows.
func roomFor(store string) config.Size {
	has := int64(0)
	_ = filepath.WalkDir(store, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				has += info.Size()
			}
		}
		return nil // what cannot be read counts as nothing
	})
	for folder := store; ; folder = filepath.Dir(folder) {
		if free, err := disk.Free(folder); err == nil {
			return config.Size(free + has)
		} else if folder == filepath.Dir(folder) {
			return -1
		}
	}
}

// noRoom warns of a disk that is smaller than what a store may grow to; empty: it is large enough, or nobody knows.
func noRoom(store string, most, room config.Size) string {
	if room < 0 || room >= most {
		return ""
	}
	return fmt.Sprintf("! the disk of %s has room for %.1f MiB of that only: once it is full nothing new can be stored; give store.path a larger one, or lower store.max_bytes, store.receipts and recorder.max_bytes",
		store, float64(room)/(1<<20))
}

// printTanks says what each tank holds when it is full, where a wrong size shows, and which barrels its tickets will have; tanks that are
// alike are said together. And it says where nobody will have time to change a ticket.
func printTanks(t *table, cfg *config.Config) {
	var says []string
	alike, trucks := map[string][]string{}, false
	for _, k := range cfg.Tanks {
		text := ""
		trucks = trucks || k.Ticketed()
		if bbl, err := k.Table.Barrels(float64(k.Height)); err == nil {
			inch, foot := bbl/float64(k.Height), tank.Cylinder(12, 12).PerInch(0) // of an upright tank a foot wide
			text = fmt.Sprintf("%.1f bbl at %s, %.2f an inch, as upright and %.1f ft wide; ", bbl, strings.TrimSuffix(spokenLevel(float64(k.Height)), " 0 in"), inch, math.Sqrt(inch/foot))
		}
		gross, net := k.Lacks()
		switch {
		case k.Water():
			text += "water, of which no ticket is made"
		case k.Lact():
			text += "a meter makes its tickets"
		case gross != nil:
			text += "no gross and net: needs " + strings.Join(net, ", ")
		case net != nil:
			text += "gross, no net: needs " + strings.Join(net, ", ")
		default:
			text += "gross and net"
		}
		if alike[text] == nil {
			says = append(says, text)
		}
		alike[text] = append(alike[text], k.ID)
	}
	for _, text := range says {
		t.printf("%s: %s\n", strings.Join(alike[text], ", "), text)
	}
	if cfg.LeaveAtOnce() {
		whose := either(cfg.Tickets.Review == "hold", "each that needs no review", "each, also one that needs review (tickets.review: send),")
		t.printf("tickets: %s leaves as soon as it is decided, %s after its load; to have time to edit or reject one, write tickets: {hold: 4h}\n", whose, spokenDuration(cfg.Tickets.Hold))
	} else if cfg.Tickets.Review != "hold" && trucks {
		t.printf("tickets: one that needs review leaves too when its hold is over (tickets.review: send); review: hold keeps it for a person\n")
	}
}

// look is how the secrets' files are looked at: by root with the agent's eyes, which tells whether it will be able to read them.
func (o *checkOptions) look(path string) config.Look {
	l := config.Look{OnBox: o.onBox, Units: []string{"/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"}}
	agent, err := agentOf(path)
	if os.Geteuid() != 0 || err != nil {
		return l // nobody else can look with other eyes, and who has no such user is on no box
	}
	if full, err := filepath.Abs(path); err == nil && filepath.Dir(full) == "/etc/gauger" {
		l.OnBox = true
	}
	l.Daemon = agent.name
	l.Open = func(file string) error {
		back, err := actAs(agent.uid, agent.gid, agent.groups)
		if err != nil {
			return errors.Join(err, back())
		}
		f, err := os.Open(file)
		if err == nil {
			err = f.Close()
		}
		if denied, ok := errors.AsType[*os.PathError](err); ok {
			err = denied.Err // the name is known
		}
		return errors.Join(err, back())
	}
	return l
}

// agentUser is the user that an agent runs as.
type agentUser struct {
	name     string
	uid, gid int
	groups   []int
}

// agentOf is the user of the agent of a configuration: who owns its store, or whom the unit names.
func agentOf(path string) (agentUser, error) {
	var store unix.Stat_t
	if unix.Stat(config.StorePath(path), &store) != nil || store.Uid == 0 {
		u, err := user.Lookup("gauger")
		if err != nil {
			return agentUser{}, err
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return agentUser{}, err
		}
		store.Uid, store.Gid = uint32(uid), uint32(gid)
	}
	a := agentUser{name: console.UserName(int(store.Uid)), uid: int(store.Uid), gid: int(store.Gid), groups: []int{int(store.Gid)}}
	u, err := user.LookupId(strconv.Itoa(a.uid))
	if err != nil {
		return a, nil // a store can belong to a user whom this box does not know
	}
	ids, err := u.GroupIds()
	for _, id := range ids {
		n, bad := strconv.Atoi(id)
		a.groups, err = append(a.groups, n), errors.Join(err, bad)
	}
	return a, err
}

// strictProblems are those with which `run` starts, and which a person who sets up a site must not let pass: values with which earlier versions
// started, and lines that cannot keep up with the intervals asked of them. nil when there is nothing, or when slow lines
// are allowed: then they are warnings.
func strictProblems(cfg *config.Config, slow bool) error {
	if slow {
		cfg.Warnings, cfg.Slow = append(cfg.Warnings, cfg.Slow...), nil
	}
	if all := slices.Concat(cfg.Strict, cfg.Slow); len(all) > 0 {
		return config.Problems(all)
	}
	return nil
}

func strictAdvice(cfg *config.Config) error {
	if len(cfg.Strict) > 0 {
		return configError{errors.New("mend these: gauger run starts all the same, so that no site goes dark with an upgrade, and says so in its log, in an event and in status")}
	}
	return configError{errors.New("a line that cannot keep up polls late: mend it, or let it pass with --allow-slow")}
}

// printTemplates lists the register maps, each with the first line of its file.
func printTemplates(c *call) error {
	for _, name := range modbus.Templates() {
		text, _ := modbus.Template(name)
		if err := printf(c.out, "%-24s %s\n", name, strings.TrimPrefix(firstLine(string(text)), "# ")); err != nil {
			return err
		}
	}
	return nil
}

func printTemplate(c *call, name string) error {
	text, known := modbus.Template(name)
	if !known {
		return usageError{fmt.Sprintf("there is no template %q%s; the templates are %s", name, didYouMean(name, modbus.Templates()), strings.Join(modbus.Templates(), ", "))}
	}
	return printf(c.out, "%s", text)
}

// printTemplateOf prints a register map with the keys and points of a device. What only one site knows is left out.
func printTemplateOf(c *call, name string) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	var names []string
	for _, d := range optionsOf[modbus.Device](cfg.Devices) {
		if d.Name == name {
			text, err := config.TemplateOf(d)
			if err == nil {
				_, err = verbatim(c.out).Write(text)
			}
			return err
		}
		names = append(names, d.Name)
	}
	return usageError{fmt.Sprintf("%q is no Modbus device of %s (those are: %s)", name, c.config, strings.Join(names, ", "))}
}

// checkResult is printed by check --format json.
type checkResult struct {
	File     string           `json:"file"`
	Good     bool             `json:"good"`
	Problems []config.Problem `json:"problems"`
	Warnings []config.Problem `json:"warnings"`
	Devices  int              `json:"devices"`
	Points   int              `json:"points"`
	Tanks    int              `json:"tanks"`
	Lines    []lineBudget     `json:"lines"`
	Disk     struct {         // the most that each may take, in bytes
		Outbox   int64 `json:"outbox"`
		Recorder int64 `json:"recorder"`
	} `json:"disk"`
}

// checkJSON prints the verdict; the exit status is the same as that of the text.
func checkJSON(c *call, cfg *config.Config, doubts []config.Problem, err error) error {
	v := checkResult{File: c.config, Good: err == nil, Problems: []config.Problem{}, Warnings: append([]config.Problem{}, doubts...), Lines: []lineBudget{}}
	if cfg != nil {
		v.Devices, v.Points, v.Tanks = len(cfg.Devices), cfg.CountPoints(), len(cfg.Tanks)
		v.Lines = newLineBudgets(cfg.Budgets)
		v.Disk.Outbox, v.Disk.Recorder = int64(cfg.Store.MaxBytes), int64(cfg.Recorder.MaxBytes)
	}
	if problems, ok := errors.AsType[config.Problems](err); ok {
		v.Problems = problems
	}
	return cmp.Or(printJSON(c.out, v), asConfigError(err))
}
