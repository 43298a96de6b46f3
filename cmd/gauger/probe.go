package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"gauger/agent"
	"gauger/agent/console"
	"gauger/collectors/modbus"
)

// asked is one register to look at, or the unit ids to try, on a line.
type asked struct {
	URL     string        `json:"url"`
	Unit    int           `json:"unit,omitempty"`
	Address int           `json:"address,omitempty"`
	Input   bool          `json:"input,omitempty"`
	Low     float64       `json:"low,omitempty"`
	High    float64       `json:"high,omitempty"`
	Units   []int         `json:"units,omitempty"`
	Timeout time.Duration `json:"timeout"`
}

// guess is one way to read a register, the likeliest first.
type guess struct {
	Address int      `json:"address"`
	Offset  int      `json:"offset"`
	Type    string   `json:"type"`
	Order   string   `json:"order,omitempty"`
	Value   *float64 `json:"value"` // null when it is no number
	Text    string   `json:"digits,omitempty"`
	Fits    bool     `json:"fits"`
	Why     string   `json:"why,omitempty"`
	YAML    string   `json:"yaml"`
}

// offerLines lets commands use the lines that the daemon has open: a serial port has one owner.
func offerLines(d *agent.Desk, lines *modbus.Lines) {
	d.Offer("modbus.probe", agent.On(func(ctx context.Context, a asked) ([]guess, error) { return probeOn(ctx, lines, a) }))
	d.Offer("modbus.scan", agent.On(func(ctx context.Context, a asked) ([]modbus.Found, error) { return scanOn(ctx, lines, a, nil) }))
}

func probeOn(ctx context.Context, lines *modbus.Lines, a asked) ([]guess, error) {
	line, err := lines.Open(a.URL)
	if err != nil {
		return nil, usage{err.Error()}
	}
	table := modbus.Holding
	if a.Input {
		table = modbus.Input
	}
	found, err := modbus.Probe(ctx, line, modbus.Question{Unit: a.Unit, Table: table, Address: a.Address, Low: a.Low, High: a.High, Timeout: a.Timeout})
	if err != nil {
		return nil, fmt.Errorf("probe unit %d, register %d at %s: %w", a.Unit, a.Address, a.URL, err)
	}
	all := []guess{}
	for _, c := range found {
		g := guess{Address: c.Address, Offset: c.Offset, Type: c.Type, Order: c.Order, Text: c.Text, Fits: c.Fits, Why: c.Why, YAML: c.YAML}
		if !math.IsNaN(c.Value) && !math.IsInf(c.Value, 0) {
			g.Value = &c.Value
		}
		all = append(all, g)
	}
	return all, nil
}

// probe shows one register in every type, order and offset, ranked.
func (m *Main) probe(ctx context.Context, args []string) error {
	f, c := m.flags("probe")
	a := asked{}
	expect := f.String("expect", "", "the `VALUE` that the gauge shows")
	between := f.String("range", "", "the `LOW,HIGH` between which it lies")
	most := f.Uint("n", 12, "how `MANY` to print")
	kind := "holding"
	word(f, &kind, "kind", "kind of register, default holding", "holding", "input")
	f.DurationVar(&a.Timeout, "timeout", time.Second, "how `LONG` to wait for an answer")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	a.Input = kind == "input"
	if err := errors.Join(a.where(rest), a.expects(*expect, *between)); err != nil {
		return err
	}
	if a.Address >= 30001 && a.Address <= 49999 {
		fmt.Fprintf(m.Err, "%d is taken as on the wire, counted from 0; if it is a number out of a manual (3xxxx or 4xxxx), ask for %d\n", a.Address, a.Address%10000-1)
	}
	var all []guess
	err = m.onLine(ctx, c, "modbus.probe", a, &all, func(ctx context.Context, lines *modbus.Lines) (err error) {
		all, err = probeOn(ctx, lines, a)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(m.Out, all)
	}
	t := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "VALUE\tTYPE\tORDER\tADDRESS\tFOR THE CONFIGURATION")
	for _, g := range all[:min(int(*most), len(all))] {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d (%+d)\t%s\n", g.shown(), g.Type, g.Order, g.Address, g.Offset, g.YAML)
	}
	return t.Flush()
}

func (g guess) shown() string {
	switch {
	case g.Why != "":
		return "no value: " + g.Why
	case g.Text != "":
		return g.Text
	case g.Value == nil:
		return "no number"
	case g.Fits:
		return strconv.FormatFloat(*g.Value, 'g', 8, 64) + " fits"
	}
	return strconv.FormatFloat(*g.Value, 'g', 8, 64)
}

// where reads URL UNIT REGISTER.
func (a *asked) where(rest []string) error {
	if len(rest) != 3 {
		return usage{"probe wants URL UNIT REGISTER, such as: probe tcp://10.20.0.5:502 1 100 --expect 184.2"}
	}
	unit, err1 := strconv.Atoi(rest[1])
	register, err2 := strconv.Atoi(rest[2])
	if err1 != nil || err2 != nil {
		return usage{fmt.Sprintf("unit and register are whole numbers, not %q and %q; the register counts from 0 as on the wire", rest[1], rest[2])}
	}
	a.URL, a.Unit, a.Address = rest[0], unit, register
	return nil
}

// expects reads what the value should be. A gauge is read to the nearest half unit.
func (a *asked) expects(value, between string) error {
	low, high, isRange := strings.Cut(between, ",")
	switch {
	case value == "" && between == "":
		return nil
	case value != "" && between != "":
		return usage{"--expect and --range say the same; give one of them"}
	case between != "" && !isRange:
		return usage{fmt.Sprintf("--range is LOW,HIGH such as 0,240, not %q", between)}
	case value != "":
		v, err := number(value)
		if err != nil {
			return usage{"--expect: " + err.Error()}
		}
		a.Low, a.High = v-0.5, v+0.5
		return nil
	}
	lowest, err1 := number(low)
	highest, err2 := number(high)
	if err := errors.Join(err1, err2); err != nil {
		return usage{"--range: " + err.Error()}
	}
	a.Low, a.High = lowest, highest
	return nil
}

// onLine does something with a line: through the daemon when one runs, else on lines of its own.
func (m *Main) onLine(ctx context.Context, c *common, verb string, args, result any, own func(context.Context, *modbus.Lines) error) error {
	daemon, err := console.Dial(c.socket)
	if err == nil {
		return daemon.Call(ctx, verb, args, result)
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return err
	}
	lines := &modbus.Lines{}
	return errors.Join(own(ctx, lines), lines.Close())
}

func scanOn(ctx context.Context, lines *modbus.Lines, a asked, progress func(modbus.Found)) ([]modbus.Found, error) {
	line, err := lines.Open(a.URL)
	if err != nil {
		return nil, usage{err.Error()}
	}
	found, err := modbus.Scan(ctx, line, a.Units, a.Timeout, progress)
	if err != nil {
		return found, fmt.Errorf("scan %s: %w", a.URL, err)
	}
	return found, nil
}

// scan asks which unit ids answer on a line.
func (m *Main) scan(ctx context.Context, args []string) error {
	f, c := m.flags("scan")
	units := f.String("units", "1-247", "unit `IDS` to try, such as 1-20,40")
	timeout := f.Duration("timeout", 300*time.Millisecond, "how `LONG` to wait for each unit")
	all := f.Bool("all", false, "print the units that do not answer too")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage{"scan wants one URL, such as rtu:///dev/ttyUSB0?baud=9600"}
	}
	ids, err := unitsOf(*units)
	if err != nil {
		return err
	}
	a := asked{URL: rest[0], Units: ids, Timeout: *timeout}
	fmt.Fprintf(m.Err, "asking %s on %s; at most %s\n", count(len(ids), "unit"), a.URL, (time.Duration(len(ids)) * a.Timeout).Round(time.Second))
	var found []modbus.Found
	err = m.onLine(ctx, c, "modbus.scan", a, &found, func(ctx context.Context, lines *modbus.Lines) (err error) {
		found, err = scanOn(ctx, lines, a, func(f modbus.Found) {
			if f.Answers {
				fmt.Fprintf(m.Err, "unit %d answers\n", f.Unit)
			}
		})
		return err
	})
	if err != nil {
		return err
	}
	return m.showScan(c, found, *all)
}

// answering is what one unit did, with the names that a program reads.
type answering struct {
	Unit    int    `json:"unit"`
	Answers bool   `json:"answers"`
	How     string `json:"how"`
}

func (m *Main) showScan(c *common, found []modbus.Found, all bool) error {
	if c.json() {
		out := []answering{}
		for _, f := range found {
			if f.Answers || all {
				out = append(out, answering(f))
			}
		}
		return printJSON(m.Out, out)
	}
	answers := 0
	for _, f := range found {
		if f.Answers {
			answers++
		}
		if f.Answers || all {
			fmt.Fprintf(m.Out, "unit %3d  %s\n", f.Unit, f.How)
		}
	}
	_, err := fmt.Fprintf(m.Out, "%d of %s answered. A unit that is off, has other baud or parity settings, or is slower than --timeout cannot be seen.\n",
		answers, count(len(found), "unit"))
	return err
}

// unitsOf reads 1-20,40.
func unitsOf(text string) ([]int, error) {
	var ids []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || from < 0 || to > 255 || from > to {
			return nil, usage{fmt.Sprintf("%q are no unit ids; write 1-247, or 1,2,5-9", text)}
		}
		for id := from; id <= to; id++ {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
