package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/dialogue"
	"gauger/agent/tank"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/survey"
)

// probeRequest is one register to look at, and what a person knows of it.
type probeRequest struct {
	URL     string        `json:"url"`
	Unit    int           `json:"unit"`
	Address int           `json:"address"`
	Input   bool          `json:"input,omitempty"`
	Low     float64       `json:"low,omitempty"`
	High    float64       `json:"high,omitempty"`
	Within  float64       `json:"within,omitempty"`
	Name    string        `json:"name,omitempty"`
	Measure string        `json:"measure,omitempty"`
	Timeout time.Duration `json:"timeout"`
	// Measures are the units in which the register may count where a gauge in inches is expected.
	Measures []survey.Measure `json:"measures,omitempty"`
}

// probeResult holds a register and its neighbours as they were read, and guesses at their meaning.
type probeResult struct {
	Registers []register `json:"registers"`
	Guesses   []guess    `json:"guesses"`
}

// register is one register as it was read.
type register struct {
	Address int    `json:"address"`
	Word    uint16 `json:"word"`
	Why     string `json:"why,omitempty"` // why there is no word
}

// guess is one way to read a register, the likeliest first.
type guess struct {
	Address int      `json:"address"`
	Offset  int      `json:"offset"`
	Words   []string `json:"words"`
	Type    string   `json:"type"`
	Order   string   `json:"order,omitempty"`
	Scale   float64  `json:"scale"`
	Value   *float64 `json:"value"` // null when it is no number
	Text    string   `json:"digits,omitempty"`
	Unit    string   `json:"unit,omitempty"`   // that of value, where a gauge was expected
	Inches  *float64 `json:"inches,omitempty"` // value in inches, then
	Fits    bool     `json:"fits"`
	Same    []string `json:"same,omitempty"`
	Why     string   `json:"why,omitempty"`
	YAML    string   `json:"yaml"`
	Doubt   string   `json:"doubt,omitempty"`
	HalfOf  string   `json:"half_of,omitempty"`
	Plain   bool     `json:"plain,omitempty"` // bytes not swapped, decimals
}

func probeOn(ctx context.Context, lines *line.Lines, a probeRequest) (p probeResult, err error) {
	if err := checkTimeout(a.Timeout); err != nil {
		return p, err
	}
	borrowed, giveBack, err := lines.Borrow(a.URL)
	if err != nil {
		return p, usageError{err.Error()}
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	q := survey.Question{
		Unit: a.Unit, Address: a.Address, Low: a.Low, High: a.High, Within: a.Within, Name: a.Name, Measure: a.Measure, Timeout: a.Timeout, Measures: a.Measures,
	}
	if a.Input {
		q.Table = line.Input
	}
	seen, err := survey.Probe(ctx, borrowed, q)
	switch {
	case line.RefusesAddress(err):
		err = fmt.Errorf("%w; manuals often count from 1, the wire from 0: try %d, or %s", err, a.onWire(), a.otherKind())
	case isException(err, 1):
		err = fmt.Errorf("%w; unit %d may have no registers of this kind: try %s", err, a.Unit, a.otherKind())
	case errors.Is(err, line.ErrSilent):
		err = fmt.Errorf("%w; %s", err, line.Advice(err, a.URL))
	}
	if errors.Is(err, line.ErrDown) {
		return p, withPortHint(err) // which names the line, whatever was asked for
	}
	if err != nil {
		return p, fmt.Errorf("probe unit %d, register %d at %s: %w", a.Unit, a.Address, a.URL, err)
	}
	for _, r := range seen.Registers {
		p.Registers = append(p.Registers, register{r.Address, r.Word, registerProblem(r.Err)})
	}
	for _, c := range seen.Candidates {
		g := guess{
			Address: c.Address, Offset: c.Offset, Type: c.Type, Order: c.Order, Scale: c.Scale, Text: c.Text, Fits: c.Fits, Same: c.Same, Why: c.Why, YAML: c.YAML, Doubt: c.Doubt, HalfOf: c.HalfOf, Plain: c.Plain(),
		}
		for _, w := range c.Words {
			g.Words = append(g.Words, fmt.Sprintf("%04X", w))
		}
		if !math.IsNaN(c.Value) && !math.IsInf(c.Value, 0) {
			g.Value = &c.Value
			if len(a.Measures) > 0 {
				g.Unit, g.Inches = c.Measure.Name, new(c.Expected())
			}
		}
		p.Guesses = append(p.Guesses, g)
	}
	return p, nil
}

type probeOptions struct {
	expect, between, kind string
	height                tank.Length
	most                  uint
	trace                 bool
	request               probeRequest
}

func probeCommand(c *call) *cobra.Command {
	o := &probeOptions{kind: "holding"}
	cmd := newCommand(c, "probe URL UNIT REGISTER", "one Modbus register in every type, order, scale and offset, ranked", o.run)
	f := cmd.Flags()
	f.StringVar(&o.expect, "expect", "", "the `VALUE` that the gauge shows: 184.2 as the register has it, or a length (15'4 1/4\", 15ft 4in, 184.25in), for which every unit is tried")
	f.Func("height", "`HEIGHT` of the tank, such as 20ft: with a length expected, percent of it is tried too", func(text string) (err error) {
		o.height, err = tank.ParseLength(text)
		return err
	})
	f.StringVar(&o.between, "range", "", "the `LOW,HIGH` between which it lies")
	f.StringVar(&o.request.Name, "name", "", "`NAME` of the point for the configuration")
	f.StringVar(&o.request.Measure, "unit", "", "its engineering `UNIT` for the configuration, such as in")
	f.UintVarP(&o.most, "n", "n", 12, "how `MANY` to print")
	word(cmd, &o.kind, "kind", "kind of register, default holding", "holding", "input")
	f.DurationVar(&o.request.Timeout, "timeout", time.Second, "how `LONG` to wait for an answer")
	f.BoolVar(&o.trace, "trace", false, "show the frames on the wire")
	return cmd
}

func (o *probeOptions) run(ctx context.Context, c *call, args []string) (err error) {
	o.request.Input = o.kind == "input"
	if err := errors.Join(checkTimeout(o.request.Timeout), o.request.readArgs(args), o.request.readExpected(o.expect, o.between, o.height), o.request.checkName()); err != nil {
		return err
	}
	if a := o.request; a.asInManual() {
		fmt.Fprintf(c.err, "%d is taken as on the wire, counted from 0; if it is a number out of a manual (3xxxx or 4xxxx), ask for %d\n", a.Address, a.onWire())
	}
	t, err := openModbus(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	p, err := probeTraced(ctx, c, t, o.request, o.trace)
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(c.out, p.Guesses)
	}
	return p.print(c.out, o.request, int(o.most))
}

func probeTraced(ctx context.Context, c *call, t *modbusAccess, a probeRequest, trace bool) (probeResult, error) {
	if trace {
		stop, err := t.trace(ctx, tracer{mu: &sync.Mutex{}, out: c.err, zone: time.Local}.printFrame)
		if err != nil {
			return probeResult{}, err
		}
		defer stop()
	}
	return t.probe(ctx, a)
}

// print prints the registers, and below them the likeliest readings.
func (p probeResult) print(out io.Writer, a probeRequest, most int) error {
	t := newTable(out)
	t.printf("ADDRESS\tHEX\tDECIMAL\tSIGNED\tCHARACTERS\n")
	for _, r := range p.Registers {
		t.printf("%d (%+d)\t%s\n", r.Address, r.Address-a.Address, r.text())
	}
	t.printf("\n")
	if i := slices.IndexFunc(p.Registers, func(r register) bool { return r.Address == a.Address && r.Why != "" }); i >= 0 {
		t.printf("Register %d is not there to be read (%s): below are readings of its neighbours.\n\n", a.Address, p.Registers[i].Why)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the registers: %w", err)
	}
	t.copied = true
	t.printf("VALUE\tTYPE\tORDER\tADDRESS\tFOR THE CONFIGURATION\n")
	shown := p.printRows(t, a, most)
	p.printHalves(t, shown)
	if err := t.Flush(); err != nil || !a.expects() || p.anyFits() {
		return err
	}
	return printf(out, "\n%s\n", p.noneFits(a, a.otherKind()))
}

// farOff says that a reading is off what is expected by more than the half of it, or is no number.
func (g guess) farOff(a probeRequest) bool {
	v := cmp.Or(g.Inches, g.Value)
	half := math.Max(math.Abs(a.Low), math.Abs(a.High)) / 2
	return v == nil || *v < a.Low-half || *v > a.High+half
}

// printRows prints the likeliest readings, each number once, and returns them. Where one fits, those that are far off are noise.
func (p probeResult) printRows(t *table, a probeRequest, most int) (shown []guess) {
	told, fits := map[string]bool{}, p.anyFits()
	for _, g := range p.Guesses {
		if len(shown) == most {
			break
		}
		if fits && g.farOff(a) || told[g.key(g.Type, g.Order)] {
			continue
		}
		shown = append(shown, g)
		for _, same := range g.Same {
			name, order, _ := strings.Cut(same, " ")
			told[g.key(name, order)] = true
		}
		t.printf("%s\t%s\t%s\t%d (%+d)\t%s%s\n", g.valueText(), g.Type, g.Order, g.Address, g.Offset, g.YAML, g.sameNumberText())
	}
	return shown
}

// printHalves says which readings may be, and which are, a half of another.
func (p probeResult) printHalves(t *table, shown []guess) {
	if i := slices.IndexFunc(shown, func(g guess) bool { return g.Doubt != "" }); i >= 0 {
		t.printf("\nWhat %s %s reads at %d may be half of another value: %s.\n", shown[i].Type, shown[i].Order, shown[i].Address, shown[i].Doubt)
	}
	if i := slices.IndexFunc(p.Guesses, func(g guess) bool { return g.HalfOf != "" }); i >= 0 {
		t.printf("\nWhat takes a half of %s for a whole value stands last.\n", p.Guesses[i].HalfOf)
	}
}

// key names one reading among those of one scale.
func (g guess) key(kind, order string) string { return fmt.Sprint(g.Address, kind, order, g.Scale) }

// sameNumberText names the other types that read the same number.
func (g guess) sameNumberText() string {
	const most = 4
	switch {
	case len(g.Same) == 0:
		return ""
	case len(g.Same) > most:
		return fmt.Sprintf("  # the same number: %s and %d more", strings.Join(g.Same[:most], ", "), len(g.Same)-most)
	}
	return "  # the same number: " + strings.Join(g.Same, ", ")
}

func (r register) text() columns {
	if r.Why != "" {
		return columns{"-", "-", "-", r.Why}
	}
	characters := strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '.'
		}
		return c
	}, string([]rune{rune(r.Word >> 8), rune(r.Word & 0xFF)}))
	return columns{fmt.Sprintf("%04X", r.Word), strconv.Itoa(int(r.Word)), strconv.Itoa(int(int16(r.Word))), characters}
}

func (g guess) valueText() string {
	switch {
	case g.Why != "":
		return "no value: " + g.Why
	case g.Text != "":
		return g.Text
	case g.Value == nil:
		return "no number"
	}
	text := strconv.FormatFloat(*g.Value, 'g', 8, 64)
	if !strings.HasPrefix(g.Type, "float") || *g.Value == math.Trunc(*g.Value) && math.Abs(*g.Value) < 1e15 {
		text = strconv.FormatFloat(*g.Value, 'f', -1, 64)
	}
	return text + behind(" ", g.Unit) + when(g.Fits, " fits")
}

func (p probeResult) anyFits() bool {
	return slices.ContainsFunc(p.Guesses, func(g guess) bool { return g.Fits })
}

func (a probeRequest) expects() bool { return a.Low != 0 || a.High != 0 || a.Within != 0 }

// mostOffset (inches) by which a transmitter may be off and still be the right one.
const mostOffset = 12

// noneFits says that nothing that was read is what was expected, and what comes nearest.
func (p probeResult) noneFits(a probeRequest, other string) string {
	expected := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	if len(a.Measures) > 0 {
		expected = func(v float64) string { return fmt.Sprintf("%s (%.2f in)", tank.Length(v).Gauge(), v) }
	}
	text := strings.TrimSuffix("No line fits "+expected(a.Low)+" to "+expected(a.High), " to "+expected(a.Low))
	if len(a.Measures) > 0 && a.Measure == "" && other == a.otherKind() && !slices.ContainsFunc(a.Measures, func(m survey.Measure) bool { return m.Name == "percent" }) {
		text += ".\nA register that counts in percent fits only with the tank's height: give --height 20ft"
	}
	// Of what is not plain an offset would be one wonder more.
	i := slices.IndexFunc(p.Guesses, func(g guess) bool {
		return g.Inches != nil && g.Plain && g.Offset == 0 && math.Abs(*g.Inches-a.Low) <= mostOffset
	})
	if i >= 0 {
		g := p.Guesses[i]
		text += fmt.Sprintf(".\nThe likeliest, %s, is at %s. If that is the register, the transmitter is off by %+.2f in: take its line, and `gauger commission` gives the tank offset: %gin.",
			strings.TrimSpace(g.Type+" "+g.Order), expected(*g.Inches), *g.Inches-a.Low, math.Round(100*(a.Low-*g.Inches))/100)
	}
	return dialogue.Fold(text + "\nElse try " + other + ", another register or unit, or gauge again: the level may have moved.")
}

// readArgs reads URL UNIT REGISTER.
func (a *probeRequest) readArgs(rest []string) error {
	if len(rest) != 3 {
		return usageError{"probe wants URL UNIT REGISTER, such as: probe tcp://10.20.0.5:502 1 100 --expect 184.2"}
	}
	unit, err1 := strconv.Atoi(rest[1])
	address, err2 := strconv.Atoi(rest[2])
	if err1 != nil || err2 != nil {
		return usageError{fmt.Sprintf("unit and register are whole numbers, not %q and %q; the register counts from 0 as on the wire", rest[1], rest[2])}
	}
	a.URL, a.Unit, a.Address = rest[0], unit, address
	return nil
}

// checkName checks what goes into the configuration's line as it is.
func (a *probeRequest) checkName() error {
	if strings.ContainsAny(a.Name, "/ ,{}[]:#\"'") {
		return usageError{fmt.Sprintf("--name %q: letters, digits, - and _", a.Name)}
	}
	return nil
}

// handGaugeError (inches) is the most by which a gauge read by hand differs from the transmitter.
const handGaugeError = 0.5

func (a *probeRequest) readExpected(value, between string, height tank.Length) error {
	low, high, isRange := strings.Cut(between, ",")
	switch {
	case value == "" && between == "":
		return nil
	case value != "" && between != "":
		return usageError{"--expect and --range say the same; give one of them"}
	case between != "" && !isRange:
		return usageError{fmt.Sprintf("--range is LOW,HIGH such as 0,240, not %q", between)}
	case value != "":
		v, isLength, err := gaugeOrNumber(value)
		a.Low, a.High, a.Within = v, v, handGaugeError
		if isLength {
			a.Measures = levelMeasures(a.Measure, height)
		}
		return err
	}
	lowest, err1 := parseNumber(low)
	highest, err2 := parseNumber(high)
	if err := errors.Join(err1, err2); err != nil {
		return usageError{"--range: " + err.Error()}
	}
	if lowest >= highest {
		return usageError{fmt.Sprintf("--range %s: the lower number comes first", between)}
	}
	a.Low, a.High = lowest, highest
	return nil
}

// levelMeasures are the units in which a level may be counted: the one that is named, else every one; in percent where the tank's
// height is known.
func levelMeasures(unit string, height tank.Length) (all []survey.Measure) {
	for _, u := range []string{"in", "ft", "mm", "cm", "m", "percent"} {
		size, err := tank.LevelInches(1, u, height)
		if err == nil && size > 0 && (unit == "" || unit == u) {
			all = append(all, survey.Measure{Name: u, Size: size})
		}
	}
	return all
}
