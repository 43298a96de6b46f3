package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/survey"
)

// scanRequest is a search for unit ids on a line, at one or several settings of its port.
type scanRequest struct {
	URL     string        `json:"url"`
	Bauds   []string      `json:"bauds,omitempty"`
	Parity  []string      `json:"parity,omitempty"`
	Units   []int         `json:"units"`
	Table   line.Table    `json:"table"`
	Timeout time.Duration `json:"timeout"`
}

// unitFound is a unit's answer or silence, as JSON.
type unitFound struct {
	URL     string `json:"url"`
	Unit    int    `json:"unit"`
	Answers bool   `json:"answers"`
	Damaged bool   `json:"damaged,omitempty"`
	How     string `json:"how"`
}

func (a scanRequest) search() survey.Search {
	return survey.Search{Units: a.Units, Table: a.Table, Timeout: a.Timeout}
}

// scanOn searches at one setting after the other, each on a line that is given back after it.
func scanOn(ctx context.Context, lines *line.Lines, a scanRequest, see func(unitFound) error) error {
	if err := checkTimeout(a.Timeout); err != nil {
		return err
	}
	if a.Table > line.Discrete {
		return usageError{fmt.Sprintf("table %d: 0 holding, 1 input, 2 coil, 3 discrete", a.Table)}
	}
	urls, err := survey.Settings(a.URL, a.Bauds, a.Parity)
	if err != nil {
		return usageError{err.Error()}
	}
	for _, url := range urls { // before anything is asked
		_, giveBack, err := lines.Borrow(url)
		if err != nil {
			return lineTaken{err}
		}
		if err := giveBack(); err != nil {
			return err
		}
	}
	for _, url := range urls {
		if err := scanAt(ctx, lines, a, url, see); err != nil {
			return err
		}
	}
	return nil
}

func scanAt(parent context.Context, lines *line.Lines, a scanRequest, url string, see func(unitFound) error) (err error) {
	on, giveBack, err := lines.Borrow(url)
	if err != nil {
		return lineTaken{err}
	}
	defer func() { err = errors.Join(err, giveBack()) }()
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	_, err = survey.Scan(ctx, on, a.search(), func(f survey.Found) {
		if err := see(unitFound{URL: url, Unit: f.Unit, Answers: f.Answers, Damaged: f.Damaged, How: f.How}); err != nil {
			cancel(err)
		}
	})
	if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
		return cause
	}
	if err == nil || errors.Is(err, line.ErrDown) { // which names the line itself
		return withPortHint(err)
	}
	return fmt.Errorf("scan %s: %w", url, err)
}

type scanOptions struct {
	units, table string
	all, trace   bool
	request      scanRequest
}

func scanCommand(c *call) *cobra.Command {
	o := &scanOptions{table: "holding"}
	cmd := newCommand(c, "scan URL [--baud 9600,19200]", "which Modbus unit ids answer on a line", o.run)
	takes(cmd, 1, "scan wants one URL, such as rtu:///dev/ttyUSB0?baud=9600")
	f := cmd.Flags()
	f.StringVar(&o.units, "units", "1-247", "unit `IDS` to try, such as 1-20,40")
	list(f, &o.request.Bauds, "baud", "baud `RATES` to try one after the other, such as 9600,19200,115200, instead of the URL's; for a serial port")
	list(f, &o.request.Parity, "parity", "`PARITIES` to try: N,E,O")
	word(cmd, &o.table, "type", "what to ask for, default holding", "holding", "input", "coil", "discrete")
	f.DurationVar(&o.request.Timeout, "timeout", 300*time.Millisecond, "how `LONG` to wait for each unit")
	f.BoolVar(&o.all, "all", false, "print the units that do not answer too")
	f.BoolVar(&o.trace, "trace", false, "show the frames on the wire")
	return cmd
}

func (o *scanOptions) run(ctx context.Context, c *call, args []string) error {
	o.request.URL = args[0]
	var err error
	if o.request.Units, err = parseUnits(o.units); err != nil {
		return err
	}
	if o.request.Table, err = line.ParseTable(o.table); err != nil {
		return usageError{err.Error()}
	}
	if err := checkTimeout(o.request.Timeout); err != nil {
		return err
	}
	urls, err := survey.Settings(o.request.URL, o.request.Bauds, o.request.Parity)
	if err != nil {
		return usageError{err.Error()}
	}
	p := newProgress(c, o.request, urls)
	err = traceScan(ctx, c, o.request, o.trace, p)
	return errors.Join(printScan(c, p, o.all), err)
}

func traceScan(ctx context.Context, c *call, a scanRequest, trace bool, p *progress) (err error) {
	t, err := openModbus(c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if trace {
		p.terminal = nil // one line that is written again and again would break into the frames
		stop, err := t.trace(ctx, tracer{mu: &p.mu, out: c.err, zone: time.Local}.printFrame)
		if err != nil {
			return err
		}
		defer stop()
	}
	p.begin()
	err = t.scan(ctx, a, p.unitDone)
	p.clear()
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %d of %d requests", len(p.found), p.all)
	}
	return err
}

func printScan(c *call, p *progress, all bool) error {
	shown := slices.DeleteFunc(slices.Clone(p.found), func(f unitFound) bool { return !all && !f.Answers && !f.Damaged })
	if c.json() {
		return printJSON(c.out, append([]unitFound{}, shown...))
	}
	if len(p.found) == 0 {
		return nil // the error says why nobody was asked
	}
	answers := 0
	for _, f := range p.found {
		if f.Answers {
			answers++
		}
	}
	damaged := slices.ContainsFunc(p.found, func(f unitFound) bool { return f.Damaged })
	for _, f := range shown {
		fmt.Fprintf(c.out, "unit %3d%s  %s\n", f.Unit, p.settingText(f), f.How)
	}
	sum := either(len(p.urls) > 1, fmt.Sprintf("%s to %s at %d settings.", countText(answers, "answer"), countText(len(p.found), "request"), len(p.urls)),
		fmt.Sprintf("%d of %s answered.", answers, countText(len(p.found), "unit")))
	return printf(c.out, "%s\n%s\n", sum, strings.Join(p.blindSpots(damaged), "\n"))
}

const sameID = "Two units with one id answer at the same time, which looks damaged."

// blindSpots says honestly what a search like this cannot see.
func (p *progress) blindSpots(damaged bool) []string {
	other := either(p.asks.Table == line.Input, "holding", "input")
	words := []string{fmt.Sprintf("It cannot see a unit that is off, one that is slower than %s (--timeout %s), and one that says nothing when asked for %s 0 (--type %s).",
		p.asks.Timeout, max(time.Second, 3*p.asks.Timeout), p.asks.Table, other)}
	repair := "What answered damaged is there: set its baud rate and parity, or give one of two units another id."
	switch {
	case !modbus.Device{URL: p.asks.URL}.SerialLine():
		words = append(words,
			"Behind a gateway its own serial settings and time-out count.",
			"A device that has no units behind it may answer to every id, or to 0 or 255 alone (--units 0,255).")
		repair = "What answered damaged is there, but does not speak Modbus TCP: rtu+tcp:// if it passes a serial line on, or another port."
	case strings.Contains(p.asks.URL, "+tcp:"):
		words = append(words, "Nor one with other settings than the serial server's, or with its two wires crossed.", sameID)
	default:
		words = append(words, "Nor one with other settings (--baud 9600,19200,115200 --parity N,E,O), or with its two wires crossed.", sameID)
	}
	if damaged {
		words = append(words, repair)
	}
	return words
}

// parseUnits reads 1-20,40.
func parseUnits(text string) ([]int, error) {
	var ids []int
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || from < 0 || to > 255 || from > to {
			return nil, usageError{fmt.Sprintf("%q are no unit ids; write 1-247, or 1,2,5-9", text)}
		}
		for id := from; id <= to; id++ {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// progress tells a person how far the search is: on a terminal in one line that is written again and again, else in
// a line every few seconds. What answers is told at once.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	terminal io.Writer // out without a look at what is written; nil: it is no terminal
	asks     scanRequest
	urls     []string
	all      int // requests
	most     time.Duration
	began    time.Time
	told     time.Time
	found    []unitFound
}

// progressEvery between two lines of progress where there is no terminal.
const progressEvery = 5 * time.Second

func newProgress(c *call, a scanRequest, urls []string) *progress {
	p := &progress{out: c.err, asks: a, urls: urls, all: len(urls) * len(a.Units)}
	for _, url := range urls {
		p.most += a.search().MaxDuration(url)
	}
	if file := terminalOf(c.err); file != nil {
		p.terminal = file
	}
	return p
}

func (p *progress) begin() {
	p.began = time.Now()
	p.told = p.began
	where := p.asks.URL + when(len(p.urls) > 1, fmt.Sprintf(" at %d settings", len(p.urls)))
	fmt.Fprintf(p.out, "asking %s on %s; at most %s\n", countText(len(p.asks.Units), "unit"), where, rounded(p.most))
}

func (p *progress) unitDone(f unitFound) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found = append(p.found, f)
	if f.Answers || f.Damaged {
		p.wipe()
		fmt.Fprintf(p.out, "unit %d answers%s%s\n", f.Unit, when(f.Damaged, " damaged"), p.settingText(f))
	}
	now := time.Now()
	switch {
	case p.terminal != nil:
		p.wipe()
		text := []rune(p.text(f, now))
		if width := terminalWidth(p.terminal); width > 1 {
			text = text[:min(len(text), width-1)] // what goes on in the next line would stay there
		}
		fmt.Fprint(p.out, string(text))
	case now.Sub(p.told) >= progressEvery:
		p.told = now
		fmt.Fprintln(p.out, p.text(f, now))
	}
	return nil
}

// text says where the search is, and how long it still takes if it goes on as it went until now.
func (p *progress) text(f unitFound, now time.Time) string {
	done := len(p.found)
	left := time.Duration(float64(now.Sub(p.began)) / float64(done) * float64(p.all-done))
	return fmt.Sprintf("%d of %d%s, unit %d, about %s still", done, p.all, p.settingText(f), f.Unit, rounded(left))
}

// settingText names the setting, where there are several.
func (p *progress) settingText(f unitFound) string {
	if len(p.urls) < 2 {
		return ""
	}
	_, query, _ := strings.Cut(f.URL, "?")
	return " at " + strings.ReplaceAll(query, "&", " ")
}

func rounded(d time.Duration) time.Duration {
	if d < time.Second {
		return max(d.Round(100*time.Millisecond), 100*time.Millisecond)
	}
	return d.Round(time.Second)
}

func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

func (p *progress) wipe() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\033[K")
	}
}
